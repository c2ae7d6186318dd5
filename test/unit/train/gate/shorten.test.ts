import {
  emptyRun,
  memoryRun,
  type Progress,
  type RunEvent,
  reduce,
  type SkillOptConfigInput,
  type TrainerOptions,
} from 'skillopt';
import { describe, expect, it } from 'vitest';
import { listEdits } from '../../../../src/core/run/index.ts';
import { eventLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, type Call, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';

/** 5 of 20 tasks are solved; GAIN solves 8 more, and HELP 4 others. */
const solves = (skill: string, { k }: Task) =>
  k % 20 < 5 || (k % 20 < 13 && skill.includes('GAIN')) || (k % 20 >= 16 && skill.includes('HELP'));

/** One analyst, and a step for each epoch. */
const PAIRED: SkillOptConfigInput = {
  ...{ gate: 'paired', numEpochs: 1, batchSize: 20, minibatchSize: 20, failureOnly: true, evalTest: false },
};

type Store = ReturnType<typeof memoryRun>;
type Analyst = (call: Call) => ReturnType<typeof appends>;
type Options = {
  readonly script?: Script;
  readonly train?: number;
  readonly store?: Store;
  readonly options?: Partial<TrainerOptions<Task>>;
};

/** Step by step what is appended, each line for one failed task; then nothing. */
const says =
  (...steps: readonly (readonly string[])[]): Analyst =>
  ({ step }) => {
    const edits = (steps[step - 1] ?? []).map((content) => ({ op: 'append', content, support_count: 1 }));
    return { patch: { reasoning: '', edits } };
  };

async function run(
  analyst: Analyst,
  config: SkillOptConfigInput = {},
  { train = 20, store = memoryRun(), script, options }: Options = {},
) {
  const played = await scriptedRun({
    solves,
    sizes: { train, val: 20, test: 0 },
    script: { analyst, ...script },
    config: { ...PAIRED, ...config },
    store,
    ...(options ? { options } : {}),
  });
  const tried = ofType(played.facts, 'shorten-end');
  return { ...played, tried, state: played.store.events.reduce(reduce, emptyRun) };
}

const lines = (skill: string) => skill.split('\n').filter((line) => line !== '');
const idle = says(['GAIN', 'HELP', 'Idle one.', 'Idle two.']);

describe('after the search', () => {
  it('what nothing supports is taken out at once where the skill is no worse without', async () => {
    const { tried, summary, state } = await run(says(['GAIN'], ['HELP', 'Idle one.', 'Idle two.']), { numEpochs: 2 });
    expect(tried.map(({ removed, action }) => [removed.join(' + '), action])).toEqual([
      ['HELP + Idle one. + Idle two.', 'reject'],
      ['HELP + Idle one.', 'reject'],
      ['Idle two.', 'accept_new_best'],
      ['HELP', 'reject'],
      ['Idle one.', 'accept_new_best'],
    ]);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'GAIN', 'HELP']);
    expect(summary).toMatchObject({ bestOrigin: 'shortened', currentOrigin: 'shortened' });
    expect(state.current.skill).toBe(summary.bestSkill);
    expect(listEdits(state).map(({ content, fate }) => [content, fate])).toEqual([
      ['GAIN', 'accepted'],
      ['HELP', 'accepted'],
      ['Idle one.', 'removed'],
      ['Idle two.', 'removed'],
    ]);
  });

  it('halves are tried where all of it was missed, at most five tries in all, each with its place', async () => {
    const { tried, summary } = await run(idle);
    expect(tried.map(({ removed }) => removed.join(' + '))).toEqual([
      'GAIN + HELP + Idle one. + Idle two.',
      'GAIN + HELP',
      'Idle one. + Idle two.',
      'GAIN',
      'HELP',
    ]);
    expect(tried.map(({ place }) => place)).toEqual([1, 2, 3, 4, 5]);
    expect(tried.map(({ action }) => action)).toEqual(['reject', 'reject', 'accept_new_best', 'reject', 'reject']);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'GAIN', 'HELP']);
  });

  it('what five tries did not come to stays', async () => {
    const { tried, summary } = await run(says(['GAIN', 'Idle one.', 'Idle two.', 'HELP']));
    expect(tried.map(({ removed }) => removed.join(' + '))).toEqual([
      'GAIN + Idle one. + Idle two. + HELP',
      'GAIN + Idle one.',
      'Idle two. + HELP',
      'GAIN',
      'Idle one.',
    ]);
    expect(tried.at(-1)!.next).toEqual([['Idle two.'], ['HELP']]);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'GAIN', 'Idle two.', 'HELP']);
  });

  it('what helps stays, whatever else is tried', async () => {
    const { tried, summary, state } = await run(says(['GAIN', 'HELP']));
    expect(tried.length).toBeGreaterThan(0);
    expectEvery(tried, ({ action, decision }) => action === 'reject' && decision!.expectedGain < 0);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'GAIN', 'HELP']);
    expect(state.best.origin).toBe('step_0001');
  });

  it('what was measured alone and gained is no suspect', async () => {
    const { tried } = await run(says(['GAIN'], ['HELP', 'Idle one.']), { numEpochs: 2 });
    expect(tried.length).toBeGreaterThan(0);
    expectEvery(tried, ({ removed }) => !removed.includes('GAIN'));
    const { tried: nothing } = await run(says(['GAIN'], ['HELP']), { numEpochs: 2 });
    expect(nothing).toEqual([]);
  });

  it('only whole lines are taken out: one that a later edit has made longer stays', async () => {
    const [longer, led] = ['Idle one. And GAIN.', 'Above all: idle two.'];
    const edits = [
      { op: 'replace', target: 'Idle one.', content: longer },
      { op: 'replace', target: 'idle two.', content: led },
    ];
    const lengthen: Analyst = (call) =>
      call.step === 1
        ? says(['HELP', 'Idle one.', 'idle two.', 'Idle three.'])(call)
        : { patch: { reasoning: '', edits } };
    const { tried, summary } = await run(lengthen, { numEpochs: 2 });
    expect(tried.map(({ removed, action }) => [removed.join(' + '), action])).toEqual([
      ['HELP + Idle three.', 'reject'],
      ['HELP', 'reject'],
      ['Idle three.', 'accept_new_best'],
    ]);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'HELP', longer, led]);
  });

  it('a line that was tried alone is known by what the skill lost without it', async () => {
    const { state } = await run(idle);
    const { edits, editEffects } = state.history[0]!;
    const effectOf = (line: string) => editEffects![edits.findIndex(({ content }) => content === line)];
    expect(effectOf('HELP')).toMatchObject({ measuredBy: 'removal' });
    expect(effectOf('HELP')!.gain).toBeGreaterThan(0);
  });

  it('nothing is tried where the initial skill was best', async () => {
    const { tried } = await run(says(['Idle one.', 'Idle two.']));
    expect(tried).toEqual([]);
  });

  it('no optimizer is asked', async () => {
    const asked: string[] = [];
    const phases: string[] = [];
    const observers = [{ onProgress: ({ phase }: Progress) => void phases.push(phase) }];
    const noting: Analyst = (call) => {
      asked.push(phases.at(-1) ?? '');
      return idle(call);
    };
    const { tried, calls } = await run(noting, {}, { options: { observers } });
    const without = await run(idle, { tryShorter: false });
    expect(tried).toHaveLength(5);
    expect(phases).toContain('shorten');
    expect(calls.length).toBe(without.calls.length);
    expect(asked).not.toContain('shorten');
  });

  it.each<SkillOptConfigInput>([
    { tryShorter: false },
    { maxCalls: 1_000_000 },
    { gate: 'strict' },
    { useGate: false },
    { preset: 'paper', gate: 'paired' },
  ])('everything stays as it is under %o', async (config) => {
    const { tried, summary } = await run(idle, config);
    expect(tried).toEqual([]);
    expect(lines(summary.bestSkill)).toEqual(['# Skill', 'GAIN', 'HELP', 'Idle one.', 'Idle two.']);
  });

  it('only rollouts that are left are spent: first none, then some, then all five tries', async () => {
    /** A step takes so many rollouts that there is but one, and something is left. */
    const large = { fitValidation: false, optimizerRatio: 0, finalPasses: 1, batchSize: 60, accumulation: 2 };
    const tries: number[] = [];
    for (let maxRollouts = 190; maxRollouts <= 310; maxRollouts += 20) {
      let isSaid = false;
      const once: Analyst = (call) => {
        const said = isSaid ? appends() : idle(call);
        isSaid = true;
        return said;
      };
      const { tried, rollouts, state, summary, facts } = await run(once, { ...large, maxRollouts }, { train: 120 });
      expect(ofType(facts, 'search-end')).toMatchObject([{ reason: 'rollouts_spent' }]);
      tries.push(tried.length);
      expect(rollouts.length).toBeLessThanOrEqual(maxRollouts);
      expect(state.rollouts).toBeLessThanOrEqual(maxRollouts);
      expect(state.rollouts).toBeGreaterThanOrEqual(rollouts.length);
      expect(summary.finalScore, 'the final measurement is kept back').not.toBeNull();
    }
    expect(tries).toEqual([...tries].sort((a, b) => a - b));
    expect([tries[0], tries.at(-1)]).toEqual([0, 5]);
    expect(new Set(tries).size).toBeGreaterThan(2);
  });

  it('its lines are said with how it went', async () => {
    const { store } = await run(idle);
    const said = store.events.flatMap((event, index) => {
      const before = store.events.slice(0, index).reduce(reduce, emptyRun);
      if (event.type !== 'shorten-end') return [];
      return eventLines(event, { before, after: reduce(before, event) }, { width: 100, colors: noColors });
    });
    expect(said.filter((line) => line.includes('without'))).toEqual([
      expect.stringMatching(/^✗ without 4 lines .*: likely worse, kept$/),
      expect.stringMatching(/^✗ without 2 lines .*: likely worse, kept$/),
      expect.stringMatching(/^✓ without 2 lines .*: no worse, taken out +\d/),
      ...Array(2).fill(expect.stringMatching(/^✗ without 1 line .*: likely worse, kept$/)),
    ]);
  });
});

describe('a run that ends by shortening', () => {
  it('meets the same facts with one worker and with sixteen', async () => {
    const [one, many] = await Promise.all([1, 16].map((workers) => run(idle, { workers })));
    expect(one!.tried).toHaveLength(5);
    expect(many!.facts.slice(1)).toEqual(one!.facts.slice(1));
  });

  it('meets the same end when it is resumed', async () => {
    const whole = await run(idle);
    for (let cut = 1; cut < whole.store.events.length; cut++) {
      const again = await run(idle, {}, { store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });

  it('meets the same end when it is stopped in the middle of each try', async () => {
    const whole = await run(idle);
    for (const place of [1, 3, 5]) {
      const store = memoryRun();
      const stop = new AbortController();
      let [tries, seen] = [0, 0];
      const onEvent = ({ type }: RunEvent) => {
        if (type === 'shorten-end') [tries, seen] = [tries + 1, 0];
      };
      const onProgress = ({ phase }: Progress) => {
        if (phase === 'shorten' && ++seen === 3 && tries === place - 1) stop.abort();
      };
      const stopped = run(idle, {}, { store, options: { observers: [{ onEvent, onProgress }], signal: stop.signal } });
      await expect(stopped).rejects.toThrow();
      expect(ofType(store.events, 'shorten-end')).toHaveLength(place - 1);
      const again = await run(idle, {}, { store });
      expect(again.facts, `stopped in try ${place}`).toEqual(whole.facts);
    }
  });

  it('meets the same end when it is resumed after guidance has become the best at last', async () => {
    const script: Script = { slow_update: () => ({ slow_update_content: 'HELP' }) };
    const config = { useSlowUpdate: true, slowUpdateGate: false, numEpochs: 2 };
    const play = (store?: Store) =>
      run(says(['GAIN', 'Idle one.', 'Idle two.']), config, { script, ...(store && { store }) });
    const whole = await play();
    const selected = whole.facts.findIndex(({ type }) => type === 'final-selection-end');
    expect(whole.facts[selected]).toMatchObject({ isPromoted: true });
    const again = await play(memoryRun(whole.store.events.slice(0, selected + 1)));
    expect(again.facts).toEqual(whole.facts);
  });

  it('is left as it is once it is over, also if an earlier version ended it', async () => {
    const whole = await run(idle);
    const ended = whole.store.events.filter(({ type }) => type !== 'shorten-end');
    const again = await run(idle, {}, { store: memoryRun(ended) });
    expect([again.tried, again.rollouts]).toEqual([[], []]);
    expect(again.facts).toHaveLength(ended.length);
  });
});
