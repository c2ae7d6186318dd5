import { memoryRun, type RunEvent, type SkillOptConfigInput, skillHash } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { appends, ofStage, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';
import { DEFAULT_GATE } from '../../../support/strict-gate.ts';
import {
  dice,
  EVERYTHING,
  expectSameEnd,
  expectSameEndAskedAgain,
  type Mode,
  run,
  script,
  solves,
} from './resume-world.ts';

const wholeRuns = new Map<Mode, ReturnType<typeof run>>();

/** A whole run of a mode with one worker. Its store stays as it is. */
function wholeRun(mode: Mode): ReturnType<typeof run> {
  const whole = wholeRuns.get(mode) ?? run(mode, 1);
  wholeRuns.set(mode, whole);
  return whole;
}

describe('a run with everything on', () => {
  it('really does everything', async () => {
    const { facts, calls } = await wholeRun('patch');
    const types = new Set(facts.map(({ type }) => type));
    for (const type of ['lr-decision', 'salvage-end', 'slow-update-end', 'meta-skill-end', 'prune-end', 'test-end'])
      expect(types).toContain(type);
    const actions = new Set(ofStage(facts, 'evaluate').map(({ action }) => action));
    expect(actions).toContain('accept_new_best');
    expect(actions).toContain('reject');
    expect(ofType(facts, 'salvage-end').some(({ accepted }) => accepted !== null)).toBe(true);
    expect(ofType(facts, 'slow-update-end').some(({ action }) => action.startsWith('accept'))).toBe(true);
    expect(ofType(facts, 'prune-end')[0]!.removed.length).toBeGreaterThan(0);
    expect(new Set(calls.map(({ stage }) => stage))).toContain('appendix_consolidate');
  });

  it.each([
    ['patch', 1, 29],
    ['patch', 5, 37],
    ['rewrite_from_suggestions', 5, 43],
    ['full_rewrite_minibatch', 5, 43],
  ] as const)('resumes to the same end (%s, %i workers, cut at every %i. event)', expectSameEnd);

  it.each(['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const)(
    'resumes to the same end without its caches (%s)',
    (mode) => expectSameEndAskedAgain(mode, 53),
  );

  it('comes to the same end with any number of workers', async () => {
    const [one, many] = [await wholeRun('patch'), await run('patch', 9)];
    expect(many.facts.slice(1)).toEqual(one.facts.slice(1));
  });

  it('writes the same lr_history.jsonl, with one row per step', async () => {
    const whole = await wholeRun('patch');
    const cut = whole.facts.findIndex(({ type }) => type === 'lr-decision') + 2;
    const rest = await run('patch', 1, memoryRun(whole.store.events.slice(0, cut)));
    expect(rest.store.views['lr_history.jsonl']).toBe(whole.store.views['lr_history.jsonl']);
    expect(whole.store.views['lr_history.jsonl']!.trim().split('\n')).toHaveLength(6);
  });

  it('keeps one decision per step also when a step is taken again with other answers', async () => {
    const whole = await wholeRun('patch');
    const cut = whole.facts.findIndex(({ type }) => type === 'lr-decision') + 2;
    const moody: Script = { ...script('patch'), lr_autonomous: () => ({ learning_rate: 1, reasoning: 'another day' }) };
    const { store } = await scriptedRun({
      solves,
      store: memoryRun(whole.store.events.slice(0, cut)),
      initialSkill: '---\nname: x\ndescription: y\n---\n\n# Skill\n\nGOOD0\n',
      script: moody,
      config: { ...EVERYTHING, skillUpdateMode: 'patch' },
    });
    const rows = store.views['lr_history.jsonl']!.trim().split('\n');
    expect(rows.map((row) => JSON.parse(row).step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(JSON.parse(rows[0]!).reasoning).toBe('another day');
  });

  it('forgets what was saved of a patch when its step is taken again with another', async () => {
    const world = { solves, initialSkill: '# Skill\n', config: { numEpochs: 1, batchSize: 10, salvage: true } };
    const spoiled = { analyst: () => appends('GOOD0', 'BAD', 'GOOD1', 'GOOD2') };
    const whole = await scriptedRun({ ...world, script: spoiled });
    const cut = whole.facts.findIndex(({ type }) => type === 'salvage-end') + 1;
    const store = memoryRun(whole.store.events.slice(0, cut));
    await scriptedRun({ ...world, store, script: { analyst: () => appends('GOOD3') } });
    const [record] = JSON.parse(store.views['history.json']!);
    expect(record).toMatchObject({ action: 'accept_new_best', n_edits_ranked: 1 });
    expect(record).not.toHaveProperty('salvaged_edits');
  });
});

describe('a run of the default preset', () => {
  const worse: Script = {
    ...script('patch'),
    // Four of the tasks nobody can help with, and a remark may do harm.
    analyst: (call) => appends(`GOOD${dice(call, 8)} and GOOD${dice(call, 7)}`, `remark ${dice(call, 9)}`),
  };
  const noisy = (skill: string, task: Task) =>
    solves(skill, task) || skillHash(`${skill} ${task.id}`) < (skill.includes('remark 1') ? '1' : '4');
  const play = (config: SkillOptConfigInput, store = memoryRun()) =>
    scriptedRun({
      solves: noisy,
      store,
      sizes: { train: 9, val: 12, test: 4 },
      initialSkill: '# Skill\n\nGOOD0\n',
      script: worse,
      config: { ...DEFAULT_GATE, numEpochs: 3, batchSize: 3, ...config },
    });

  it.each([
    ['', {}],
    [', with a limit of rollouts', { maxRollouts: 400 }],
  ])('resumes to the same end, wherever it was cut off%s', async (_name, config) => {
    const whole = await play(config);
    const types = new Set(whole.facts.map(({ type }) => type));
    for (const type of ['removal-end', 'final-measurement-end'] as const) expect(types).toContain(type);
    expect(types.has('search-end')).toBe('maxRollouts' in config);
    for (let cut = 0; cut <= whole.facts.length; cut += 29) {
      (whole.store.events as RunEvent[]).length = cut;
      const { facts, requests } = await play(config, whole.store);
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
      expect([...requests.target, ...requests.optimizer], `cut after ${cut} events`).toEqual([]);
    }
  });
});
