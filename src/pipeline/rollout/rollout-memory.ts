import { createHash } from 'node:crypto';
import type { Item, RolloutResult, SkillEnv } from '../../core/contracts/index.ts';
import type { RolloutCache, StageDeps } from '../stage-deps.ts';

export type RolloutMemory = ReturnType<typeof rolloutMemory>;

/**
 * Scored rollouts of one stage. Saving one keeps no other waiting: its replies are safe already, so that a crash before
 * it is saved costs no call. `saved` resolves once all are safe. Those that threw wait until the stage was judged: if it is
 * the environment that is broken, they are no results, and a resumed run makes them again.
 */
export function rolloutMemory(
  rollouts: RolloutCache | undefined,
  onThrown: (result: RolloutResult) => void = () => {},
) {
  const saves: Promise<void>[] = [];
  const thrown: (readonly [key: string, text: string])[] = [];
  const save = (key: string, text: string) => {
    const saving = rollouts?.set(key, text) ?? Promise.resolve();
    saving.catch(() => {}); // heard in `saved`
    saves.push(saving);
  };
  const saved = async (): Promise<void> => {
    rollouts?.flush?.();
    await Promise.all(saves.splice(0));
  };
  return {
    async find(key: string): Promise<RolloutResult | undefined> {
      const text = await rollouts?.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    keep(key: string, result: RolloutResult): void {
      if (result.errored) return;
      const text = JSON.stringify(result);
      if (result.threw) {
        onThrown(result);
        rollouts?.hold?.(key, text);
        thrown.push([key, text]);
      } else save(key, text);
    },
    saved,
    async saveThrown(): Promise<void> {
      for (const [key, text] of thrown.splice(0)) save(key, text);
      await saved();
    },
  };
}

type KeyedAttempt = {
  readonly env: Pick<SkillEnv, 'name' | 'version'>;
  readonly item: Item;
  readonly skillHash: string;
  readonly sampleIndex: number;
  /** Where it matters what a rollout is for. */
  readonly phase?: string;
};

/** Everything a score depends on, and nothing about where it is kept: a rollout of one skill never stands for another. */
export function rolloutKey(
  { env, item, skillHash, sampleIndex, phase }: KeyedAttempt,
  { target, judge, agent, extras }: Pick<StageDeps, 'target' | 'judge' | 'agent' | 'extras'>,
): string {
  const agents = agent ? [{ agent: agent.id }] : [];
  const more = [...(judge ? [judge.id] : []), ...(phase === undefined ? [] : [phase]), ...agents];
  const parts = [1, skillHash, env.name, env.version ?? '', item, sampleIndex, target.id, extras, ...more];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
