import { OUTCOMES, type PromptName, type RolloutResult, type TrajectoryField } from '../../core/contracts/index.ts';
import { clip, fence } from '../../core/text/index.ts';
import type { StageDeps } from '../stage-deps.ts';

const FIELD_LENGTH = 2_000;
const CONVERSATION_LENGTH = 12_000;

/** One rollout as the analysts read it, fenced as data. No longer than `maxLength` characters, except for its fence. */
export function renderTrajectory(result: RolloutResult, maxLength = Number.POSITIVE_INFINITY): string {
  const fields: [TrajectoryField, string | undefined][] = [
    ['id', result.id],
    ['task type', result.taskType],
    ['task', result.taskDescription],
    ['question', result.question],
    ['outcome', `${outcomeOf(result)} (hard ${round(result.hard)}, soft ${round(result.soft)})`],
    ['failure', result.failReason],
    ['reference', result.referenceText],
    ['predicted', result.predictedAnswer],
    ['turns', result.nTurns?.toString()],
    ['user prompt', result.conversation?.length ? undefined : result.targetUserPrompt],
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${clip(value, FIELD_LENGTH)}`));
  const conversation = clip(conversationOf(result), CONVERSATION_LENGTH);
  const whole = [...lines, ...(conversation ? ['conversation:', conversation] : [])].join('\n');
  return fence('trajectory', clip(whole, maxLength));
}

const outcomeOf = (result: RolloutResult) => OUTCOMES[isFailure(result) ? 'failure' : 'success'];
const conversationOf = ({ conversation = [] }: RolloutResult) => conversation.map(renderTurn).join('\n');

/** Whether the conversation is cut however much room there is. */
const isVeryLong = (result: RolloutResult) => conversationOf(result).length > CONVERSATION_LENGTH;

/** Partial success counts as success. */
export const isFailure = ({ hard }: Pick<RolloutResult, 'hard'>) => hard < 1e-9;

function renderTurn(turn: unknown): string {
  const { role, content, type, action, env_feedback: feedback } = (turn ?? {}) as Record<string, unknown>;
  if (typeof content === 'string') return `[${typeof role === 'string' ? role : 'agent'}] ${content}`;
  if (type === 'tool_call' || action !== undefined) return `[action] ${text(action)}\n[observation] ${text(feedback)}`;
  return `[agent] ${text(turn)}`;
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
const round = (value: number) => Math.round(value * 1000) / 1000;

type SurroundingPrompt = {
  readonly prompt: PromptName;
  /** What the user message says before the trajectories. */
  readonly head: string;
  /** Longest reply, in tokens, when it is not the usual. */
  readonly maxOutputTokens?: number | undefined;
};

/** Tokens left for trajectories: what the settings allow, and never more than the context holds. */
export async function trajectoryRoom(
  { prompt, head, maxOutputTokens: answered }: SurroundingPrompt,
  { prompts, countTokens, maxTrajectoryTokens, optimizerContextTokens, optimizerMaxCompletionTokens }: StageDeps,
): Promise<number> {
  const system = prompts[prompt];
  // A tenth is kept back: another tokenizer may see more tokens than ours.
  const room = Math.floor(0.9 * optimizerContextTokens) - (answered ?? optimizerMaxCompletionTokens);
  // A token is a byte at least: where the context surely suffices, nothing is counted.
  if (room - Buffer.byteLength(system + head) >= maxTrajectoryTokens) return maxTrajectoryTokens;
  return Math.min(maxTrajectoryTokens, room - (await countTokens(head)) - (await countTokens(system)));
}

/** Characters of a fence and of the note on what was left out. */
const MARKS_LENGTH = 80;

/** Trajectories that fit into `maxTokens` together. Short ones stay whole; the long ones share the rest equally, and keep head and tail. */
export async function clipTrajectories(
  results: readonly RolloutResult[],
  maxTokens: number,
  { countTokens }: Pick<StageDeps, 'countTokens'>,
): Promise<{ readonly texts: readonly string[]; readonly clippedCount: number }> {
  const texts = results.map((result) => renderTrajectory(result));
  if (Buffer.byteLength(texts.join('')) <= maxTokens) return { texts, clippedCount: results.filter(isVeryLong).length };
  const sizes = await Promise.all(texts.map((text) => countTokens(text)));
  const share = fairShare(sizes, maxTokens);
  const clipped = texts.map((text, index) => {
    const size = sizes[index]!;
    const length = Math.floor((text.length * share) / size) - MARKS_LENGTH;
    return size <= share ? text : renderTrajectory(results[index]!, Math.max(0, length));
  });
  const isClipped = (size: number, index: number) => size > share || isVeryLong(results[index]!);
  return { texts: clipped, clippedCount: sizes.filter(isClipped).length };
}

/** The largest size that all can be cut to so that they fit together. */
function fairShare(sizes: readonly number[], room: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
