import { emptyRun, memoryRun, type RunEvent, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { AS_BEFORE } from '../../../../src/core/contracts/index.ts';
import { eventLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, type Call, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

type Store = ReturnType<typeof memoryRun>;
type Options = {
  readonly analyst?: (call: Call) => ReturnType<typeof appends>;
  readonly solves?: (skill: string, task: Task) => boolean;
  readonly sizes?: { readonly train: number; readonly val: number };
  readonly store?: Store;
};

/** 6 of 20 tasks are solved, and GAIN solves 8 more. */
const solves = (skill: string, { k }: Task) => k % 20 < (skill.includes('GAIN') ? 14 : 6);
const useless = ({ step }: Call) => appends(`Remark ${step}.`);
/** The steps named win, by a different mark each. */
const winsAt =
  (...steps: readonly number[]) =>
  (call: Call) =>
    steps.includes(call.step) ? appends(`MARK${call.step}`) : useless(call);
const marks = (skill: string) => new Set(skill.match(/MARK\d+/g)).size;
const byMarks = (skill: string, { k }: Task) => k % 20 < 4 + 5 * marks(skill);

/** More epochs than any of these runs needs, and one proposal from each batch of ten. */
async function run(config: SkillOptConfigInput = {}, world: Options = {}) {
  const { analyst = useless, sizes = { train: 10, val: 20 }, store = memoryRun() } = world;
  const played = await scriptedRun({
    solves: world.solves ?? solves,
    sizes: { ...sizes, test: 0 },
    script: { analyst },
    config: { gate: 'paired', numEpochs: 30, batchSize: 10, evalTest: false, finalPasses: undefined, ...config },
    store,
  });
  const state = played.store.events.reduce(reduce, emptyRun);
  return { ...played, state, ends: ofType(played.facts, 'search-end').map(({ reason }) => reason) };
}

const said = ({ events }: Store) =>
  events
    .flatMap((event, index) => {
      const before = events.slice(0, index).reduce(reduce, emptyRun);
      return eventLines(event, { before, after: reduce(before, event) }, { width: 120, colors: noColors });
    })
    .join('\n');

async function expectSameEnds(config: SkillOptConfigInput, world: Options) {
  const whole = await run(config, world);
  for (let cut = 1; cut < whole.store.events.length; cut += 7) {
    const again = await run(config, { ...world, store: memoryRun(whole.store.events.slice(0, cut)) });
    expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
  }
  const many = await run({ ...config, workers: 16 }, world);
  expect(many.facts.slice(1)).toEqual(whole.facts.slice(1));
  return whole;
}

describe('candidates that only lose', () => {
  it('end the search after as many as maxLosses says, and it is said why', async () => {
    const { ends, state, store, summary } = await run({ maxLosses: 5 });
    expect(ends).toEqual(['only_losses']);
    expect(state).toMatchObject({ searchEnd: 'only_losses', stepsDone: 5 });
    expect(summary.isDone).toBe(true);
    expect(said(store)).toContain('5 candidates in a row were no better: the search ends');
  });

  it('end it after 16 unless told otherwise, and never with 0', async () => {
    expect(await run()).toMatchObject({ ends: ['only_losses'], state: { stepsDone: 16 } });
    expect(await run({ maxLosses: 0 })).toMatchObject({ ends: [], state: { stepsDone: 30 } });
  });

  it('may be three more for every win, counted from the last one', async () => {
    const world = { solves: byMarks, analyst: winsAt(1, 4) };
    const { ends, state } = await run({ maxLosses: 4 }, world);
    expect(state.history.map(({ action }) => action.startsWith('accept'))).toEqual(
      Array.from({ length: 4 + 4 + 2 * 3 }, (_, index) => [1, 4].includes(index + 1)),
    );
    expect(ends).toEqual(['only_losses']);
  });

  it('are candidates: a step that made none is no loss', async () => {
    const { ends, state } = await run({ maxLosses: 5 }, { analyst: () => appends() });
    expect(ends).toEqual([]);
    expect(state.history.every(({ action }) => action !== 'reject')).toBe(true);
    expect(state.stepsDone).toBeGreaterThan(5);
  });

  it.each<SkillOptConfigInput>([
    { gate: 'strict', maxLosses: 5 },
    { useGate: false, maxLosses: 5 },
    { preset: 'paper', gate: 'paired' },
    { preset: 'paper' },
  ])('end nothing under %o', async (config) => {
    expect(await run(config)).toMatchObject({ ends: [], state: { stepsDone: 30 } });
  });

  it('end a resumed run, and one with sixteen workers, where they ended the whole one', async () => {
    const { ends } = await expectSameEnds({ maxLosses: 4 }, { solves: byMarks, analyst: winsAt(2) });
    expect(ends).toEqual(['only_losses']);
  });
});

describe('an optimizer that was asked often enough', () => {
  /** (400 − 20) rollouts pay for 12 whole steps of 10 + 20. */
  const limited = { maxRollouts: 400, maxLosses: 0, doubtAfter: 0 };

  it('ends the search after a multiple of the steps that would meet every task, and it is said why', async () => {
    const { ends, state, store } = await run({ ...limited, optimizerRatio: 0.5 });
    expect(ends).toEqual(['optimizer_spent']);
    expect(state.stepsDone).toBe(6);
    expect(said(store)).toContain('the optimizer was asked for 6 steps, the most for 400 rollouts');
  });

  it('is asked as long as there are rollouts with 0', async () => {
    const free = await run({ ...limited, optimizerRatio: 0 });
    expect(free.ends).toEqual(['rollouts_spent']);
    expect(free.state.stepsDone).toBeGreaterThan(12);
    const once = await run({ ...limited, optimizerRatio: 1 });
    expect(once).toMatchObject({ ends: ['optimizer_spent'], state: { stepsDone: 12 } });
  });

  it.each<SkillOptConfigInput>([
    { ...limited, gate: 'strict' },
    { ...limited, useGate: false },
    { ...limited, preset: 'paper', gate: 'paired' },
  ])('ends nothing under %o', async (config) => {
    expect((await run({ optimizerRatio: config.preset ? undefined : 0.1, ...config })).ends).toEqual([
      'rollouts_spent',
    ]);
  });

  it('is no matter where rollouts are not limited', async () => {
    expect(await run({ maxLosses: 0, optimizerRatio: 0.1 })).toMatchObject({ ends: [], state: { stepsDone: 30 } });
  });

  it('ends a resumed run, and one with sixteen workers, where it ended the whole one', async () => {
    const { ends } = await expectSameEnds({ ...limited, optimizerRatio: 0.5 }, { solves: byMarks, analyst: winsAt(2) });
    expect(ends).toEqual(['optimizer_spent']);
  });
});

describe('a current skill that candidates do not beat', () => {
  const doubted = ({ facts }: { readonly facts: Parameters<typeof ofStage>[0] }) =>
    ofStage(facts, 'evaluate').flatMap(({ step, decision }) => (decision?.refreshed?.length === 20 ? [step] : []));

  it('is measured again on all tasks after three losses in a row, and after three more', async () => {
    const played = await run({ maxLosses: 8 });
    expect(doubted(played)).toEqual([4, 7]);
    expectEvery(Object.values(played.state.gate.own), ({ count }) => count === 4); // and twice in the baseline
  });

  it('is measured again as often as told, and never with 0', async () => {
    expect(doubted(await run({ maxLosses: 6, doubtAfter: 2 }))).toEqual([3, 5]);
    const never = await run({ maxLosses: 8, doubtAfter: 0 });
    expect(doubted(never)).toEqual([]);
    expectEvery(Object.values(never.state.gate.own), ({ count }) => count === 2);
  });

  it('is counted anew from each win', async () => {
    const played = await run({ maxLosses: 4 }, { solves: byMarks, analyst: winsAt(3) });
    const [first] = doubted(played).filter((step) => step > 3);
    expect(doubted(played).filter((step) => step <= 3)).toEqual([]);
    expect(first).toBe(7);
  });

  it('loses what it had by luck', async () => {
    const seen = new Map<string, number>();
    /** Each task is solved by luck the first time that it is attempted with the mark. */
    const lucky = (skill: string, { id, k }: Task) => {
      const tries = (seen.get(id) ?? 0) + (skill.includes('MARK') ? 1 : 0);
      seen.set(id, tries);
      return k < (skill.includes('MARK1') && !skill.includes('Remark') && tries === 1 ? 14 : 6);
    };
    const world = { solves: lucky, analyst: winsAt(1) };
    const { state, facts } = await run({ maxLosses: 3 }, world);
    expect(state.history[0]!.action).toBe('accept_new_best');
    const won = state.history[0]!.currentScore;
    expect(doubted({ facts })).toEqual([5]);
    expect(state.current.score).toBeLessThan(won - 0.1);
  });

  it.each<SkillOptConfigInput>([{ preset: 'paper', gate: 'paired' }, { gate: 'strict' }])(
    'is not measured again under %o',
    async (config) => {
      const { rollouts, facts } = await run({ numEpochs: 6, finalPasses: 0, ...config });
      expect(doubted({ facts })).toEqual([]);
      const own = rollouts.filter(({ id, skill }) => id.startsWith('val') && skill === '# Skill\n');
      expect(own).toHaveLength(config.gate === 'strict' ? 20 : 40);
    },
  );

  it('is measured again where a resumed run, and one with sixteen workers, does it', async () => {
    expect(doubted(await expectSameEnds({ maxLosses: 8 }, {})).length).toBe(2);
  });
});

describe('the last rollouts', () => {
  const free = { fitValidation: false, optimizerRatio: 0, maxLosses: 0, proposalsPerBatch: 1, finalPasses: 1 };
  /** How many tasks the batches have under a row of limits, each of which is kept. */
  async function batches(config: SkillOptConfigInput) {
    const sizes: number[] = [];
    for (let maxRollouts = 92; maxRollouts < 180; maxRollouts += 6) {
      const limited = { ...free, batchSize: 30, maxRollouts, ...config };
      const { facts, rollouts, state, ends } = await run(limited, { sizes: { train: 60, val: 30 } });
      expect(rollouts.length, `of ${maxRollouts}`).toBeLessThanOrEqual(maxRollouts);
      expect(state.rollouts, `of ${maxRollouts}`).toBeLessThanOrEqual(maxRollouts);
      expect(ends).toEqual(['rollouts_spent']);
      sizes.push(...ofType(facts, 'step-start').map(({ itemIds }) => itemIds.length));
    }
    expect(sizes).toContain(30);
    return sizes;
  }

  it('pay for a smaller batch, but for none below twelve tasks', async () => {
    const sizes = await batches({});
    expect(Math.min(...sizes)).toBeLessThan(18);
    expectEvery(sizes, (size) => size >= 12 && size <= 30);
  });

  it.each<SkillOptConfigInput>([{ batchSize: 15, accumulation: 2 }, { gate: 'strict' }, { useGate: false }])(
    'pay for whole batches alone under %o',
    async (config) => {
      expectEvery(await batches(config), (size) => size === 30);
    },
  );

  /** The last race ends after 12 of 30 tasks: a few more are solved, others no longer. */
  async function cutShort(config: SkillOptConfigInput = {}) {
    const mixed = (skill: string, { k }: Task) =>
      (k * 37 + 22 + marks(skill) * 17 + k * marks(skill) * 2) % 10 < 3 + Math.min(marks(skill), 3);
    const world = { solves: mixed, analyst: ({ step }: Call) => appends(`MARK${step}`), sizes: { train: 16, val: 30 } };
    const limit = { ...free, maxRollouts: 130, batchSize: 16 };
    const { facts, rollouts } = await run({ ...limit, ...config }, world);
    expect(rollouts.length).toBeLessThanOrEqual(config.maxRollouts ?? 130);
    return ofStage(facts, 'evaluate').at(-1)!;
  }

  it('decide a race that they do not pay to its end by what is to be expected', async () => {
    const { decision, action } = await cutShort();
    expect(decision).toMatchObject({
      verdict: 'accept',
      reason: expect.stringMatching(/12 of 30 .*no rollouts are left/),
    });
    expect(decision!.expectedGain).toBeGreaterThan(0);
    expect(action).toBe('accept_new_best');
  });

  it('decide nothing where the veto would have to see the rest', async () => {
    const last = [];
    for (let maxRollouts = 130; maxRollouts < 190; maxRollouts += 6)
      last.push(await cutShort({ maxRollouts, regressionVeto: true }));
    const stopped = last.filter(({ decision }) => decision!.reason.startsWith('no rollouts are left after 12 of 30'));
    expect(stopped.length).toBeGreaterThan(0);
    expectEvery(stopped, ({ decision, action }) => decision!.verdict === 'inconclusive' && action === 'reject');
  });
});

describe('a run that an earlier version began', () => {
  const sizes = { train: 10, val: 60 };
  const limited = { maxRollouts: 700, proposalsPerBatch: 1 };
  const isNew = (key: string) => Object.hasOwn(AS_BEFORE, key);
  const without = (record: object) => Object.fromEntries(Object.entries(record).filter(([key]) => !isNew(key)));

  /** Its journal, which knows nothing of settings that came later. */
  const asWritten = (events: readonly RunEvent[]) =>
    events.map((event) =>
      event.type === 'run-start'
        ? ({ ...event, config: without(event.config), identity: without(event.identity) } as unknown as RunEvent)
        : event,
    );

  it('goes on as it began: with all tasks, and as long as it would have', async () => {
    const before = await run({ ...limited, ...AS_BEFORE }, { sizes });
    expect(before).toMatchObject({ ends: ['rollouts_spent'] });
    expect(before.state.stepsDone, 'more than the losses that end a run today').toBeGreaterThan(16);
    const today = await run(limited, { sizes });
    expect(ofType(today.facts, 'run-start')[0]!.items.val).toBeLessThan(60);
    const written = asWritten(before.store.events);
    for (let cut = 1; cut < written.length; cut += 31) {
      const again = await run(limited, { sizes, store: memoryRun(written.slice(0, cut)) });
      expect(again.facts.slice(1), `cut after event ${cut}`).toEqual(before.facts.slice(1));
      expect(again.summary.warnings.join()).not.toContain('validation tasks are used');
    }
  });

  it.each<[SkillOptConfigInput, string]>([
    [{ maxLosses: 5 }, 'maxLosses: was 0, is 5'],
    [{ leastLead: 0.5 }, 'leastLead: was 1, is 0.5'],
    [{ doubtAfter: 2, optimizerRatio: 2 }, '\n- doubtAfter: was 0, is 2\n- optimizerRatio: was 0, is 2'],
  ])('is refused with what was set since: %o', async (since, words) => {
    const before = await run({ numEpochs: 3, ...AS_BEFORE });
    const begun = () => memoryRun(asWritten(before.store.events).slice(0, 9));
    await expect(run({ numEpochs: 3, ...since }, { store: begun() })).rejects.toMatchObject({
      code: 'RUN_MISMATCH',
      message: expect.stringMatching(new RegExp(`something else: ?${words}$`)),
    });
    expect((await run({ numEpochs: 3 }, { store: begun() })).facts.slice(1)).toEqual(before.facts.slice(1));
  });

  it('is not one that was begun with these settings: another value is refused', async () => {
    const whole = await run({ maxLosses: 3 });
    const begun = () => memoryRun(whole.store.events.slice(0, 9));
    await expect(run({ maxLosses: 4 }, { store: begun() })).rejects.toMatchObject({ code: 'RUN_MISMATCH' });
    await expect(run({ maxLosses: 0 }, { store: begun() })).rejects.toMatchObject({ code: 'RUN_MISMATCH' });
    expect((await run({ maxLosses: 3 }, { store: begun() })).facts).toEqual(whole.facts);
  });
});
