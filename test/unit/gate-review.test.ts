import { emptyRun, memoryRun, reduce, type SkillOptConfigInput, skillHash } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { appends, ofStage, ofType, type Script, scriptedRun, type Task } from '../scripted-run.ts';

type Solves = (skill: string, task: Task) => boolean | number;
type World = Omit<Parameters<typeof scriptedRun>[0], 'config' | 'script' | 'solves'>;

const SEED = '# Skill\n';
const PAIRED = { gate: 'paired', numEpochs: 1, batchSize: 3, evalTest: false, proposalsPerBatch: 2 } as const;
const sizes = { train: 3, val: 12, test: 0 };

/** A run under the default gate, and what is known at its end. */
async function play(solves: Solves, script: Script, config: SkillOptConfigInput = {}, world: World = {}) {
  const run = await scriptedRun({ solves, script, sizes, ...world, config: { ...PAIRED, ...config } });
  const states = run.store.events.map((_, index, events) => events.slice(0, index + 1).reduce(reduce, emptyRun));
  return { ...run, state: states.at(-1)!, states };
}

const propose = (...lines: string[]): Script => ({ analyst: () => appends(...lines) });

/** What a skill truly solves of the validation tasks. */
const truth = (solves: Solves, skill: string, val = 12) =>
  Array.from({ length: val }, (_, k) => Number(solves(skill, { id: `val-${k}`, k }))).reduce((a, b) => a + b) / val;

describe.each(['paired', 'strict'] as const)('a skill that the %s gate has chosen', (gate) => {
  const solves: Solves = (skill, { k }) => {
    if (skill.includes('HARM')) return k < 9;
    return k < 3 + (skill.includes('MUCH') ? 6 : 0) + (skill.includes('LITTLE') ? 2 : 0);
  };
  const firstOnly: Script = { analyst: ({ step }) => (step === 1 ? appends('MUCH', 'LITTLE', 'idle') : appends()) };

  it('is pruned of what does not help, and of nothing that does', async () => {
    const { facts, summary } = await play(solves, firstOnly, { gate, prune: true });
    expect(ofType(facts, 'prune-end')[0]).toMatchObject({ removed: ['idle'], score: 11 / 12 });
    expect(summary.bestSkill.trim()).toBe('# Skill\n\nMUCH\n\nLITTLE');
  });

  it('is not replaced at the end by a worse one that was taken without the gate', async () => {
    const script = { ...firstOnly, slow_update: () => ({ slow_update_content: 'HARM' }) };
    const { facts, state } = await play(solves, script, { gate, slowUpdateGate: false, numEpochs: 2 });
    expect(ofType(facts, 'slow-update-end')[0]).toMatchObject({ action: 'force_accept' });
    expect(ofType(facts, 'final-selection-end')[0]).toMatchObject({ score: 0.75, isPromoted: false });
    expect(state.best.origin).toBe('step_0001');
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
    expect(states.every(({ best, current }) => best.score >= current.score)).toBe(true);
  });
});

describe('without a gate', () => {
  it('nothing is known of a candidate but its own rollouts', async () => {
    const solves: Solves = (_skill, { k }) => k < 4;
    const { state } = await play(solves, propose('words'), { useGate: false, proposalsPerBatch: 1 });
    const known = Object.values(state.gate.incumbent).map(({ count }) => count);
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
  const settings = { slowUpdateGate: false, numEpochs: 3, batchSize: 40 };
  const world = { sizes: { train: 40, val: 40, test: 0 } };

  it('does not make the best of what is better than the guidance alone', async () => {
    const { state, summary, facts } = await play(solves, later('BBB'), settings, world);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toContain('accept');
    expect(state.best.origin).toBe('step_0001');
    expect(truth(solves, summary.bestSkill, 40)).toBe(34 / 40);
  });

  it('does not stand in the way of what is better than the best', async () => {
    const { state, summary } = await play(solves, later('CCC'), settings, world);
    expect(state.best.origin).toBe('step_0005');
    expect(truth(solves, summary.bestSkill, 40)).toBe(38 / 40);
  });
});

describe('a step that is taken again with other answers', () => {
  /** A run that was cut after its first candidate was judged, and goes on with another analyst. */
  async function takenAgain(solves: Solves, [first, second]: readonly [string, string], val: number) {
    const world = { sizes: { train: 3, val, test: 0 } };
    const whole = await play(solves, propose(first), {}, world);
    const cut = whole.facts.findIndex((fact) => fact.type === 'stage-end' && fact.stage === 'evaluate') + 1;
    const store = memoryRun(whole.store.events.slice(0, cut));
    return play(solves, propose(second), {}, { ...world, store });
  }

  it('counts no draw of the current skill twice', async () => {
    const solves: Solves = (skill, { k }) => !skill.includes('BAD') && k < 50;
    const { facts, state, requests } = await takenAgain(solves, ['BAD one', 'BAD two'], 100);
    const [before, ...after] = ofStage(facts, 'evaluate').map(({ decision }) => decision?.refreshed ?? []);
    expect(before!.length).toBeGreaterThan(0);
    const asked = requests.target.filter(({ messages: [system] }) => system!.content === SEED);
    const askedOf = (id: string) => asked.filter(({ messages }) => JSON.parse(messages[1]!.content).id === id);
    for (const { id } of before!) {
      const more = after.flat().filter((score) => score.id === id).length;
      expect(state.gate.incumbent[id]!.count, id).toBe(3 + more);
      expect(
        askedOf(id).map(({ sampleIndex }) => sampleIndex),
        `${id}: draw 2 is known`,
      ).not.toContain(2_000);
    }
  });

  it('has a record of the second candidate alone', async () => {
    const solves: Solves = (skill, { k }) => !skill.includes('BAD') && (skill.includes('GOOD') || k < 6);
    const { state, facts } = await takenAgain(solves, ['BAD', 'GOOD'], 12);
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ action: 'reject', isPartial: true });
    expect(state.history[0]).toMatchObject({ action: 'accept_new_best', verdict: 'accept', selectionHard: 1 });
    expect(state.history[0]).not.toHaveProperty('isPartial');
    expect(state.history[0]).not.toHaveProperty('nItemsMet');
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
    ['one pass', 'GAIN', { proposalsPerBatch: 2 }, 1],
    ['a second pass', 'GAIN', { proposalsPerBatch: 1 }, 2],
    ['a second pass and re-rolls', 'GAIN BREAK', { proposalsPerBatch: 1, regressionVeto: true }, 5],
  ] as const)('counts every rollout of the part that it saves: %s', async (_name, edit, config, most) => {
    const { state, rollouts } = await salvage(edit, config);
    expect(state.history[0]).toMatchObject({ action: 'accept_new_best', salvagedEdits: [0] });
    const asked: Record<string, number> = {};
    for (const { id, skill } of rollouts) {
      if (skill === state.best.skill && id.startsWith('val-')) asked[id] = (asked[id] ?? 0) + 1;
    }
    expect(state.gate.draws).toEqual(asked);
    expect(Math.max(...Object.values(asked))).toBe(most);
  });

  it('counts the re-rolls of the current skill, too', async () => {
    const { state } = await salvage('GAIN BREAK', { proposalsPerBatch: 1, regressionVeto: true });
    const others = state.gate.seed['val-8']!.count;
    expect(state.gate.seed['val-7']!.count).toBe(others + 3);
  });

  it('leaves a record that speaks of the part that was saved', async () => {
    const { state, facts } = await salvage('GAIN', {});
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ action: 'reject', isPartial: true });
    const [record] = state.history;
    expect(record).toMatchObject({ action: 'accept_new_best', verdict: 'accept', selectionHard: 1 });
    expect(record!.verdictReason).toBe(ofType(facts, 'salvage-end')[0]!.accepted!.decision!.reason);
    expect(record).not.toHaveProperty('isPartial');
    expect(record).not.toHaveProperty('nItemsMet');
  });

  it.each([23, 24, 36, 48, 72, 100])('takes no more than %i rollouts', async (salvageRollouts) => {
    // Each part shines in its first pass and fails the second, so that a try takes two.
    const seen = new Map<string, number>();
    const isWhole = (skill: string) => skill.includes('E1') && skill.includes('E4');
    const fickle: Solves = (skill, { id, k }) => {
      const times = seen.get(skill + id) ?? 0;
      seen.set(skill + id, times + 1);
      if (!skill.includes('E')) return k < 6;
      return !isWhole(skill) && k < (times === 0 ? 8 : 2);
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
    expect(ofParts).toHaveLength(24 * tries.length);
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

describe('the final measurement', () => {
  it('is made of draws that the search has not seen, however many it saw', async () => {
    /** Each later candidate wins and loses the protected task: five re-rolls of it under the current skill. */
    const solves: Solves = (skill, { k }) => {
      if (skill.includes('BREAK')) return k !== 9;
      return k >= (skill.includes('GAIN') ? 6 : 14);
    };
    const { requests, state } = await scriptedRun({
      solves,
      sizes: { train: 102, val: 24, test: 0 },
      script: { analyst: ({ step }) => appends(step === 1 ? 'GAIN' : `BREAK ${step}`) },
      config: { ...PAIRED, proposalsPerBatch: 1, batchSize: 1, finalPasses: 2, protectedItems: ['val-9'] },
    }).then((run) => ({ ...run, state: run.store.events.reduce(reduce, emptyRun) }));
    expect(state.finalMeasurement).toMatchObject({ hash: skillHash('# Skill\n\nGAIN\n') });
    const drawn = requests.target
      .filter(({ messages: [system, user] }) => system!.content === state.best.skill && user!.content.includes('val-9'))
      .map(({ sampleIndex = 0 }) => sampleIndex);
    const inSearch = state.gate.draws['val-9']!;
    expect(inSearch).toBeGreaterThan(502);
    expect(new Set(drawn).size, 'the fresh ones are asked for, not remembered').toBe(inSearch + 2);
  });
});
