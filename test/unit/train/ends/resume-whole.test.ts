import { memoryRun, type RunEvent, type SkillOptConfigInput, skillHash } from 'skillopt';
import { describe, expect, it } from 'vitest';
import {
  appends,
  type Call,
  ofStage,
  ofType,
  type Script,
  scriptedRun,
  type Task,
} from '../../../support/scripted-run.ts';
import { DEFAULT_GATE, EPOCH_ENDS } from '../../../support/strict-gate.ts';

type Mode = NonNullable<SkillOptConfigInput['skillUpdateMode']>;

/** Everything that a run can do, at once. */
const EVERYTHING: SkillOptConfigInput = {
  ...EPOCH_ENDS,
  numEpochs: 3,
  batchSize: 3,
  accumulation: 2,
  minibatchSize: 2,
  mergeBatchSize: 2,
  lrControlMode: 'autonomous',
  useSkillAwareReflection: true,
  skillAwareConsolidateThreshold: 2,
  slowUpdateSamples: 4,
  longitudinalPairPolicy: 'changed',
  salvage: true,
  salvageRollouts: 60,
  prune: true,
};

/** Task k needs GOODk; BAD spoils everything. */
const solves = (skill: string, { k }: Task) => skill.includes(`GOOD${k}`) && !skill.includes('BAD');

/** A number that the request alone decides, so that a resumed run hears what the first one heard. */
const dice = ({ user, prompt }: Call, sides: number) =>
  Number.parseInt(skillHash(prompt + user).slice(0, 8), 16) % sides;

const lines = (call: Call) => [`GOOD${dice(call, 10)}`, dice(call, 4) === 0 ? 'BAD' : `idle ${dice(call, 50)}`];

const PROPOSALS: Readonly<Record<Mode, (call: Call) => object>> = {
  patch: (call) => ({ edits: lines(call).map((content) => ({ op: 'append', content })) }),
  rewrite_from_suggestions: (call) => ({
    revise_suggestions: lines(call).map((instruction) => ({ type: 'add', title: 'line', instruction })),
  }),
  full_rewrite_minibatch: (call) => ({ skill_candidates: [{ new_skill: grow(call, lines(call)) }] }),
};

/** The skill that a question shows, without its blocks and with more lines. */
function grow({ user }: Call, more: readonly string[]): string {
  const [, , skill = ''] = /<skill-(\w+)>\n(.*?)\n<\/skill-\1>/s.exec(user) ?? [];
  return [skill.split('<!--')[0]!.trim(), ...more].join('\n\n');
}

const script = (mode: Mode): Script => ({
  analyst: (call) => ({ patch: PROPOSALS[mode](call), appendix_notes: [`look at ${dice(call, 5)}`] }),
  ranking: (call) => ({ selected_indices: [dice(call, 2), 1 - dice(call, 2), 2, 3] }),
  lr_autonomous: (call) => ({ learning_rate: 1 + dice(call, 4) }),
  rewrite: (call) => ({ new_skill: grow(call, call.user.match(/GOOD\d|BAD|idle \d+/g) ?? []) }),
  slow_update: (call) => ({ slow_update_content: `GOOD${dice(call, 10)} and GOOD${dice(call, 9)}` }),
  meta_skill: (call) => ({ meta_skill_content: dice(call, 2) === 0 ? '' : `notes ${dice(call, 99)}` }),
  appendix_consolidate: (call) => ({ notes: [`look at ${dice(call, 5)} above all`] }),
});

const run = (mode: Mode, workers: number, store = memoryRun()) =>
  scriptedRun({
    solves,
    store,
    initialSkill: '---\nname: x\ndescription: y\n---\n\n# Skill\n\nGOOD0\n',
    script: script(mode),
    config: { ...EVERYTHING, skillUpdateMode: mode, workers },
  });

describe('a run with everything on', () => {
  it('really does everything', async () => {
    const { facts, calls } = await run('patch', 1);
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
    ['patch', 1, 1],
    ['patch', 5, 3],
    ['rewrite_from_suggestions', 1, 3],
    ['rewrite_from_suggestions', 5, 5],
    ['full_rewrite_minibatch', 1, 3],
    ['full_rewrite_minibatch', 5, 5],
  ] as const)('resumes to the same end (%s, %i workers, cut at every %i. event)', async (mode, workers, every) => {
    const whole = await run(mode, workers);
    for (let cut = 0; cut <= whole.facts.length; cut += every) {
      (whole.store.events as RunEvent[]).length = cut;
      const { facts, requests } = await run(mode, workers, whole.store);
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
      expect([...requests.target, ...requests.optimizer], `cut after ${cut} events`).toEqual([]);
    }
  });

  it.each(['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const)(
    'resumes to the same end without its caches (%s)',
    async (mode) => {
      const whole = await run(mode, 1);
      for (let cut = 4; cut <= whole.facts.length; cut += 9) {
        const { facts, summary } = await run(mode, 4, memoryRun(whole.store.events.slice(0, cut)));
        expect(facts.slice(1), `cut after ${cut} events`).toEqual(whole.facts.slice(1));
        expect(summary.bestSkill).toBe(whole.summary.bestSkill);
      }
    },
  );

  it('comes to the same end with any number of workers', async () => {
    const [one, many] = [await run('patch', 1), await run('patch', 9)];
    expect(many.facts.slice(1)).toEqual(one.facts.slice(1));
  });

  it('writes the same lr_history.jsonl, with one row per step', async () => {
    const whole = await run('patch', 1);
    const cut = whole.facts.findIndex(({ type }) => type === 'lr-decision') + 2;
    const rest = await run('patch', 1, memoryRun(whole.store.events.slice(0, cut)));
    expect(rest.store.views['lr_history.jsonl']).toBe(whole.store.views['lr_history.jsonl']);
    expect(whole.store.views['lr_history.jsonl']!.trim().split('\n')).toHaveLength(6);
  });

  it('keeps one decision per step also when a step is taken again with other answers', async () => {
    const whole = await run('patch', 1);
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
    for (let cut = 0; cut <= whole.facts.length; cut += 11) {
      (whole.store.events as RunEvent[]).length = cut;
      const { facts, requests } = await play(config, whole.store);
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
      expect([...requests.target, ...requests.optimizer], `cut after ${cut} events`).toEqual([]);
    }
  });
});
