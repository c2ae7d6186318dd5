import { addUsage, noStageUsage } from '../core/run/stage-usage.ts';
import { agentTargetOf } from '../project/models/agent-target.ts';
import type { Project } from '../project/project.ts';
import type { Range, StageEstimate } from '../train/estimate-run.ts';
import type { EarlierRun, Likely } from './likely-cost.ts';

/** What attempts of an agent will take. How long it works on a task is known only when it has. */
export type AgentEstimate = {
  readonly rollouts: Range;
  readonly likelyRollouts: number;
  /** Of one attempt, as earlier runs of this project had them. `null` when there is none. `usd` is `null` without a price. */
  readonly perRollout: { readonly tokens: number; readonly usd: number | null } | null;
  /** The most that all of them can cost, by `limits.maxUsd` of each. `null` when that is not set. */
  readonly mostUsd: number | null;
};

type Attempts = { readonly stage: StageEstimate; readonly likely: Likely };

/** Nothing where the target is no agent. */
export function estimateAgent(
  project: Project,
  { stage, likely }: Attempts,
  earlier: readonly EarlierRun[],
  env: string,
): AgentEstimate | undefined {
  const target = agentTargetOf(project);
  if (target === undefined) return undefined;
  const { maxUsd } = { ...target.limits, ...project.workspace?.limits };
  const alike = earlier.filter(({ state: { about } }) => about.env === env && about.target === 'none');
  return {
    rollouts: stage.calls,
    likelyRollouts: likely.calls,
    perRollout: meanAttempt(alike),
    mostUsd: maxUsd === undefined ? null : maxUsd * stage.calls.high,
  };
}

function meanAttempt(earlier: readonly EarlierRun[]): AgentEstimate['perRollout'] {
  const total = earlier.map(({ state }) => state.usage.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  const { rollouts = 0, input, output, costUsd, unpriced } = total;
  if (rollouts === 0 || input + output === 0) return null;
  return { tokens: Math.round((input + output) / rollouts), usd: unpriced > 0 ? null : costUsd / rollouts };
}
