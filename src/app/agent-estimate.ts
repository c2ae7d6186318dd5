import { AgentLimitsSpec, type Item } from '../core/contracts/index.ts';
import { addUsage, noStageUsage } from '../core/run/index.ts';
import { agentTargetOf, type Project } from '../project/index.ts';
import type { AgentEstimate, Likely } from '../report/index.ts';
import { TRIGGER_LIMITS, WORK_LIMITS } from '../runners/index.ts';
import type { Range, StageEstimate } from '../train/index.ts';
import { type EarlierRun, within } from './likely-cost.ts';

type Attempts = {
  readonly stage: StageEstimate;
  readonly likely: Likely;
  /** Some may have limits of their own. */
  readonly tasks: readonly Item[];
};

/** Nothing where the target is no agent. */
export function estimateAgent(
  project: Project,
  { stage, likely, tasks }: Attempts,
  earlier: readonly EarlierRun[],
  env: string,
): AgentEstimate | undefined {
  const target = agentTargetOf(project);
  if (target === undefined) return undefined;
  const own = { ...target.limits, ...project.workspace?.limits };
  const most = (key: 'maxTurns' | 'maxUsd', usual: number) =>
    tasks.map((task) => limitsOf(task)?.[key] ?? usual).reduce((one, other) => Math.max(one, other), 0);
  const mostUsd = most('maxUsd', own.maxUsd ?? Number.POSITIVE_INFINITY);
  const alike = earlier.filter(({ state: { about } }) => about.env === env && about.target === 'none');
  const perRollout = meanAttempt(alike);
  const calls = callsOf(project, stage.calls, most('maxTurns', own.maxTurns ?? usualTurns(project)));
  return {
    rollouts: stage.calls,
    likelyRollouts: likely.calls,
    calls,
    likelyCalls: perRollout && within(calls, Math.round(likely.calls * perRollout.calls)),
    perRollout,
    mostUsd: Number.isFinite(mostUsd) ? mostUsd * stage.calls.high : null,
  };
}

/** A task may have limits of its own. */
const limitsOf = ({ limits }: Item & { readonly limits?: unknown }) => AgentLimitsSpec.safeParse(limits).data;

/** A query may be put several times, and two more pieces of work show first that loading can be seen. */
function callsOf({ env, workspace }: Project, { low, high }: Range, turns: number): Range {
  const isTrigger = env === 'trigger';
  const runs = isTrigger ? (workspace?.runs ?? 1) : 1;
  const first = isTrigger ? 2 : 0;
  return { low: first + low * runs, high: (first + high * runs) * turns };
}

const usualTurns = ({ env }: Project) => (env === 'trigger' ? TRIGGER_LIMITS : WORK_LIMITS).maxTurns!;

function meanAttempt(earlier: readonly EarlierRun[]): AgentEstimate['perRollout'] {
  const total = earlier.map(({ state }) => state.usage.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  const { rollouts = 0, replies, input, output, costUsd, unpriced } = total;
  if (rollouts === 0 || input + output === 0) return null;
  const usd = unpriced > 0 ? null : costUsd / rollouts;
  return { calls: replies / rollouts, tokens: Math.round((input + output) / rollouts), usd };
}
