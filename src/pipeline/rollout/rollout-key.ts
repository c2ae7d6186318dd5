import { createHash } from 'node:crypto';
import type { Item, SkillEnv } from '../../core/contracts/index.ts';
import type { StageDeps } from '../stage-deps.ts';

type Attempt = {
  readonly env: Pick<SkillEnv, 'name' | 'version'>;
  readonly item: Item;
  readonly skillHash: string;
  readonly sampleIndex: number;
  /** Where it matters what a rollout is for. */
  readonly phase?: string;
};

/** Everything a score depends on, and nothing about where it is kept: a rollout of one skill never stands for another. */
export function rolloutKey(
  { env, item, skillHash, sampleIndex, phase }: Attempt,
  { target, judge, agent, extras }: Pick<StageDeps, 'target' | 'judge' | 'agent' | 'extras'>,
): string {
  const agents = agent ? [{ agent: agent.id }] : [];
  const more = [...(judge ? [judge.id] : []), ...(phase === undefined ? [] : [phase]), ...agents];
  const parts = [1, skillHash, env.name, env.version ?? '', item, sampleIndex, target.id, extras, ...more];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
