import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRun } from '../../../../src/app/index.ts';
import type { ChatRequest } from '../../../../src/core/contracts/index.ts';
import { cursorsOf, mineTasks, nightOf, pendingProposals, SleepSettings } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { modelKeyOf } from '../../../../src/sleep/state/sleep-state.ts';
import { session } from '../../../support/sleep/sleep-tasks.ts';
import { CURSORS, doneTasks, nightWorld, obedient, proposing, RULE, SKILL_ONLY, USELESS } from './night-world.ts';

const SKILL = 'shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md';

describe('a night whose optimizer cannot be understood', () => {
  it('says so, and leaves its sessions for the next one', async () => {
    using world = nightWorld();
    const models = { target: obedient(), optimizer: scripted('analyst', () => 'I would rather not.') };
    const { report } = await runCycle(await world.input({ models, settings: SKILL_ONLY }));
    expect(report.noEditsReason).toContain('considers these sessions again');
    expect(cursorsOf(await world.state(), world.project)).toEqual({});
  });
});

describe('a night of sessions that no model has read', () => {
  const NOUNS =
    'anchor basket candle dragon engine feather garden hammer island jacket kettle ladder magnet needle'.split(' ');
  const sessionOf = (noun: string) =>
    session(noun, { userPrompts: [`Describe ${noun} ${noun}s ${noun}ish`, `No, mention wish-${noun} too`] });
  const wishesIn = (requests: readonly ChatRequest[]) =>
    new Set(requests.flatMap(({ messages }) => JSON.stringify(messages).match(/wish-[a-z]+/g) ?? []));

  it('keeps what the person said afterwards from the agent: the judge looks for it, and training may learn from it', async () => {
    using world = nightWorld();
    const { tasks } = await mineTasks(NOUNS.map(sessionOf), { miner: 'heuristic', valFraction: 0.6 });
    const judge = scripted('judge', () => JSON.stringify({ reason: 'so it is', score: 0 }));
    const models = { target: obedient(), optimizer: proposing(USELESS), judge };
    await runCycle(await world.input({ models, tasks, settings: SKILL_ONLY }));
    const wishesOf = (...splits: string[]) =>
      new Set(
        tasks.filter(({ split }) => splits.includes(split)).map(({ sourceSessions }) => `wish-${sourceSessions}`),
      );
    expect(models.target.requests.length).toBeGreaterThan(0);
    expect(wishesIn(models.target.requests)).toEqual(new Set());
    expect(wishesIn(judge.requests)).toEqual(wishesOf('train', 'val'));
    expect(wishesIn(models.optimizer.requests)).toEqual(wishesOf('train'));
  });
});

describe('a night that finds something', () => {
  it('stages a proposal with its gain, and leaves the live documents alone', async () => {
    using world = nightWorld({ 'shop/CLAUDE.md': '# Shop\n' });
    const { report, proposals, folder } = await runCycle(await world.input());
    expect(proposals).toMatchObject([
      {
        id: '1',
        night: 1,
        status: 'pending',
        document: { kind: 'skill', path: join(world.home, SKILL) },
        baseDigest: '',
      },
    ]);
    expect(proposals[0]!.block).toContain(RULE);
    expect(proposals[0]!.gain!.low).toBeGreaterThan(0);
    expect(report).toMatchObject({
      accepted: true,
      gateAction: 'accept_new_best',
      noEditsReason: '',
      needs: '',
      nTasks: 12,
    });
    expect(folder).toBe(world.night(1));
    expect(world.read(join(world.night(1), 'proposed.md'))).toContain(RULE);
    expect(existsSync(join(world.home, SKILL))).toBe(false);
    expect(world.read(join(world.project, 'CLAUDE.md'))).toBe('# Shop\n');
  });

  describe('and is looked at in the morning', () => {
    const models = { target: obedient(), optimizer: proposing(RULE) };
    const during: unknown[] = [];
    let world: ReturnType<typeof nightWorld>;
    let night: Awaited<ReturnType<typeof runCycle>>;
    beforeAll(async () => {
      world = nightWorld();
      const watch = { onEvent: async () => void during.push(cursorsOf(await world.state(), world.project)) };
      night = await runCycle(await world.input({ models, observers: [watch] }));
    });
    afterAll(() => world[Symbol.dispose]());

    it('leaves its files in a folder of its own, for this user alone', () => {
      const names = ['night.json', 'report.md', 'report.json', 'diagnostics.json', 'evidence.jsonl', 'proposed.md'];
      for (const name of names) expect(`${name} ${world.mode(join(world.night(1), name))}`).toBe(`${name} 600`);
      expect(world.mode(world.night(1))).toBe('700');
      const json = (name: string) => world.json(join(world.night(1), name));
      expect(json('night.json')).toMatchObject({ night: 1, status: 'done', modelKey: 'agent · analyst', error: 0.05 });
      expect(json('report.json')).toEqual(JSON.parse(JSON.stringify(night.report)));
      const diagnosed = { callError: '', accepted: true, nTrain: 4, nVal: 8, nAppliedEdits: 1 };
      expect(json('diagnostics.json')).toMatchObject(diagnosed);
      const lines = world
        .read(join(world.night(1), 'evidence.jsonl'))
        .trimEnd()
        .split('\n');
      const evidence = lines.map((line) => JSON.parse(line));
      expect(evidence[0]).toMatchObject({ seq: 0, stage: 'cycle', event: 'start', tasks: 12 });
      expect(evidence.map(({ seq }) => seq)).toEqual(evidence.map((_, at) => at));
      const page = world.read(join(world.night(1), 'report.md'));
      expect(page).toMatch(/^# Night 1\n\nProposed: "?`?skillopt-sleep-learned-project.* points/);
      expect(page).toContain(`+${RULE}`);
      expect(page).toContain('3 times on 2 days: a message for the team');
    });

    it('counts every call that was made', () => {
      expect(night.report.calls).toBe(models.target.requests.length + models.optimizer.requests.length);
    });

    it('is a run like any other for whoever reads its folder', async () => {
      const { state, name } = await loadRun(world.night(1));
      expect(name).toBe('1');
      expect(state.best.skill).toContain(RULE);
      expect(state.isDone).toBe(true);
    });

    it('records history, archive and models, and moves the cursors only then', async () => {
      expect(new Set(during.map((cursors) => JSON.stringify(cursors)))).toEqual(new Set(['{}']));
      const state = await world.state();
      expect(cursorsOf(state, world.project)).toEqual(CURSORS);
      expect(nightOf(state, world.project)).toBe(1);
      expect(state.history).toMatchObject([{ night: 1, accepted: true, isTested: true, nTasks: 12, rejected: [] }]);
      expect(state.taskArchive.map(({ task }) => task.id)).toEqual(doneTasks().map(({ id }) => id));
      expect(modelKeyOf(state, world.project)).toBe('agent · analyst');
    });

    it('24: does not create a memory file that was not there', async () => {
      expect(night.proposals.map(({ document }) => document.kind)).toEqual(['skill']);
      expect(existsSync(join(world.project, 'CLAUDE.md'))).toBe(false);
      expect((await world.state()).proposals).toHaveLength(1);
    });
  });

  it('reports the sealed test, which decides nothing', async () => {
    using world = nightWorld();
    const { report } = await runCycle(await world.input({ tasks: doneTasks('t', { test: 3 }), settings: SKILL_ONLY }));
    expect(report.documents[0]!.test).toEqual({ before: 0, after: 1, tasks: 3 });
    expect(world.read(join(world.night(1), 'report.md'))).toContain('On 3 sealed tasks: 0.0 before, 100.0 after.');
    expect(report.gateTrials[0]!.taskDeltas.map(({ id }) => id)).not.toContain('t-test-0');
  });
});

it('a night removes what is older than the setting allows', async () => {
  using world = nightWorld();
  const settings = SleepSettings.parse({ evolveMemory: false, retention: { days: 30, entries: 5 } });
  await runCycle(await world.input({ tasks: doneTasks(), settings }));
  const state = await world.state();
  expect(state.history).toHaveLength(1);
  expect(state.taskArchive).toHaveLength(5);
});

describe('a night that finds nothing', () => {
  it('says why, and what it would take', async () => {
    using world = nightWorld();
    const few = doneTasks('t', { val: 3 });
    const { report, proposals } = await runCycle(await world.input({ tasks: few }));
    expect(proposals).toEqual([]);
    expect(report).toMatchObject({ accepted: false, gateAction: 'reject', baselineScore: null, documents: [] });
    expect(report.noEditsReason).toBe('3 tasks are held out, and 6 is the least that proves anything.');
    expect(report.needs).toBe(
      '3 of 6 held-out tasks, from 6 sessions; about 6 sessions more until something can be proven.',
    );
    expect(world.read(join(world.night(1), 'report.md'))).toContain(report.needs);
    expect(nightOf(await world.state(), world.project)).toBe(1);
  });

  it('says so when nothing is left to gain', async () => {
    using world = nightWorld({ 'shop/CLAUDE.md': `${RULE}\n` });
    const { report } = await runCycle(await world.input());
    expect(report.noEditsReason).toContain('there is nothing left to gain');
  });

  it('34: does not hide what an earlier one proposed', async () => {
    using world = nightWorld();
    const settings = SKILL_ONLY;
    await runCycle(await world.input({ settings }));
    const models = { target: obedient(), optimizer: proposing(USELESS) };
    const later = await runCycle(await world.input({ models, settings, tasks: doneTasks('u') }));
    expect(later.report).toMatchObject({ night: 2, accepted: false });
    expect(later.report.notes.join('\n')).toMatch(
      /Built on what night 1 proposed for the skill \S+, which still waits/,
    );
    expect(pendingProposals(await world.state(), () => true).map(({ id }) => id)).toEqual(['1']);
  });

  it('8: tells the analysts of the next what it rejected', async () => {
    using world = nightWorld();
    const models = () => ({ target: obedient(), optimizer: proposing(USELESS) });
    const settings = SKILL_ONLY;
    const first = await runCycle(await world.input({ models: models(), settings }));
    expect(first.report.rejectedEdits.map(({ content }) => content)).toContain(USELESS);
    const second = models();
    await runCycle(await world.input({ models: second, settings, tasks: doneTasks('u') }));
    const asked = second.optimizer.requests.filter(({ stage }) => stage === 'analyst');
    expect(asked.length).toBeGreaterThan(0);
    for (const { messages } of asked)
      expect(messages.map(({ content }) => content).join('\n')).toMatch(
        /Rejected on earlier nights, since it did not help:\n- Be careful with every detail\./,
      );
  });

  it('warns when the models are not those of the night before', async () => {
    using world = nightWorld();
    const few = (name: string) => doneTasks(name, { val: 1 });
    const first = await runCycle(await world.input({ tasks: few('t') }));
    expect(first.report.notes.join()).not.toContain('The models');
    const { report } = await runCycle(await world.input({ modelKey: 'another', tasks: few('u') }));
    expect(report.notes).toContain(
      'The models are not those of the last night (agent · analyst): scores cannot be compared with it.',
    );
    const elsewhere = await runCycle(await world.input({ project: '/elsewhere', tasks: few('v') }));
    expect(elsewhere.report.notes.join()).not.toContain('The models');
  });
});
