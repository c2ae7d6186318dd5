import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRun } from '../../../../src/app/index.ts';
import { assignSplits, SleepSettings, type TaskRecord } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';
import { doneTasks, gathered, nightWorld, obedient, proposing, RULE, SKILL_ONLY, USELESS } from './night-world.ts';

const MANAGED = 'skillopt-sleep-learned-project';
const DEPLOY = '---\nname: deploy\ndescription: How to deploy.\n---\n\n# Deploy\n\nBy hand.\n';
const FILES = { '.claude/skills/deploy/SKILL.md': DEPLOY };

const usingSkill = (skillHint: string, tasks: readonly TaskRecord[]) => tasks.map((task) => ({ ...task, skillHint }));
const deployTasks = (sizes = {}) => usingSkill('deploy', doneTasks('d', sizes));
const reportedOf = (world: ReturnType<typeof nightWorld>) => world.read(join(world.night(1), 'report.md'));

describe('a night with tasks of several skills', () => {
  const models = { target: obedient(), optimizer: proposing(RULE) };
  let world: ReturnType<typeof nightWorld>;
  let night: Awaited<ReturnType<typeof runCycle>>;
  beforeAll(async () => {
    world = nightWorld(FILES);
    night = await runCycle(await world.input({ models, tasks: [...doneTasks(), ...deployTasks()] }));
  });
  afterAll(() => world[Symbol.dispose]());

  it('trains each from its own text by its own tasks, in a run of its own', async () => {
    const { report, proposals } = night;
    expect(proposals.map(({ id, document }) => [id, document.name, document.path])).toEqual([
      ['1', MANAGED, join(world.project, `.claude/skills/${MANAGED}/SKILL.md`)],
      ['1.deploy', 'deploy', join(world.home, '.claude/skills/deploy/SKILL.md')],
    ]);
    expect(world.read(join(world.night('1.deploy'), 'proposed.md'))).toMatch(
      /^---\nname: deploy\n.*By hand\.\n.*DONE/s,
    );
    expect(world.read(join(world.home, '.claude/skills/deploy/SKILL.md'))).toBe(DEPLOY);
    const { state } = await loadRun(world.night('1.deploy'));
    expect(state.best.skill).toContain(RULE);
    for (const { named, taskDeltas } of report.gateTrials.filter(({ target }) => target === 'skill'))
      expect(taskDeltas.map(({ id }) => id[0]!)).toEqual(Array(8).fill(named === 'deploy' ? 'd' : 't'));
    const read = models.target.requests.map(({ messages }) => messages.map(({ content }) => content).join());
    for (const text of read.filter((one) => one.includes('By hand.'))) expect(text).toContain('d-');
  });

  it('reports each with its own verdict, gain, cost and change', () => {
    const { report } = night;
    expect(report.documents.map(({ name, isStaged, verdict }) => [name, isStaged, verdict])).toEqual([
      [MANAGED, true, 'Proven better.'],
      ['deploy', true, 'Proven better.'],
      ['CLAUDE.md', false, 'Every held-out task is done well already: there is nothing left to gain.'],
    ]);
    const cost = report.documents.reduce((sum, { calls }) => sum + calls, 0);
    const critic = models.target.requests.filter(({ stage }) => stage === 'critic').length;
    expect(cost + critic).toBe(report.calls);
    expect(report.calls).toBe(models.target.requests.length + models.optimizer.requests.length);
    for (const { gain } of report.documents.slice(0, 2)) expect(gain!.low).toBeGreaterThan(0);
    const page = reportedOf(world);
    expect(page.match(/^\+- End every answer with DONE\.$/gm)).toHaveLength(2);
    expect(page).toContain('Proven better.');
    expect(page).toContain('Adopt them with `skillopt sleep adopt --night 1`.');
  });

  it('defect 5: all documents together have the error of one night', () => {
    const errors = night.report.gateTrials.flatMap(({ error }) => error ?? []);
    expect(errors.reduce((sum, error) => sum + error, 0)).toBeLessThanOrEqual(0.05 + 1e-12);
    expect(errors[0]).toBeCloseTo(0.05 / 3);
  });

  it('begins with the skill that has most tasks; all tasks, each with its own skill, judge the memory, which is last', async () => {
    using other = nightWorld({ ...FILES, 'shop/CLAUDE.md': '# Shop\n' });
    const seen = new Map<string, Set<boolean>>();
    const target = scripted('agent', ({ messages }) => {
      const [system, asked] = messages.map(({ content }) => content) as [string, string];
      if (system.includes('# Memory')) {
        const side = /d-(train|val)/.test(asked) ? 'deploy' : 'other';
        seen.set(side, (seen.get(side) ?? new Set()).add(system.includes('By hand.')));
      }
      return 'As asked.';
    });
    const useless = { target, optimizer: proposing(USELESS) };
    const tasks = [...doneTasks(), ...deployTasks({ val: 10 })];
    const { report } = await runCycle(await other.input({ models: useless, tasks }));
    expect(report.documents.map(({ name }) => name)).toEqual(['deploy', MANAGED, 'CLAUDE.md']);
    expect([...seen].map(([side, read]) => [side, [...read]])).toEqual(
      expect.arrayContaining([
        ['deploy', [true]],
        ['other', [false]],
      ]),
    );
  });

  it('remembers for each what it rejected', async () => {
    using world = nightWorld(FILES);
    const settings = SKILL_ONLY;
    const models = () => ({ target: obedient(), optimizer: proposing(USELESS) });
    await runCycle(await world.input({ models: models(), settings, tasks: deployTasks() }));
    const second = models();
    const later = [...doneTasks('u'), ...usingSkill('deploy', doneTasks('e'))];
    await runCycle(await world.input({ models: second, settings, tasks: later }));
    const asked = second.optimizer.requests.filter(({ stage }) => stage === 'analyst');
    const texts = asked.map(({ messages }) => messages.map(({ content }) => content).join());
    const ofDeploy = texts.filter((text) => text.includes('By hand.'));
    expect(ofDeploy.length).toBeGreaterThan(0);
    for (const text of ofDeploy) expect(text).toContain('Rejected on earlier nights');
    const ofManaged = texts.filter((text) => text.includes('Learned from your sessions'));
    expect(ofManaged.length).toBeGreaterThan(0);
    for (const text of ofManaged) expect(text).not.toContain('Rejected on earlier nights');
  });

  it('resumes with the same skills, and begins again when one of them was edited', async () => {
    using world = nightWorld(FILES);
    const tasks = [...doneTasks(), ...deployTasks()];
    let gatherings = 0;
    const gather = async () => {
      gatherings += 1;
      return gathered(tasks);
    };
    const settings = SKILL_ONLY;
    const short = { settings, config: { workers: 4, maxRetries: 0, maxCalls: 60 }, gather };
    await expect(runCycle(await world.input(short))).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    const longer = { settings, config: { workers: 4, maxRetries: 0, maxCalls: 5_000 }, gather };
    const resumed = await runCycle(await world.input(longer));
    expect(resumed.proposals.map(({ id }) => id)).toEqual(['1', '1.deploy']);
    expect(gatherings).toBe(1);
    const other = {
      ...short,
      gather: async () => gathered([...doneTasks('u'), ...usingSkill('deploy', doneTasks('e'))]),
    };
    await expect(runCycle(await world.input({ ...other, models: failing() }))).rejects.toThrow();
    world.write('.claude/skills/deploy/SKILL.md', `${DEPLOY}Twice.\n`);
    const { report } = await runCycle(await world.input({ settings, gather: other.gather }));
    expect(report.night).toBe(3);
  });

  it('leaves the managed skill alone without tasks of its own; a skill called memory has a run of its own', async () => {
    using world = nightWorld({ '.claude/skills/memory/SKILL.md': '# Memory\n', 'shop/CLAUDE.md': '# Shop\n' });
    const { proposals, report } = await runCycle(await world.input({ tasks: usingSkill('memory', doneTasks()) }));
    expect(report.documents.map(({ name }) => name)).toEqual(['memory', 'CLAUDE.md']);
    expect(proposals.map(({ id, document }) => [id, document.kind])).toEqual([['1.memory.skill', 'skill']]);
    expect(existsSync(world.night('1.memory'))).toBe(true);
  });
});

const failing = () => ({
  target: scripted('agent', () => {
    throw new Error('the line is cut');
  }),
  optimizer: proposing(RULE),
});

describe('skills that tasks name and a night leaves alone', () => {
  const night = async (hint: string, files: Record<string, string>, settings = {}) => {
    using world = nightWorld(files);
    const tasks = usingSkill(hint, doneTasks());
    const parsed = SleepSettings.parse({ evolveMemory: false, ...settings });
    const { report } = await runCycle(await world.input({ tasks, settings: parsed, isDryRun: true }));
    return { notes: report.notes.join('\n'), names: report.documents.map(({ name }) => name) };
  };

  it.each([
    ['defect 21: one of a plugin', 'kit:deploy', FILES, /kit:deploy is not trained: it belongs to a plugin/],
    ['one that is not there', 'ship', FILES, /ship is not trained: no file of that name was found/],
    ['what is no name', '../deploy', FILES, /\.\.\/deploy is not trained: it is no name of a skill/],
    [
      'one of two files',
      'deploy',
      { ...FILES, 'shop/.claude/skills/deploy/SKILL.md': 'Other.\n' },
      /deploy is not trained: there are 2 of that name: .*shop.*SKILL\.md, /,
    ],
  ])('%s: says why, and its tasks count for the managed one', async (_, hint, files, note) => {
    const { notes, names } = await night(hint, files);
    expect(notes).toMatch(note);
    expect(notes).toContain(`Its 12 tasks count for ${MANAGED}.`);
    expect(names).toEqual([MANAGED]);
  });

  it('one whose link leads out of its folder', async () => {
    using world = nightWorld({ 'elsewhere/SKILL.md': 'Of others.\n', '.claude/skills/x/SKILL.md': 'x' });
    symlinkSync(join(world.home, 'elsewhere'), join(world.home, '.claude/skills/deploy'));
    const { report, proposals } = await runCycle(await world.input({ tasks: deployTasks(), settings: SKILL_ONLY }));
    expect(report.notes.join()).toMatch(/The skill deploy is not trained: .*elsewhere/);
    expect(proposals.map(({ document }) => document.name)).toEqual([MANAGED]);
  });

  it('all of them, with multiSkillFanout: false', async () => {
    expect(await night('deploy', FILES, { multiSkillFanout: false })).toEqual({ notes: '', names: [MANAGED] });
  });
});

describe('defect 10: a group of tasks has its own validation tasks', () => {
  const manyTasks = (count: number, skillHint: string) =>
    Array.from({ length: count }, (_, at) => sleepTask(`${skillHint || 'none'}-${at}`, { skillHint, split: 'train' }));
  const countOf = (tasks: readonly TaskRecord[], hint: string, split: string) =>
    tasks.filter((task) => task.skillHint === hint && task.split === split).length;

  it('as many as a proof needs, when enough is left to learn from', () => {
    const tasks = [...manyTasks(9, 'deploy'), ...manyTasks(9, 'review'), ...manyTasks(20, '')];
    const split = assignSplits(tasks, { isBySkill: true });
    for (const hint of ['deploy', 'review', ''])
      expect([hint, countOf(split, hint, 'val') >= 6, countOf(split, hint, 'train') >= 3]).toEqual([hint, true, true]);
  });

  it('those of earlier nights count', () => {
    const earlier = manyTasks(3, 'deploy').map((task) => ({
      ...task,
      id: `old-${task.id}`,
      intent: `old ${task.id} q`,
      split: 'val' as const,
    }));
    const split = assignSplits(manyTasks(8, 'deploy'), { isBySkill: true, earlier });
    expect(countOf(split, 'deploy', 'val')).toBeGreaterThanOrEqual(3);
    expect(countOf(split, 'deploy', 'train')).toBeGreaterThanOrEqual(3);
  });

  it('too few stay where chance put them, and so do tasks that name no skill', () => {
    const few = manyTasks(5, 'deploy');
    expect(assignSplits(few, { isBySkill: true })).toEqual(assignSplits(few));
    const plain = manyTasks(12, '');
    expect(assignSplits(plain, { isBySkill: true })).toEqual(assignSplits(plain));
  });

  it('a group with too few says what it takes: it is not trained, and not called unverified', async () => {
    using world = nightWorld(FILES);
    const tasks = [...doneTasks(), ...deployTasks({ train: 3, val: 0 })];
    const { report, proposals } = await runCycle(await world.input({ tasks, settings: SKILL_ONLY }));
    expect(proposals.map(({ id }) => id)).toEqual(['1']);
    expect(report.gateAction).toBe('accept_new_best');
    expect(report.untrained).toMatchObject([
      {
        name: 'deploy',
        tasks: 3,
        why: '3 tasks, 0 of them held out: too few; about 7 more such tasks until something can be proven.',
      },
    ]);
    expect(reportedOf(world)).toContain('about 7 more such tasks');
    expect(existsSync(world.night('1.deploy'))).toBe(false);
    using alone = nightWorld(FILES);
    const only = await runCycle(await alone.input({ tasks: deployTasks({ train: 3, val: 0 }) }));
    expect(only.report).toMatchObject({ gateAction: 'reject', holdoutLeaked: false, documents: [] });
  });
});
