import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { type ChatModel, SkillError } from '../../../../src/core/contracts/index.ts';
import type { CycleInput } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { doneTasks, gathered, nightWorld, obedient, proposing, RULE, SKILL_ONLY, USELESS } from './night-world.ts';

const CONFIG = { workers: 2, maxRetries: 0 };

/** Models that are counted, and that can be cut off. */
function counted() {
  const models = { target: obedient(), optimizer: proposing(RULE) };
  return { models, calls: () => models.target.requests.length + models.optimizer.requests.length };
}

const nightOf = (world: ReturnType<typeof nightWorld>, wanted: Partial<CycleInput>) =>
  world.input(wanted).then(runCycle);

describe('a night', () => {
  it('asks nothing twice: what the skill was attempted with is known when the memory is', async () => {
    using world = nightWorld();
    const models = { target: obedient(), optimizer: proposing(USELESS) };
    await nightOf(world, { models, config: CONFIG });
    const asked = [...models.target.requests, ...models.optimizer.requests].map(({ messages, sampleIndex }) =>
      JSON.stringify([messages, sampleIndex]),
    );
    expect(new Set(asked).size).toBe(asked.length);
  });
});

describe('the limits of a night', () => {
  it.each([20, 75, 90])(
    'hold for both documents and their proofs together: %d calls are never passed',
    async (maxCalls) => {
      using world = nightWorld();
      const { models, calls } = counted();
      await nightOf(world, { models, config: { ...CONFIG, maxCalls } }).catch(() => undefined);
      expect(calls()).toBeLessThanOrEqual(maxCalls);
    },
  );

  it('give a result: a search that ends early is still proven, out of what was kept for that', async () => {
    using world = nightWorld();
    const { models, calls } = counted();
    const tasks = doneTasks('t', { train: 24 });
    const gather = async () => gathered(tasks);
    const { report, proposals } = await nightOf(world, { models, gather, config: { ...CONFIG, maxCalls: 102 } });
    expect(calls()).toBeLessThanOrEqual(102);
    expect(proposals).toHaveLength(1);
    expect(report.calls).toBe(calls());
    expect(report.notes.join('\n')).toMatch(/maxCalls/);
  });

  it('are the reason that is named when they have ended it before anything was proven', async () => {
    using world = nightWorld();
    const spoilt = { ...obedient(), id: 'agent' };
    let proofs = 0;
    // From the proof's own draws on, the time is over.
    const target: ChatModel = {
      ...spoilt,
      complete(request) {
        if ((request.sampleIndex ?? 0) < 500_000) return spoilt.complete(request);
        proofs += 1;
        throw new SkillError('BUDGET_EXHAUSTED', 'maxMinutes is reached: 1 of 1 minutes are over');
      },
    };
    const models = { target, optimizer: proposing(RULE) };
    const { report } = await nightOf(world, { models, config: CONFIG });
    expect(proofs).toBeGreaterThan(0);
    expect(report).toMatchObject({ accepted: false, needs: 'Raise that limit for the next night.' });
    expect(report.noEditsReason).toMatch(/^A limit ended .* before anything was proven: maxMinutes is reached/);
    expect(report.documents[0]!.verdict).toContain('maxMinutes is reached');
  });

  it('of the search for tasks are named where it found too few', async () => {
    using world = nightWorld();
    const gather = async () =>
      gathered(doneTasks('t', { val: 2 }), { cut: 'maxCalls is reached: 5 of 10 calls are spent' });
    const { report } = await nightOf(world, { gather, config: CONFIG });
    expect(report.noEditsReason).toMatch(
      /2 tasks are held out.* A limit ended the search for tasks early: maxCalls is reached/,
    );
    expect(report.needs).toBe('Raise that limit for the next night.');
  });

  it('count what was spent before a cut, also inside a proof', async () => {
    using world = nightWorld();
    const { models, calls } = counted();
    const config = { ...CONFIG, maxCalls: 90 };
    const cuts = [30, 55, 64, Number.POSITIVE_INFINITY];
    for (const cutAfter of cuts) {
      const controller = new AbortController();
      const target: ChatModel = {
        ...models.target,
        complete(request) {
          if (calls() >= cutAfter) controller.abort(new Error('the machine was shut down'));
          return models.target.complete(request);
        },
      };
      const night = { models: { ...models, target }, config, signal: controller.signal };
      const { report } = (await nightOf(world, night).catch(() => undefined)) ?? {};
      expect(calls()).toBeLessThanOrEqual(90);
      if (!report) continue;
      expect(report).toMatchObject({ night: 1, calls: calls() });
      const ofDocuments = report.documents.reduce((sum, document) => sum + document.calls, 0);
      expect(calls() - ofDocuments).toBeLessThanOrEqual(cuts.length - 1); // those in flight at a cut have no reply
      return;
    }
    expect.unreachable('no start has finished the night');
  });

  it('hold for mining too, which may use half of them', async () => {
    using world = nightWorld();
    const { models, calls } = counted();
    const miner = scripted('analyst', () => '{}');
    const asked: unknown[] = [];
    const gather: CycleInput['gather'] = async (_, budget) => {
      const bound = { calls: 1, totalTokens: 0, costUsd: 0 };
      for (;;) {
        const place = await budget!.reserve(bound).catch((error) => error);
        if (place instanceof Error) break;
        await miner.complete({ messages: [{ role: 'user', content: 'x' }] });
        place.settle(bound);
        asked.push(place);
      }
      return gathered(doneTasks());
    };
    const outcome = await nightOf(world, { models, gather, config: { ...CONFIG, maxCalls: 150 } });
    expect(asked).toHaveLength(75);
    expect(75 + calls()).toBeLessThanOrEqual(150);
    expect(outcome.report.calls).toBe(75 + calls());
  });

  it('that leave nothing to try anything with are an error, and the night resumes with higher ones', async () => {
    using world = nightWorld();
    const { models } = counted();
    const tooFew = nightOf(world, { models, settings: SKILL_ONLY, config: { ...CONFIG, maxCalls: 20 } });
    await expect(tooFew).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    const config = { ...CONFIG, maxCalls: 1_000 };
    const { report, proposals } = await nightOf(world, { models, settings: SKILL_ONLY, config });
    expect({ night: report.night, staged: proposals.length }).toEqual({ night: 1, staged: 1 });
  });

  it('that are used up ask nobody again with the same ones, until it is another night', async () => {
    using world = nightWorld();
    const { models, calls } = counted();
    const at = (hours: number) => {
      const now = () => new Date(Date.parse('2026-03-10T02:00:00.000Z') + hours * 3_600_000);
      return nightOf(world, { models, now, config: { ...CONFIG, maxCalls: 20 } });
    };
    await expect(at(0)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    const paid = calls();
    await expect(at(1)).rejects.toThrow(/last night has used up its limits/);
    expect(calls()).toBe(paid);
    await expect(at(24)).rejects.toThrow(/maxCalls/);
    expect(calls()).toBeGreaterThan(paid); // a job that starts every night
  });
});
