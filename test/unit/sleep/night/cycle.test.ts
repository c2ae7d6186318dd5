import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { loadRun } from '../../../../src/app/index.ts';
import type { ChatRequest } from '../../../../src/core/contracts/index.ts';
import { cursorsOf, mineTasks, nightOf, pendingProposals } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { modelKeyOf } from '../../../../src/sleep/state/sleep-state.ts';
import { session } from '../../../support/sleep/sleep-tasks.ts';
import { CURSORS, doneTasks, gathered, nightWorld, obedient, proposing, RULE, USELESS } from './night-world.ts';

const SKILL = '.claude/skills/skillopt-sleep-learned/SKILL.md';

describe('a night whose optimizer cannot be understood', () => {
  it('says so, and leaves its sessions for the next one', async () => {
    using world = nightWorld();
    const models = { target: obedient(), optimizer: scripted('analyst', () => 'I would rather not.') };
    const { report } = await runCycle(await world.input({ models }));
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
    await runCycle(await world.input({ models, tasks }));
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

  it('leaves its files in a folder of its own, for this user alone', async () => {
    using world = nightWorld();
    const { report } = await runCycle(await world.input());
    const names = ['night.json', 'report.md', 'report.json', 'diagnostics.json', 'evidence.jsonl', 'proposed.md'];
    for (const name of names) expect(`${name} ${world.mode(join(world.night(1), name))}`).toBe(`${name} 600`);
    expect(world.mode(world.night(1))).toBe('700');
    const json = (name: string) => world.json(join(world.night(1), name));
    expect(json('night.json')).toMatchObject({ night: 1, status: 'done', modelKey: 'agent · analyst', error: 0.05 });
    expect(json('report.json')).toEqual(JSON.parse(JSON.stringify(report)));
    expect(json('diagnostics.json')).toMatchObject({
      callError: '',
      accepted: true,
      nTrain: 4,
      nVal: 8,
      nAppliedEdits: 1,
    });
    const evidence = world
      .read(join(world.night(1), 'evidence.jsonl'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(evidence[0]).toMatchObject({ seq: 0, stage: 'cycle', event: 'start', tasks: 12 });
    expect(evidence.map(({ seq }) => seq)).toEqual(evidence.map((_, at) => at));
    const page = world.read(join(world.night(1), 'report.md'));
    expect(page).toMatch(/^# Night 1\n\nProposed: "?`?skillopt-sleep-learned.* points/);
    expect(page).toContain(`+${RULE}`);
    expect(page).toContain('3 times on 2 days: a message for the team');
  });

  it('counts every call that was made', async () => {
    using world = nightWorld();
    const models = { target: obedient(), optimizer: proposing(RULE) };
    const { report } = await runCycle(await world.input({ models }));
    expect(report.calls).toBe(models.target.requests.length + models.optimizer.requests.length);
  });

  it('is a run like any other for whoever reads its folder', async () => {
    using world = nightWorld();
    await runCycle(await world.input());
    const { state, name } = await loadRun(world.night(1));
    expect(name).toBe('1');
    expect(state.best.skill).toContain(RULE);
    expect(state.isDone).toBe(true);
  });

  it('records history, archive and models, and moves the cursors only then', async () => {
    using world = nightWorld();
    const during: unknown[] = [];
    const gather = async () => gathered(doneTasks());
    const watch = { onEvent: async () => void during.push(cursorsOf(await world.state(), world.project)) };
    await runCycle(await world.input({ gather, observers: [watch] }));
    expect(new Set(during.map((cursors) => JSON.stringify(cursors)))).toEqual(new Set(['{}']));
    const state = await world.state();
    expect(cursorsOf(state, world.project)).toEqual(CURSORS);
    expect(nightOf(state, world.project)).toBe(1);
    expect(state.history).toMatchObject([{ night: 1, accepted: true, isTested: true, nTasks: 12, rejected: [] }]);
    expect(state.taskArchive.map(({ task }) => task.id)).toEqual(doneTasks().map(({ id }) => id));
    expect(modelKeyOf(state, world.project)).toBe('agent · analyst');
  });

  it('24: does not create a memory file that was not there', async () => {
    using world = nightWorld();
    const { proposals } = await runCycle(await world.input());
    expect(proposals.map(({ document }) => document.kind)).toEqual(['skill']);
    expect(existsSync(join(world.project, 'CLAUDE.md'))).toBe(false);
    expect((await world.state()).proposals).toHaveLength(1);
  });

  it('reports the sealed test, which decides nothing', async () => {
    using world = nightWorld();
    const { report } = await runCycle(await world.input({ tasks: doneTasks('t', { test: 3 }) }));
    expect(report.documents[0]!.test).toEqual({ before: 0, after: 1, tasks: 3 });
    expect(world.read(join(world.night(1), 'report.md'))).toContain('On 3 sealed tasks: 0.0 before, 100.0 after.');
    expect(report.gateTrials[0]!.taskDeltas.map(({ id }) => id)).not.toContain('t-test-0');
  });
});

describe('a night that finds nothing', () => {
  it('says why, and what it would take', async () => {
    using world = nightWorld();
    const few = doneTasks('t', { val: 3 });
    const { report, proposals } = await runCycle(await world.input({ tasks: few }));
    expect(proposals).toEqual([]);
    expect(report).toMatchObject({ accepted: false, gateAction: 'reject', baselineScore: null, documents: [] });
    expect(report.noEditsReason).toBe('3 tasks are held out, and 6 is the least that proves anything.');
    expect(report.needs).toBe('6 sessions, 1 recurring; about 6 more until something can be proven.');
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
    await runCycle(await world.input());
    const models = { target: obedient(), optimizer: proposing(USELESS) };
    const later = await runCycle(await world.input({ models, tasks: doneTasks('u') }));
    expect(later.report).toMatchObject({ night: 2, accepted: false });
    expect(later.report.notes.join('\n')).toMatch(
      /Built on what night 1 proposed for the skill \S+, which still waits/,
    );
    expect(pendingProposals(await world.state(), () => true).map(({ id }) => id)).toEqual(['1']);
  });

  it('8: tells the analysts of the next what it rejected', async () => {
    using world = nightWorld();
    const models = () => ({ target: obedient(), optimizer: proposing(USELESS) });
    const first = await runCycle(await world.input({ models: models() }));
    expect(first.report.rejectedEdits.map(({ content }) => content)).toContain(USELESS);
    const second = models();
    await runCycle(await world.input({ models: second, tasks: doneTasks('u') }));
    const asked = second.optimizer.requests.filter(({ stage }) => stage === 'analyst');
    expect(asked.length).toBeGreaterThan(0);
    for (const { messages } of asked)
      expect(messages.map(({ content }) => content).join('\n')).toMatch(
        /Rejected on earlier nights, since it did not help:\n- Be careful with every detail\./,
      );
  });

  it('warns when the models are not those of the night before', async () => {
    using world = nightWorld();
    const first = await runCycle(await world.input());
    expect(first.report.notes.join()).not.toContain('The models');
    const { report } = await runCycle(await world.input({ modelKey: 'another', tasks: doneTasks('u') }));
    expect(report.notes).toContain(
      'The models are not those of the last night (agent · analyst): scores cannot be compared with it.',
    );
    const elsewhere = await runCycle(await world.input({ project: '/elsewhere', tasks: doneTasks('v') }));
    expect(elsewhere.report.notes.join()).not.toContain('The models');
  });
});
