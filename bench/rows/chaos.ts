import { isDeepStrictEqual } from 'node:util';
import { memoryRun, type RunEvent, toFact } from 'skillopt';
import { breakCalls } from '../../test/support/broken-calls.ts';
import { startSimOverHttp, trainOverHttp } from '../../test/support/sim-over-http.ts';
import type { BenchRow } from '../row.ts';

const LEAST_CALLS = 2000;
const world = { train: 120, val: 140, test: 120 };
const config = { numEpochs: 4, batchSize: 40, workers: 8, maxRetries: 7, callTimeoutMs: 200 };

/** Whether a provider's bad day leaves a trace in what a run finds out. */
export const chaos: BenchRow = {
  name: 'chaos',
  what: 'a training run over HTTP that breaks 20 % of calls in 12 ways, 8 tries, 200 ms time-out',
  goal: `≥ ${LEAST_CALLS} calls; same events as a clean run, every task scored`,
  async run(say) {
    await using server = await startSimOverHttp();
    const clean = await trainAt(server.baseURL);
    say(`clean run: ${server.requests.length} calls, ${clean.length} events`);
    const { disturbance, counts } = breakCalls({ seed: 7 });
    server.disturbance = disturbance;
    const disturbed = await trainAt(server.baseURL);
    const { calls, broken } = counts();
    say(
      Object.entries(broken)
        .map(([kind, count]) => `${kind} ${count}`)
        .join(', '),
    );
    const brokenCalls = Object.values(broken).reduce((sum, count) => sum + count, 0);
    const differing = countDiffering(clean, disturbed);
    const unscored = countUnscored(disturbed);
    const share = ((brokenCalls / calls) * 100).toFixed(1);
    const measured = `${brokenCalls} of ${calls} calls broken (${share} %): ${differing} of ${clean.length} events differ, ${unscored} tasks unscored`;
    const holds = calls >= LEAST_CALLS && differing === 0 && unscored === 0 && disturbed.length === clean.length;
    return { measured, holds, figures: { calls, brokenCalls, differing, unscored, ...broken } };
  },
};

async function trainAt(baseURL: string): Promise<readonly RunEvent[]> {
  const store = memoryRun();
  await trainOverHttp({ baseURL, store, world, config });
  return store.events;
}

function countDiffering(clean: readonly RunEvent[], disturbed: readonly RunEvent[]): number {
  return clean.filter((event, index) => {
    const other = disturbed[index];
    return other === undefined || !isDeepStrictEqual(toFact(event), toFact(other));
  }).length;
}

function countUnscored(events: readonly RunEvent[]): number {
  const evaluations = events.flatMap((event) => ('evaluation' in event ? (event.evaluation ?? []) : []));
  return evaluations.flatMap(({ scores }) => scores).filter(({ errored }) => errored).length;
}
