import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { startSimOverHttp } from '../../../support/sim-over-http.ts';

const WORKERS = 16;
const CONFIG = { workers: WORKERS, numEpochs: 1 };

/** A key that is good for so many calls. */
function expiringKey(calls: number) {
  const counts = { answered: 0, refused: 0 };
  const disturbance = () => {
    if (counts.answered < calls) return void counts.answered++;
    counts.refused++;
    return { status: 401, content: 'Incorrect API key provided: dummy-key', delayMs: 5 };
  };
  return { counts, disturbance };
}

describe('a key that is refused in the middle of a run', () => {
  let server: Awaited<ReturnType<typeof startSimOverHttp>>;
  let undisturbed: { readonly facts: readonly unknown[]; readonly calls: number };

  beforeAll(async () => {
    server = await startSimOverHttp();
    using project = projectOverHttp(server.baseURL, CONFIG);
    expect((await project.run('train', '--quiet')).code).toBe(0);
    undisturbed = { facts: await project.facts(), calls: server.requests.length };
  });

  afterAll(() => server[Symbol.asyncDispose]());

  it.each([
    [0, 'the first call'],
    [24, 'an analyst'],
  ])('costs a call per worker at most; the run then continues (after %i calls: %s)', async (calls) => {
    const { host } = new URL(server.baseURL);
    const before = server.requests.length;
    const { counts, disturbance } = expiringKey(calls);
    using project = projectOverHttp(server.baseURL, CONFIG);

    server.disturbance = disturbance;
    const { code, err } = await project.run('train', '--quiet');
    expect(code).toBe(4);
    expect(counts.answered).toBe(calls);
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.refused).toBeLessThanOrEqual(WORKERS);
    expect(err.match(/^error: /gm)).toHaveLength(1);
    expect(err).toMatch(/^error: sim-\w+ at [\d.:]+\/v1 answered 401: Incorrect API key provided: …$/m);
    expect(err).toContain(`hint: Check FAR_KEY, which holds the API key for ${host}.`);

    server.disturbance = () => undefined;
    const kept = await project.facts();
    expect((await project.run('train', '--quiet')).code).toBe(0);
    expect(await project.facts()).toEqual(undisturbed.facts);
    expect(undisturbed.facts.slice(0, kept.length)).toEqual(kept);
    const answered = server.requests.length - before - counts.refused;
    expect(answered, 'no answer is paid for twice').toBe(undisturbed.calls);
  });
});
