import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { SkillError } from '../../core/contracts/index.ts';
import type { Attempts, BenchmarkItem, Probe } from '../benchmark.ts';

/** An item whose score says nothing. */
export type Unscorable = { readonly id: string; readonly why: string };

/** What trying the scoring showed: items that cannot be won, and items that are won by doing nothing. */
export type Probed = {
  readonly tried: number;
  readonly unscorable: readonly Unscorable[];
  readonly givenAway: readonly Unscorable[];
};

const AT_ONCE = 4;
const BETWEEN_PAUSES = 100;

export type ProbeOptions = {
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A file that cannot be read stands against its item, and not against the others. */
async function tryProbe<I extends BenchmarkItem>(attempts: Attempts<I>, item: I, signal?: AbortSignal): Promise<Probe> {
  try {
    return await attempts.probe(item, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SkillError) throw error;
    return { right: undefined, nothing: undefined, problem: (error as Error).message };
  }
}

/** The right answer must score 1, and no answer must not. Items that hold no right answer, such as games without a solution, are not tried. */
export async function probeItems<I extends BenchmarkItem>(
  attempts: Attempts<I>,
  items: readonly I[],
  { onProgress, signal }: ProbeOptions = {},
): Promise<Probed> {
  const limit = pLimit(AT_ONCE);
  let done = 0;
  const probe = async (item: I) => {
    signal?.throwIfAborted();
    const found = { id: item.id, ...(await tryProbe(attempts, item, signal)) };
    onProgress?.(++done, items.length);
    if (done % BETWEEN_PAUSES === 0) await setImmediate(); // else nobody hears of an interrupt
    return found;
  };
  const probes = await Promise.all(items.map((item) => limit(probe, item)));
  const tried = probes.filter(({ untried }) => !untried);
  const unscorable = tried.filter(({ right }) => right !== 1);
  const givenAway = tried.filter(({ right, nothing }) => right === 1 && nothing === 1);
  return {
    tried: tried.length,
    unscorable: unscorable.map(({ id, right, problem }) => ({
      id,
      why: problem ?? `the right answer scores ${right}`,
    })),
    givenAway: givenAway.map(({ id }) => ({ id, why: 'an empty answer scores 1' })),
  };
}
