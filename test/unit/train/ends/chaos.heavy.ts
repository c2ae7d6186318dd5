import { memoryRun, toFact } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { breakCalls } from '../../../support/broken-calls.ts';
import { startSimOverHttp, trainOverHttp } from '../../../support/sim-over-http.ts';

const world = { train: 16, val: 12, test: 10 };
const config = { numEpochs: 2, batchSize: 8, minibatchSize: 4, workers: 8, maxRetries: 7, callTimeoutMs: 200 };

async function trainAt(baseURL: string) {
  const store = memoryRun();
  const summary = await trainOverHttp({ baseURL, store, world, config });
  return { summary, store, facts: store.events.map(toFact) };
}

describe('a run whose provider breaks a fifth of all calls', () => {
  const brokenKinds = new Set<string>();

  it.concurrent.each([1, 2])('comes to the end of an undisturbed one (seed %i)', async (seed) => {
    await using server = await startSimOverHttp();
    const clean = await trainAt(server.baseURL);
    const { disturbance, counts } = breakCalls({ seed });
    server.disturbance = disturbance;
    const disturbed = await trainAt(server.baseURL);
    const { calls, broken } = counts();
    for (const [kind, count] of Object.entries(broken)) if (count > 0) brokenKinds.add(kind);
    const total = Object.values(broken).reduce((sum, count) => sum + count, 0);
    expect(total / calls).toBeGreaterThan(0.12);
    expect(disturbed.facts).toEqual(clean.facts);
    expect(disturbed.summary.bestSkill).toBe(clean.summary.bestSkill);
    expect(JSON.stringify(disturbed.store.views)).not.toContain('errored\\": true');
    expect(clean.summary.bestSelectionHard).toBeGreaterThan(clean.summary.baselineSelectionHard!);
  });

  it('has met every kind of breakage', () => {
    expect([...brokenKinds].sort()).toEqual(Object.keys(breakCalls({ seed: 0 }).counts().broken).sort());
  });
});
