import { emptyRun, memoryRun, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { verdictOf } from '../../../../src/core/run/index.ts';
import { verdictWords } from '../../../../src/report/index.ts';
import { appends, type Call, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

type Store = ReturnType<typeof memoryRun>;
type Sizes = { readonly train: number; readonly val: number };
type Options = { readonly config: SkillOptConfigInput; readonly sizes: Sizes; readonly store?: Store };

/** Every mark solves a tenth more of the tasks, up to eight tenths. */
const marks = (skill: string) => new Set(skill.match(/MARK\d+/g)).size;
const solves =
  ({ val }: Sizes) =>
  (skill: string, { k }: Task) =>
    (k % val) / val < Math.min(8, 2 + marks(skill)) / 10;

const chatty = ({ step, prompt }: Call) =>
  appends(...(step % 3 ? [`Remark ${step} of ${prompt}.`, `Aside ${step}.`] : [`MARK${step}`, `Along ${step}.`]));

async function run({ config, sizes, store = memoryRun() }: Options) {
  const played = await scriptedRun({
    solves: solves(sizes),
    sizes: { ...sizes, test: 8 },
    script: { analyst: chatty, slow_update: ({ epoch }) => ({ slow_update_content: `Words of epoch ${epoch}.` }) },
    config: { gate: 'paired', batchSize: 8, finalPasses: undefined, proposalsPerBatch: 3, ...config },
    store,
  });
  const made = played.rollouts.filter(({ id }) => !id.startsWith('test-')).length;
  return { ...played, made, state: played.store.events.reduce(reduce, emptyRun) };
}

describe('a limit of rollouts', () => {
  const cases = [
    ...[4, 10].flatMap((val) => [4, 9, 20].map((times) => [times * val, val] as const)),
    ...[120, 127, 148, 190].map((limit) => [limit, 30] as const), // a race begins, and cannot be paid to its end
  ];

  it.each(cases)('of %i is kept with %i validation tasks, all but the test counted', async (maxRollouts, val) => {
    const config = { maxRollouts, fitValidation: false, optimizerRatio: 0 };
    const { made, facts, state, summary } = await run({ config, sizes: { train: 16, val } });
    expect(made).toBeLessThanOrEqual(maxRollouts);
    expect(state.rollouts).toBeLessThanOrEqual(maxRollouts);
    expect(state.rollouts).toBeGreaterThanOrEqual(made);
    expect(ofType(facts, 'search-end')).toMatchObject([{ reason: 'rollouts_spent' }]);
    expect(summary.isDone).toBe(true);
    expect(summary.finalScore, 'the final measurement is kept back').not.toBeNull();
    expect(ofType(facts, 'final-measurement-end')[0]!.passes[0]!.scores).toHaveLength(val);
  });

  it.each([12, 30])(
    'that leaves no room for a step says so, and what the least is, with %i validation tasks',
    async (val) => {
      const sizes = { train: 48, val };
      const tried = async (maxRollouts: number) =>
        (await run({ config: { maxRollouts, batchSize: 16, fitValidation: false }, sizes })).summary;
      const stuck = await tried(3 * val);
      expect(stuck).toMatchObject({ isDone: true, stepsDone: 0 });
      const said = stuck.warnings.map((text) =>
        /(\d+) attempts left no room for a step.* the least is (\d+)/.exec(text),
      );
      const [, limit, least] = said.find((match) => match !== null)!.map(Number);
      expect(limit).toBe(3 * val);
      expect((await tried(least! - 1)).stepsDone).toBe(0);
      const moved = await tried(least!);
      expect(moved.stepsDone).toBeGreaterThan(0);
      expect(moved.warnings.join()).not.toContain('no room');
    },
  );

  it.each([
    ['salvage', { salvage: true }],
    ['slow update', { useSlowUpdate: true, slowUpdateSamples: 16 }],
    ['forced guidance', { useSlowUpdate: true, slowUpdateSamples: 16, slowUpdateGate: false }],
    ['meta skill', { useMetaSkill: true, slowUpdateSamples: 16 }],
    ['prune', { prune: true }],
    ['accumulation', { accumulation: 2 }],
    ['the strict gate', { gate: 'strict' }],
    ['no gate', { useGate: false }],
    ['final passes', { finalPasses: 3 }],
  ] as const)('is kept with %s', async (_name, config) => {
    const over: string[] = [];
    for (const maxRollouts of [90, 170]) {
      const { made, state } = await run({ config: { maxRollouts, ...config }, sizes: { train: 16, val: 10 } });
      if (made > maxRollouts) over.push(`${made} of ${maxRollouts}`);
      if (state.rollouts < made) over.push(`${state.rollouts} counted, ${made} made`);
    }
    expect(over).toEqual([]);
  });

  it('is kept with re-rolls of what a winner seems to have lost', async () => {
    const over: string[] = [];
    for (const maxRollouts of [61, 84]) {
      const { rollouts } = await scriptedRun({
        solves: (skill, { id, k }) => (id.startsWith('train') ? k % 2 === 0 : skill.includes('MARK') ? k > 2 : k < 5),
        sizes: { train: 16, val: 10, test: 0 },
        script: { analyst: ({ step }) => appends(`MARK${step}`) },
        config: { gate: 'paired', batchSize: 8, finalPasses: undefined, maxRollouts, regressionVeto: true },
      });
      if (rollouts.length > maxRollouts) over.push(`${rollouts.length} of ${maxRollouts}`);
    }
    expect(over).toEqual([]);
  });

  it('does not keep a run going whose optimizer says nothing that is worth a rollout', async () => {
    const { summary, state } = await scriptedRun({
      solves: (_skill, { k }) => k < 3,
      initialSkill: '# Skill\n\nBe brief.\n',
      sizes: { train: 8, val: 10, test: 0 },
      script: { analyst: () => appends('- be brief') },
      config: { gate: 'paired', batchSize: 8, numEpochs: 2, finalPasses: undefined, maxRollouts: 500 },
    }).then((played) => ({ ...played, state: played.store.events.reduce(reduce, emptyRun) }));
    expect(summary).toMatchObject({ isDone: true, stepsDone: 2 });
    expect(state.rollouts).toBeLessThan(100);
  });

  it('is used up over more epochs than configured, removals counted: less than a step is left', async () => {
    const config = { maxRollouts: 400, numEpochs: 1 };
    const { facts, made, state } = await run({ config, sizes: { train: 16, val: 10 } });
    expect(state.history.at(-1)!.epoch).toBeGreaterThan(1);
    expect(ofType(facts, 'removal-end').length).toBeGreaterThan(0);
    expect(state.rollouts).toBeGreaterThanOrEqual(made);
    expect(state.rollouts).toBeGreaterThan(400 - 8 - 20);
  });

  it('ends a resumed run where the whole one ended', async () => {
    const options = { config: { maxRollouts: 80 }, sizes: { train: 16, val: 10 } };
    const whole = await run(options);
    expect(ofType(whole.facts, 'search-end')).toHaveLength(1);
    for (let cut = 1; cut < whole.store.events.length; cut += 4) {
      const again = await run({ ...options, store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });

  it('means the same with one worker and with sixteen', async () => {
    const at = (workers: number) => run({ config: { maxRollouts: 120, workers }, sizes: { train: 16, val: 10 } });
    const [one, many] = await Promise.all([at(1), at(16)]);
    expect(many.facts.slice(1)).toEqual(one.facts.slice(1));
  });
});

describe('a skill that passes every validation task', () => {
  const perfect = async (initialSkill: string, config: SkillOptConfigInput = {}, store = memoryRun()) => {
    const played = await scriptedRun({
      solves: (skill, { k }) => skill.includes('ALL') || k < 5,
      initialSkill,
      sizes: { train: 6, val: 10, test: 4 },
      script: { analyst: ({ step }) => appends(step === 2 ? 'ALL' : `Remark ${step}.`) },
      config: { gate: 'paired', numEpochs: 5, batchSize: 6, finalPasses: 2, ...config },
      store,
    });
    return { ...played, state: played.store.events.reduce(reduce, emptyRun) };
  };

  it('from the start is trained no further: nothing is proposed, measured again or tested, and the run is done', async () => {
    const { facts, calls, summary, state } = await perfect('# Skill\n\nALL\n');
    expect(ofType(facts, 'search-end')).toEqual([{ type: 'search-end', reason: 'nothing_to_gain' }]);
    expect([ofType(facts, 'step-start'), calls]).toEqual([[], []]);
    expect(summary).toMatchObject({ isDone: true, bestOrigin: 'initial', stepsDone: 0, testHard: null });
    expect([ofType(facts, 'final-measurement-end'), ofType(facts, 'test-look'), ofType(facts, 'test-end')]).toEqual([
      [],
      [],
      [],
    ]);
    expect(state.rollouts, 'the baseline and its second pass').toBe(20);
    expect(verdictOf(state)).toMatchObject({
      kind: 'no-change',
      comparison: { on: 'validation', before: 1, after: 1 },
    });
    expect(verdictWords(verdictOf(state), state, { added: 0, removed: 0 }).sentence).toBe(
      'the 10 tasks it is chosen by were at 100.0 % already, so nothing was tried. Your skill stays as it was.',
    );
  });

  it('ends the search as soon as that is known', async () => {
    const { facts, summary, state } = await perfect('# Skill\n');
    expect(ofType(facts, 'search-end')).toMatchObject([{ reason: 'nothing_to_gain' }]);
    expect(summary).toMatchObject({ isDone: true, bestOrigin: 'step_0002', testHard: 1 });
    const known = Object.values(state.gate.own).filter(({ sum, count }) => sum === count);
    expect(known, 'every task was attempted with it').toHaveLength(10);
    expect(ofStage(facts, 'evaluate').length).toBeLessThanOrEqual(3);
    expect(state.searchEnd).toBe('nothing_to_gain');
  });

  it('does not end it where the gate is strict, as in the paper', async () => {
    const { facts, summary } = await perfect('# Skill\n', { gate: 'strict' });
    expect(ofType(facts, 'search-end')).toEqual([]);
    expect(summary.stepsDone).toBe(5);
  });

  it('ends a resumed run where the whole one ended', async () => {
    const whole = await perfect('# Skill\n');
    for (let cut = 1; cut < whole.store.events.length; cut += 3) {
      const again = await perfect('# Skill\n', {}, memoryRun(whole.store.events.slice(0, cut)));
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });
});
