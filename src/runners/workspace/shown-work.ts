import {
  type AgentRun,
  type AgentRunner,
  type AgentStep,
  type FileChange,
  type Trajectory,
  toAtif,
  type WorkspaceDiff,
} from '../../core/contracts/index.ts';
import { clip } from '../../core/text/index.ts';

/** Enough to see what a command printed, and little enough that a long run can be read. */
const RESULT_LENGTH = 1_200;
const CALL_LENGTH = 800;
const DIFF_LENGTH = 6_000;

/** A run as turns of a conversation, with long outputs cut in the middle, and what it changed at the end. */
export function conversationOf(prompt: string, steps: readonly AgentStep[], diff: WorkspaceDiff): object[] {
  const changed = shownDiff(diff) || 'nothing';
  return [{ role: 'user', content: prompt }, ...steps.map(turnOf), { role: 'changed files', content: changed }];
}

function turnOf(step: AgentStep): object {
  if (step.type === 'text') return { role: 'assistant', content: step.text };
  if (step.type === 'skill-loaded') return { role: 'system', content: `(the skill ${step.name} was loaded)` };
  if (step.type === 'tool-call') return { role: `call ${step.tool}`, content: clip(jsonOf(step.input), CALL_LENGTH) };
  return { role: step.isError ? 'failed' : 'result', content: clip(step.output, RESULT_LENGTH) };
}

const jsonOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function shownDiff({ changes, leftOut }: WorkspaceDiff): string {
  const lines = [...changes.map(shownChange), ...leftOut.map((what) => `(not shown: ${what})`)];
  return clip(lines.join('\n'), DIFF_LENGTH);
}

const shownChange = ({ path, change, patch, note }: FileChange) =>
  `${change} ${path}${note === undefined ? '' : ` (${note})`}${patch === undefined ? '' : `\n${patch}`}`;

export const shownTools = (steps: readonly AgentStep[]) =>
  steps
    .flatMap((step) => (step.type === 'tool-call' ? [`${step.tool} ${clip(jsonOf(step.input), 200)}`] : []))
    .join('\n');

/** A piece of work as a judge reads it. */
export const workText = ({ run, diff }: { readonly run: AgentRun; readonly diff: WorkspaceDiff }) =>
  [
    ['What the agent said at the end', run.text || '(nothing)'],
    ['What it changed', shownDiff(diff) || '(nothing)'],
    ['The tools that it used, in order', shownTools(run.steps) || '(none)'],
  ]
    .map(([title, text]) => `## ${title}\n\n${text}`)
    .join('\n\n');

/** Enough to follow a run, and little enough to keep all runs of a training. */
const BOUNDS = { maxTextLength: 20_000, maxLength: 400_000 };

type Session = { readonly agent: AgentRunner; readonly prompt: string; readonly sessionId: string };

/** What an agent did, for other tools to read. A runner's id begins with the agent and its version. */
export function trajectoryOf(run: AgentRun, { agent, prompt, sessionId }: Session): Trajectory {
  const [, name = agent.id, version = 'unknown'] = /^([^@:]+?)(?:@([^:\s]+))?(?::|$)/.exec(agent.id) ?? [];
  return toAtif(run, { agent: name, version, model: agent.modelName, sessionId, prompt, ...BOUNDS });
}
