import { emptyRun, memoryRun, reduce, type SkillOptConfigInput, skillHash } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { hasPass } from '../../../../src/core/run/index.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, ofStage, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';

type Solves = (skill: string, task: Task) => boolean | number;
type World = Omit<Parameters<typeof scriptedRun>[0], 'config' | 'script' | 'solves'>;

const SEED = '# Skill\n';
const PAIRED = { gate: 'paired', numEpochs: 1, batchSize: 3, evalTest: false, proposalsPerBatch: 2 } as const;
const sizes = { train: 3, val: 12, test: 0 };

/** A run under the default gate, and what is known at its end. */
async function play(solves: Solves, script: Script, config: SkillOptConfigInput = {}, world: World = {}) {
  const run = await scriptedRun({ solves, script, sizes, ...world, config: { ...PAIRED, ...config } });
  let state = emptyRun;
  const states = run.store.events.map((event) => {
    state = reduce(state, event);
    return state;
  });
  return { ...run, state, states };
}

const propose = (...lines: string[]): Script => ({ analyst: () => appends(...lines) });

/** What a skill truly solves of the validation tasks. */
const truth = (solves: Solves, skill: string, val = 12) =>
  Array.from({ length: val }, (_, k) => Number(solves(skill, { id: `val-${k}`, k }))).reduce((a, b) => a + b) / val;

describe.each(['paired', 'strict'] as const)('a skill that the %s gate has chosen', (gate) => {
  /** How many tasks are solved, how many more with MUCH, and how many with LITTLE. */
  const worlds = [
    { val: 12, start: 5, much: 5, little: 1 },
    { val: 12, start: 1, much: 5, little: 2 },
    { val: 20, start: 10, much: 6, little: 2 },
  ];
  const solvesIn =
    ({ start, much, little }: (typeof worlds)[number]): Solves =>
    (skill, { k }) => {
      if (skill.includes('HARM')) return k < start + much;
      return k < start + (skill.includes('MUCH') ? much : 0) + (skill.includes('LITTLE') ? little : 0);
    };
  const firstOnly: Script = { analyst: ({ step }) => (step === 1 ? appends('MUCH', 'LITTLE', 'idle') : appends()) };
  const sized = (val: number) => ({ sizes: { train: 3, val, test: 0 } });

  it.each(worlds)('is pruned of what does not help, and of nothing that does: %o', async (world) => {
    const { facts, summary } = await play(
      solvesIn(world),
      firstOnly,
      { gate, prune: true, tryShorter: false },
      sized(world.val),
    );
    expect(ofType(facts, 'prune-end')[0]!.removed).toEqual(['idle']);
    expect(summary.bestSkill.trim()).toBe('# Skill\n\nMUCH\n\nLITTLE');
  });

  it.each(worlds)('is not replaced by a worse one that was taken without the gate: %o', async (world) => {
    const script = { ...firstOnly, slow_update: () => ({ slow_update_content: 'HARM' }) };
    const settings = { gate, useSlowUpdate: true, slowUpdateGate: false, numEpochs: 2 };
    const { facts, state, states, store } = await play(solvesIn(world), script, settings, sized(world.val));
    expect(ofType(facts, 'slow-update-end')[0]).toMatchObject({ action: 'force_accept' });
    expect(ofType(facts, 'final-selection-end')[0]).toMatchObject({ isPromoted: false });
    expect(state.best.origin).toBe('step_0001');
    const before = states[facts.findIndex(({ type }) => type === 'final-selection-end') - 1]!;
    const written = JSON.parse(store.views['final_selection_eval/best.json'] ?? '[]');
    expect(written.length).toBe(hasPass(before, before.best) ? 0 : world.val);
  });
});

describe.each(['paired', 'strict'] as const)('without a gate (gate: %s)', (gate) => {
  const topOf = (skill: string) => Number([...skill.matchAll(/TOP=(\d+)/g)].at(-1)?.[1] ?? 8);
  const solves: Solves = (skill, { k }) => k < topOf(skill);
  const ungated = { gate, useGate: false, numEpochs: 3, proposalsPerBatch: 1 } as const;
  const up = { analyst: ({ step }: { step: number }) => appends(`TOP=${[1, 10, 2][step - 1]}`) };

  it('every candidate is taken with the score that it measured, and the best of them is kept', async () => {
    const { facts, state, states, summary } = await play(solves, up, ungated);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(3).fill('force_accept'));
    expect(state.history.map(({ currentScore }) => currentScore)).toEqual([1 / 12, 10 / 12, 2 / 12]);
    expect(state.history.map(({ bestOrigin }) => bestOrigin)).toEqual(['initial', 'step_0002', 'step_0002']);
    expect(truth(solves, summary.bestSkill)).toBe(10 / 12);
    expectEvery(states, ({ best, current }) => best.score >= current.score);
  });
});

describe('without a gate', () => {
  it('nothing is known of a candidate but its own rollouts', async () => {
    const solves: Solves = (_skill, { k }) => k < 4;
    const { state } = await play(solves, propose('words'), { useGate: false, proposalsPerBatch: 1 });
    const known = Object.values(state.gate.own).map(({ count }) => count);
    expect(known).toEqual(Array(12).fill(1));
  });

  it.each([{ regressionVeto: true }, { protectedItems: ['val-1'] }])(
    '%o is refused: nothing could be stopped',
    async (config) => {
      const [key] = Object.keys(config);
      await expect(play(() => true, {}, { ...config, useGate: false })).rejects.toThrow(
        `${key}: needs useGate: true, got false`,
      );
    },
  );
});

describe('guidance that was taken without the gate', () => {
  /** AAA solves 34 of 40. HARM leaves 6 of them, and with BBB 24; with CCC it is 38. */
  const solves: Solves = (skill, { k }) => {
    if (!skill.includes('HARM')) return k < (skill.includes('AAA') ? 34 : 10);
    return k < (skill.includes('CCC') ? 38 : skill.includes('BBB') ? 24 : 6);
  };
  const later = (text: string): Script => ({
    analyst: ({ epoch }) => (epoch === 1 ? appends('AAA') : epoch === 3 ? appends(text) : appends()),
    slow_update: ({ epoch }) => ({ slow_update_content: epoch === 2 ? 'HARM' : '' }),
  });
  const settings = { useSlowUpdate: true, slowUpdateGate: false, numEpochs: 3, batchSize: 40 };
  const world = { sizes: { train: 40, val: 40, test: 0 } };

  it('does not make the best of what is better than the guidance alone', async () => {
    const { state, summary, facts } = await play(solves, later('BBB'), settings, world);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toContain('accept');
    expect(state.best.origin).toBe('step_0001');
    expect(truth(solves, summary.bestSkill, 40)).toBe(34 / 40);
  });

  it('does not stand in the way of what is better than the best', async () => {
    const { state, summary } = await play(solves, later('CCC'), settings, world);
    expect(state.best.origin).toBe('step_0003');
    expect(truth(solves, summary.bestSkill, 40)).toBe(38 / 40);
  });
});

describe('a step that is taken again with other answers', () => {
  /** After `GAIN` was taken: a run that was cut when its second candidate was judged, and continues with another analyst. */
  async function takenAgain(solves: Solves, [first, second]: readonly [string, string], val: number) {
    const world = { sizes: { train: 3, val, test: 0 } };
    const then = (text: string): Script => ({ analyst: ({ step }) => appends(step === 1 ? 'GAIN' : text) });
    const settings = { numEpochs: 2, proposalsPerBatch: 1 };
    const whole = await play(solves, then(first), settings, world);
    const isJudgedTwice = (_: unknown, index: number) =>
      ofStage(whole.facts.slice(0, index + 1), 'evaluate').length === 2;
    const cut = whole.facts.findIndex(isJudgedTwice) + 1;
    const store = memoryRun(whole.store.events.slice(0, cut));
    return play(solves, then(second), settings, { ...world, store });
  }

  const GAINED = '# Skill\n\nGAIN\n';

  it('counts no draw of the current skill twice', async () => {
    const solves: Solves = (skill, { k }) => !skill.includes('BAD') && k < (skill.includes('GAIN') ? 30 : 15);
    const { facts, state, requests } = await takenAgain(solves, ['BAD one', 'BAD two'], 40);
    const [, before, ...after] = ofStage(facts, 'evaluate').map(({ decision }) => decision?.refreshed ?? []);
    expect(before!.length).toBeGreaterThan(0);
    expect(state.current.skill).toBe(GAINED);
    const asked = requests.target.filter(({ messages: [system] }) => system!.content === GAINED);
    for (const { id } of before!) {
      const more = after.flat().filter((score) => score.id === id).length;
      expect(state.gate.own[id]!.count, id).toBe(1 + more);
      const draws = asked.filter(({ messages }) => JSON.parse(messages[1]!.content).id === id);
      const inSearch = draws.map(({ sampleIndex = 0 }) => sampleIndex);
      expect(inSearch, `${id}: draw 0 is known`).not.toContain(0);
    }
  });

  it('has a record of the second candidate alone', async () => {
    const solves: Solves = (skill, { k }) => !skill.includes('BAD') && (skill.includes('GOOD') || k < 6);
    const { state, facts } = await takenAgain(
      (skill, task) => (skill.includes('GAIN') && !/GOOD|BAD/.test(skill) ? task.k < 9 : solves(skill, task)),
      ['BAD', 'GOOD'],
      12,
    );
    const [, bad, good] = ofStage(facts, 'evaluate');
    expect(bad).toMatchObject({ action: 'reject', isPartial: true });
    const record = state.history[1]!;
    expect(record).toMatchObject({ action: 'accept_new_best', verdict: 'accept' });
    expect(record.verdictReason).toBe(good!.decision!.reason);
    expect(record.isPartial).toBe(good!.isPartial ? true : undefined);
    expect(record.nItemsMet).toBe(good!.isPartial ? good!.evaluation!.scores.length : undefined);
  });
});

describe('salvage under the default gate', () => {
  /** `GAIN` solves tasks 0 to 5, `BREAK` loses task 7, and `BAD` everything. */
  const solves: Solves = (skill, { k }) => {
    if (skill.includes('BAD')) return false;
    return k < 6 ? skill.includes('GAIN') : !(skill.includes('BREAK') && k === 7);
  };
  const salvage = (edit: string, config: SkillOptConfigInput) =>
    play(
      solves,
      { analyst: ({ step }) => (step === 1 ? appends(edit, 'BAD') : appends()) },
      { salvage: true, ...config },
    );

  it.each([
    ['one look', []],
    ['a look, and re-rolls of protected tasks', ['val-7', 'val-8', 'val-9']],
  ] as const)('counts every rollout of the part that it saves: %s', async (_name, protectedItems) => {
    const { state, rollouts } = await salvage('GAIN', { protectedItems: [...protectedItems] });
    expect(state.history[0]).toMatchObject({ action: 'accept_new_best', salvagedEdits: [0] });
    const asked = Object.fromEntries(Object.keys(state.gate.draws).map((id) => [id, 0]));
    for (const { id, skill } of rollouts) {
      if (skill === state.best.skill && id.startsWith('val-')) asked[id]! += 1;
    }
    expect(state.gate.draws).toEqual(asked);
    const known = Object.entries(state.gate.own).map(([id, { count }]) => [id, count]);
    expect(Object.fromEntries(known)).toEqual(
      Object.fromEntries(Object.entries(asked).filter(([, count]) => count > 0)),
    );
  });

  it('counts the re-rolls of the current skill, too', async () => {
    const { state, facts } = await salvage('GAIN', { protectedItems: ['val-6', 'val-7', 'val-8', 'val-9', 'val-10'] });
    const { veto } = ofType(facts, 'salvage-end')[0]!.accepted!.decision!;
    expect(veto).toMatchObject({ isVetoed: false });
    for (const id of new Set(veto!.incumbent.map((score) => score.id))) {
      expect(state.gate.seed[id]!.count, id).toBe(2 + 5);
    }
    expect(veto!.incumbent.length).toBeGreaterThan(0);
  });

  it('leaves a record that speaks of the part that was saved', async () => {
    const { state, facts } = await salvage('GAIN', {});
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ action: 'reject', isPartial: true });
    const [record] = state.history;
    const { accepted } = ofType(facts, 'salvage-end')[0]!;
    expect(record).toMatchObject({ action: 'accept_new_best', verdict: 'accept' });
    expect(record!.verdictReason).toBe(accepted!.decision!.reason);
    expect(record!.candidateHash).toBe(accepted!.candidateHash);
  });

  it.each([23, 24, 48, 100])('takes no more than %i rollouts', async (salvageRollouts) => {
    // Nobody knows about any part: under noise a lucky one may take a second pass.
    const isWhole = (skill: string) => skill.includes('E1') && skill.includes('E4');
    const seen = new Map<string, number>();
    const fickle: Solves = (skill, { id, k }) => {
      const times = seen.get(skill + id) ?? 0;
      seen.set(skill + id, times + 1);
      if (!skill.includes('E')) return times === 0 && k < 8;
      return !isWhole(skill) && k < (times === 0 ? 4 : 2);
    };
    const { facts, rollouts } = await play(fickle, propose('E1', 'E2', 'E3', 'E4'), {
      proposalsPerBatch: 1,
      salvage: true,
      salvageRollouts,
      minEditBudget: 4,
    });
    const { tries, accepted } = ofType(facts, 'salvage-end')[0]!;
    expect(accepted).toBeNull();
    const ofParts = rollouts.filter(({ id, skill }) => id.startsWith('val-') && skill.includes('E') && !isWhole(skill));
    expect(ofParts.length).toBeLessThanOrEqual(salvageRollouts);
    expect(tries.length > 0).toBe(salvageRollouts >= 24);
  });
});

describe.each(['paired', 'strict'] as const)('salvage under the %s gate', (gate) => {
  const run = (unjudged: number) =>
    play(
      () => false,
      propose('one', 'two'),
      { gate, salvage: true, maxErroredShare: 1 },
      {
        hooks: {
          rolloutOne: async ({ item, skill }) => ({
            hard: 0,
            soft: 0,
            failReason: 'wrong: as said',
            ...(skill !== SEED && item.k < unjudged ? { unjudged: true } : {}),
          }),
        },
      },
    );

  it('tries no part of a patch that could not be judged', async () => {
    const { facts, state } = await run(12);
    expect(state.history[0]).toMatchObject({ action: 'reject', verdict: 'invalid' });
    expect(ofType(facts, 'salvage-end')).toEqual([]);
    expect(ofType((await run(0)).facts, 'salvage-end')).not.toEqual([]);
  });
});

describe.each(['paired', 'strict'] as const)('outages under the %s gate', (gate) => {
  /** The candidate solves all that it reaches; 6 of its 12 validation tasks meet an outage. */
  const run = (maxErroredShare: number) =>
    play(
      () => false,
      propose('better'),
      { gate, maxErroredShare },
      {
        hooks: {
          rolloutOne: async ({ item, skill }) => {
            const isBetter = skill.includes('better');
            if (isBetter && item.id.startsWith('val-') && item.k < 6) return { hard: 0, soft: 0, errored: true };
            return { hard: Number(isBetter), soft: Number(isBetter), failReason: 'wrong: as said' };
          },
        },
      },
    );

  it('are borne by a candidate up to maxErroredShare', async () => {
    const { state } = await run(0.6);
    expect(state.history[0]).toMatchObject({ action: 'accept_new_best' });
    await expect(run(0.2)).rejects.toThrow('of 12 tasks got no score');
  });
});

describe('a task that a winner had not met', () => {
  /** 6 to 11 are solved, with GAIN from 3 on; what is BROKEN solves all but 9: it wins, and is stopped for that. */
  const solves: Solves = (skill, { k }) => (skill.includes('BROKEN') ? k !== 9 : k >= (skill.includes('GAIN') ? 3 : 6));
  const script: Script = { analyst: ({ step }) => appends(step === 1 ? 'GAIN' : `BROKEN ${step}`) };
  const config = { numEpochs: 3, proposalsPerBatch: 1, protectedItems: [6, 7, 8, 9, 10, 11].map((k) => `val-${k}`) };

  it('is rolled out by draws that are each counted once', async () => {
    const { state, rollouts, facts } = await play(solves, script, config);
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ action: 'accept_new_best', isPartial: true });
    const vetoed = ofStage(facts, 'evaluate').filter(({ decision }) => decision?.veto?.isVetoed);
    expect(vetoed.length).toBeGreaterThan(0);
    const asked = Object.fromEntries(Object.keys(state.gate.draws).map((id) => [id, 0]));
    for (const { id, skill } of rollouts) if (skill === state.current.skill && id in asked) asked[id]! += 1;
    expect(state.gate.draws).toEqual(asked);
  });
});

describe('the final measurement', () => {
  it('is made of draws that the search has not seen, however many it saw', async () => {
    /** Each later candidate wins and loses the protected task: five re-rolls of it under the current skill. */
    const solves: Solves = (skill, { k }) => {
      if (skill.includes('BREAK')) return k !== 9;
      return k >= (skill.includes('GAIN') ? 6 : 14);
    };
    const { requests, state } = await scriptedRun({
      solves,
      sizes: { train: 32, val: 24, test: 0 },
      script: { analyst: ({ step }) => appends(step === 1 ? 'GAIN' : `BREAK ${step}`) },
      config: {
        ...PAIRED,
        proposalsPerBatch: 1,
        batchSize: 1,
        finalPasses: 2,
        protectedItems: ['val-9'],
        maxLosses: 0,
      },
    }).then((run) => ({ ...run, state: run.store.events.reduce(reduce, emptyRun) }));
    expect(state.finalMeasurement).toMatchObject({ hash: skillHash('# Skill\n\nGAIN\n') });
    const drawn = requests.target
      .filter(({ messages: [system, user] }) => system!.content === state.best.skill && user!.content.includes('val-9'))
      .map(({ sampleIndex = 0 }) => sampleIndex);
    const inSearch = state.gate.draws['val-9']!;
    expect(inSearch).toBeGreaterThan(150);
    expect(new Set(drawn).size, 'the fresh ones are asked for, not remembered').toBe(inSearch + 2);
  });
});
