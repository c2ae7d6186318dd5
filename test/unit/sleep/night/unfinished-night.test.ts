import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from 'skillopt/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ChatRequest, SkillError } from '../../../../src/core/contracts/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { emptyState } from '../../../../src/sleep/state/sleep-state.ts';
import { plantedSecrets } from '../../../support/corpora/secret-corpus.ts';
import { doneTasks, filesBelow, gathered, nightWorld, obedient, proposing, RULE, SKILL_ONLY } from './night-world.ts';

const CONFIG = { workers: 1, maxRetries: 0 };

async function callsOfWholeNight(): Promise<number> {
  using world = nightWorld();
  const models = { target: obedient(), optimizer: proposing(RULE) };
  await runCycle(await world.input({ models, tasks: doneTasks('g1'), settings: SKILL_ONLY, config: CONFIG }));
  return models.target.requests.length + models.optimizer.requests.length;
}

describe('a night that was cut off', () => {
  let whole = 0;
  beforeAll(async () => {
    whole = await callsOfWholeNight();
  });

  it.each([3, 40, 70])('after %d calls is resumed with the same tasks, and pays for no call twice', async (calls) => {
    using world = nightWorld();
    const controller = new AbortController();
    const models = { target: obedient(), optimizer: proposing(RULE) };
    const asked = () => [...models.target.requests, ...models.optimizer.requests];
    const stopping = {
      ...models.target,
      complete: (request: ChatRequest) => {
        if (asked().length >= calls) controller.abort(new Error('the machine was shut down'));
        return models.target.complete(request);
      },
    };
    let gatherings = 0;
    const gather = async () => {
      gatherings += 1;
      // Miners note more about a task than a file keeps.
      return gathered(doneTasks(`g${gatherings}`).map((task) => ({ ...task, seenBy: 'a miner' })));
    };
    const cut = await world.input({
      models: { ...models, target: stopping },
      gather,
      settings: SKILL_ONLY,
      config: CONFIG,
      signal: controller.signal,
    });
    await expect(runCycle(cut)).rejects.toThrow();
    expect(await world.state()).toEqual(emptyState);
    expect(world.json(join(world.night(1), 'night.json'))).toMatchObject({ status: 'running' });

    const { report, proposals } = await runCycle(
      await world.input({ models, gather, settings: SKILL_ONLY, config: CONFIG }),
    );
    expect({ night: report.night, gatherings, proposals: proposals.length }).toEqual({
      night: 1,
      gatherings: 1,
      proposals: 1,
    });
    expect((await world.state()).taskArchive[0]!.task.id).toBe('g1-train-0');
    expect(asked()).toHaveLength(whole);
  });

  it('between the state and its own record is over: its report is given again, and nobody is asked', async () => {
    using world = nightWorld();
    const models = { target: obedient(), optimizer: proposing(RULE) };
    const asked = () => models.target.requests.length + models.optimizer.requests.length;
    const start = async () => runCycle(await world.input({ models, tasks: doneTasks('g1'), config: CONFIG }));
    const first = await start();
    const calls = asked();
    const record = join(world.night(1), 'night.json');
    writeFileSync(record, JSON.stringify({ ...world.json(record), status: 'running' }));
    expect(await start()).toEqual(JSON.parse(JSON.stringify(first)));
    expect(asked()).toBe(calls);
    expect(world.json(record)).toMatchObject({ status: 'done' });
  });

  it('is not resumed when a document has another text by now: a new one begins', async () => {
    using world = nightWorld();
    const failing = scripted('agent', () => Promise.reject(new Error('no connection')));
    await expect(
      runCycle(await world.input({ models: { target: failing, optimizer: proposing(RULE) } })),
    ).rejects.toThrow();
    world.write('shop/CLAUDE.md', '# Shop\n');
    const { report } = await runCycle(await world.input());
    expect(report.night).toBe(2);
  });
});

describe('a night whose model fails', () => {
  it('is no night without a gain: it throws, stages nothing, and the state is as it was', async () => {
    using world = nightWorld();
    const target = scripted('agent', () => Promise.reject(new SkillError('MODEL_CALL_FAILED', 'the quota is used up')));
    const night = await world.input({ models: { target, optimizer: proposing(RULE) } });
    await expect(runCycle(night)).rejects.toThrow(/quota is used up/);
    expect(await world.state()).toEqual(emptyState);
    expect(world.json(join(world.night(1), 'diagnostics.json'))).toMatchObject({
      night: 1,
      callError: expect.stringContaining('quota is used up'),
    });
    for (const name of ['proposed.md', 'report.json', 'report.md'])
      expect(existsSync(join(world.night(1), name))).toBe(false);
  });

  it('does not take an empty answer of the first measurement for a bad one', async () => {
    using world = nightWorld();
    let calls = 0;
    const target = scripted('agent', () => {
      calls += 1;
      if (calls > 12) return 'As asked. DONE';
      throw new SkillError('MODEL_CALL_FAILED', 'overloaded');
    });
    const night = await world.input({ models: { target, optimizer: proposing(RULE) } });
    const outcome = await runCycle(night).catch((error: Error) => error);
    const proposals = outcome instanceof Error ? [] : outcome.proposals;
    expect(proposals).toEqual([]);
  });
});

describe('two nights at once', () => {
  it('one works, and the other is told who does', async () => {
    using world = nightWorld();
    const settings = SKILL_ONLY;
    const nights = [await world.input({ settings }), await world.input({ settings })].map((input) => runCycle(input));
    const [refused] = (await Promise.allSettled(nights)).flatMap((one) =>
      one.status === 'rejected' ? [one.reason] : [],
    );
    expect(refused).toMatchObject({ code: 'RUN_LOCKED' });
    expect(refused.message).toContain('this process');
    expect(refused.hint).toContain('Wait until the other night of this process ends.');
    expect((await world.state()).history).toHaveLength(1);
    const few = doneTasks('u', { val: 1 });
    expect((await runCycle(await world.input({ settings, tasks: few }))).report.night).toBe(2);
  });
});

describe('secrets', () => {
  it('that are in tasks and answers never reach a file of the state', async () => {
    using world = nightWorld();
    const planted = plantedSecrets().filter((_, at) => at % 12 === 0);
    const tasks = doneTasks('t', { val: 8, train: planted.length }).map((task, at) => {
      const text = planted[at]?.text ?? '';
      return { ...task, contextExcerpt: text, attemptedSolution: text, reference: text, tags: [text] };
    });
    const target = scripted(
      'agent',
      ({ messages: [system, user] }) => `${user!.content}\n${system!.content.includes(RULE) ? 'DONE' : ''}`,
    );
    const models = { target, optimizer: proposing(RULE) };
    const night = await world.input({ models, tasks, settings: SKILL_ONLY });
    const { proposals } = await runCycle(night);
    expect(proposals).toHaveLength(1);
    const leaks = Object.entries(filesBelow(world.folder)).flatMap(([name, bytes]) =>
      planted.filter(({ secret }) => bytes.includes(secret)).map(({ kind }) => `${name}: ${kind}`),
    );
    expect(leaks).toEqual([]);
  });
});
