import { OUTCOMES, type RolloutResult, type TrajectoryField } from '../../core/contracts/index.ts';
import { clip, fence } from '../../core/text/index.ts';

const FIELD_LENGTH = 2_000;
const CONVERSATION_LENGTH = 12_000;

/**
 * One rollout as the analysts read it: what was asked, what came of it, and how it went. Fenced as data. No longer than
 * `maxLength` characters, but for its fence.
 */
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

/** Whether its conversation is too long to be read whole, however much room there is. */
export const isVeryLong = (result: RolloutResult) => conversationOf(result).length > CONVERSATION_LENGTH;

/** In the trainer only a plain zero is a failure; partial success counts as success. */
export function isFailure(result: Pick<RolloutResult, 'hard'>): boolean {
  return result.hard < 1e-9;
}

function renderTurn(turn: unknown): string {
  const { role, content, type, action, env_feedback: feedback } = (turn ?? {}) as Record<string, unknown>;
  if (typeof content === 'string') return `[${typeof role === 'string' ? role : 'agent'}] ${content}`;
  if (type === 'tool_call' || action !== undefined) return `[action] ${text(action)}\n[observation] ${text(feedback)}`;
  return `[agent] ${text(turn)}`;
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
const round = (value: number) => Math.round(value * 1000) / 1000;
