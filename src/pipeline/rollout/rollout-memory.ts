import { hash } from 'node:crypto';
import type { Item, RolloutResult, SkillEnv, TextCache } from '../../core/contracts/index.ts';

/** A cache may save texts together; `flush` says that a caller waits. */
export type RolloutCache = TextCache & {
  flush?(): void;
  /** Keeps a text only as long as the process runs. */
  hold?(key: string, value: string): void;
};

/** Attempts are counted where they are saved. */
export const withoutMemory = (cache: RolloutCache): RolloutCache => ({
  get: async () => undefined,
  set: (key, value) => cache.set(key, value),
  flush: () => cache.flush?.(),
});

export type RolloutMemory = ReturnType<typeof rolloutMemory>;
type MemoryDeps = { readonly rollouts: RolloutCache | undefined; readonly onThrown: (result: RolloutResult) => void };

/**
 * Scored rollouts of one stage. Nothing waits while one is saved: its replies are safe already, so that a crash before costs
 * no call. `saved` resolves once all are safe. Attempts that threw are saved after the stage was judged: if the environment is
 * broken, they are no results, and a resumed run makes them again.
 */
export function rolloutMemory({ rollouts, onThrown }: MemoryDeps) {
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
      if (result.errored || !(rollouts || result.threw)) return;
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
  /** Only where it matters what a rollout is for. */
  readonly phase?: string;
};

type Named = { readonly id: string };
type KeyedDeps = { readonly target: Named; readonly extras: object } & Record<'judge' | 'agent', Named | undefined>;

/** A hash of everything that a score depends on. */
export function rolloutKey(
  { env, item, skillHash, sampleIndex, phase }: KeyedAttempt,
  { target, judge, agent, extras }: KeyedDeps,
): string {
  const agents = agent ? [{ agent: agent.id }] : [];
  const more = [...(judge ? [judge.id] : []), ...(phase === undefined ? [] : [phase]), ...agents];
  const parts = [1, skillHash, env.name, env.version ?? '', item, sampleIndex, target.id, extras, ...more];
  return hash('sha256', JSON.stringify(parts));
}
