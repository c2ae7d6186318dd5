import {
  type AcceptanceRule,
  memoryRun,
  pairedRule,
  type RuleContext,
  type RuleEvidence,
  type SkillOptConfigInput,
  strictRule,
} from 'skillopt';
import { itemMean } from 'skillopt/stats';
import { describe, expect, it } from 'vitest';
import { noView, projectRun, runFigures } from '../../../../src/core/page/index.ts';
import { emptyRun, lineSupport, reduce } from '../../../../src/core/run/index.ts';
import { appends, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

/** `GAIN` solves tasks 0 to 5. What stands before it is solved without: 6 to 11. `BREAK=9` takes task 9 away again. */
const solves = (skill: string, { k }: Task) =>
  k < 6 ? skill.includes('GAIN') : !skill.includes(`BREAK=${k} `) && !skill.includes(`BREAK=${k}\n`);

type Options = {
  readonly edit?: string;
  /** Further lines of the same edit. */
  readonly lines?: readonly string[];
  readonly train?: number;
  readonly val?: number;
  readonly config?: SkillOptConfigInput | undefined;
  readonly store?: ReturnType<typeof memoryRun>;
};

const run = (
  gate: AcceptanceRule | undefined,
  { edit = 'GAIN', lines = [], train = 3, val = 12, config, store = memoryRun() }: Options = {},
) =>
  scriptedRun({
    solves,
    sizes: { train, val, test: 0 },
    script: { analyst: () => appends(edit, ...lines) },
    config: {
      gate: 'paired',
      numEpochs: 1,
      batchSize: 3,
      evalTest: false,
      tryRemovals: false,
      tryShorter: false,
      ...config,
    },
    store,
    options: { gate },
  });

async function outcome(gate: AcceptanceRule, options: Options = {}) {
  const { facts, rollouts } = await run(gate, options);
  const { decision, evaluation } = ofStage(facts, 'evaluate')[0]!;
  const { action } = ofType(facts, 'step-end')[0]!;
  const attempted = rollouts.filter(({ id, skill }) => id.startsWith('val') && skill.includes('GAIN'));
  return { ...decision!, evaluation, action, attempted: attempted.map(({ id }) => id), facts };
}

/** Looks at some tasks, and takes what solves all of them. */
const solvesAll =
  (...ids: readonly string[]): AcceptanceRule =>
  ({ candidate }) => {
    const unmet = ids.filter((id) => !candidate.has(id));
    if (unmet.length > 0) return { verdict: 'continue', reason: `${unmet.length} to go`, candidate: unmet };
    const isSolved = ids.every((id) => itemMean(candidate.get(id)!) === 1);
    return isSolved ? { verdict: 'accept', reason: 'all solved' } : { verdict: 'reject', reason: 'not all solved' };
  };

/** A rule, and what it was asked with. */
function noting(rule: AcceptanceRule) {
  const asked: { readonly evidence: RuleEvidence; readonly context: RuleContext }[] = [];
  const gate: AcceptanceRule = (evidence, context) => {
    asked.push({ evidence, context });
    return rule(evidence, context);
  };
  return { gate, asked };
}

describe('an acceptance rule of the user', () => {
  it('decides by itself, on the tasks that it asked for and on no others', async () => {
    const taken = await outcome(solvesAll('val-8', 'val-1'));
    expect(taken).toMatchObject({ action: 'accept_new_best', verdict: 'accept', reason: 'all solved', total: 12 });
    expect(taken.attempted).toEqual(['val-8', 'val-1']);
    expect(taken.evaluation!.scores.map(({ id }) => id)).toEqual(['val-8', 'val-1']);
    expect(taken.waves).toMatchObject([{ met: 2, verdict: 'accept', reason: 'all solved' }]);
    const lost = await outcome(solvesAll('val-1', 'val-7'), { edit: 'GAIN BREAK=7 ' });
    expect(lost).toMatchObject({ action: 'reject', verdict: 'reject', reason: 'not all solved' });
    expect(lost.expectedGain, 'the figures are there all the same').toBeTypeOf('number');
  });

  it('gets further attempts at chosen tasks, of both sides and as often as it asks', async () => {
    const { gate, asked } = noting((evidence) => {
      const reason = `round ${evidence.rounds.length}`;
      if (evidence.rounds.length === 0) return { verdict: 'continue', reason, candidate: ['val-3', 'val-9'] };
      if (evidence.rounds.length === 1)
        return { verdict: 'continue', reason, candidate: ['val-9', 'val-0'], current: ['val-9'] };
      if (evidence.rounds.length === 2) return { verdict: 'continue', reason, current: ['val-0', 'val-9'] };
      return { verdict: 'accept', reason };
    });
    const taken = await outcome(gate);
    expect(taken.attempted).toEqual(
      ['val-3', 'val-9', 'val-9', 'val-0'].sort((a, b) => taken.attempted.indexOf(a) - taken.attempted.indexOf(b)),
    );
    const idsOf = (scores: readonly { readonly id: string }[] = []) => scores.map(({ id }) => id);
    expect(idsOf(taken.evaluation!.scores)).toEqual(['val-3', 'val-9', 'val-0']);
    expect(idsOf(taken.confirmation), 'a second attempt').toEqual(['val-9']);
    expect(idsOf(taken.refreshed)).toEqual(['val-9', 'val-0', 'val-9']);
    expect(taken.waves?.map(({ met, reason }) => [met, reason])).toEqual([
      [2, 'round 1'],
      [3, 'round 3'],
    ]);
    const { evidence, context } = asked.at(-1)!;
    expect(evidence.rounds).toEqual([
      { candidate: ['val-3', 'val-9'], current: [] },
      { candidate: ['val-9', 'val-0'], current: ['val-9'] },
      { candidate: [], current: ['val-0', 'val-9'] },
    ]);
    expect(evidence.candidate.get('val-9')).toEqual({ sum: 2, sumSquares: 2, count: 2 });
    const more = (id: string) => evidence.current.own.get(id)!.count - evidence.before.own.get(id)!.count;
    expect(['val-0', 'val-3', 'val-9'].map(more)).toEqual([1, 0, 2]);
    expect(context).toMatchObject({ metric: 'hard', isLast: false, isShorter: false, bestScore: context.currentScore });
    expect([...context.order].sort()).toEqual([...context.ids].sort());
  });

  it('may leave it open', async () => {
    const open = await outcome(() => ({ verdict: 'inconclusive', reason: 'ask a person' }));
    expect(open).toMatchObject({ action: 'reject', verdict: 'inconclusive', reason: 'ask a person', attempted: [] });
  });

  it('is asked about a skill that only leaves something out', async () => {
    const { gate, asked } = noting(solvesAll('val-1', 'val-7'));
    const { facts } = await run(gate, { lines: ['Be kind.'], train: 1, config: { tryShorter: true }, val: 20 });
    const shorter = ofType(facts, 'shorten-end').map(({ removed, decision }) => [removed.join(), decision?.reason]);
    expect(shorter).toEqual([
      ['GAIN,Be kind.', 'not all solved'],
      ['GAIN', 'not all solved'],
      ['Be kind.', 'all solved'],
    ]);
    expect(new Set(asked.map(({ context }) => context.isShorter))).toEqual(new Set([false, true]));
  });

  it('proves no line by taking whatever comes: that takes a gain that is more than luck', async () => {
    const takes =
      (count: number): AcceptanceRule =>
      ({ attempts }, { ids }) =>
        attempts.length > 0
          ? { verdict: 'accept', reason: 'whatever comes' }
          : { verdict: 'continue', reason: 'a look', candidate: ids.slice(0, count) };
    const linesOf = async (count: number, edit: string) => {
      const { store } = await run(takes(count), { edit, config: { finalPasses: 2 } });
      return lineSupport(store.events.reduce(reduce, emptyRun));
    };
    for (const count of [1, 12]) {
      expect(await linesOf(count, 'Be kind.')).toMatchObject([
        { line: 'Be kind.', standing: expect.not.stringContaining('proven') },
      ]);
    }
    const [lucky] = await linesOf(1, 'GAIN');
    expect(lucky).toMatchObject({ line: 'GAIN', standing: 'plausible' });
    expect(lucky!.gain).toBeGreaterThan(0);
    expect(await linesOf(12, 'GAIN')).toMatchObject([{ line: 'GAIN', standing: 'proven' }]);
  });

  it('is named by the page', async () => {
    const gateOf = async (gate?: AcceptanceRule, config?: SkillOptConfigInput) => {
      const { store } = await run(gate, { config });
      return runFigures(store.events.reduce(projectRun, noView)).about.gate;
    };
    expect(await gateOf(solvesAll('val-1'))).toBe('a rule of its own');
    expect(await gateOf(pairedRule)).toBe('a rule of its own');
    expect(await gateOf()).toBe('paired');
    expect(await gateOf(undefined, { useGate: false })).toBe('none');
  });

  it('may be one of ours: then nothing differs', async () => {
    const facts = async (gate?: AcceptanceRule) => (await run(gate, { config: { numEpochs: 3 } })).facts.slice(1);
    expect(await facts(pairedRule)).toEqual(await facts());
    expect((await outcome(strictRule)).attempted.length).toBe(12);
  });
});

describe('around the rule of a user', () => {
  it('the regression veto sees every task, and has the last word', async () => {
    const edit = 'GAIN BREAK=7 BREAK=9 ';
    expect(await outcome(solvesAll('val-1'), { edit })).toMatchObject({ verdict: 'accept', attempted: ['val-1'] });
    const stopped = await outcome(solvesAll('val-1'), { edit, config: { regressionVeto: true } });
    expect(stopped).toMatchObject({ verdict: 'reject', veto: { isVetoed: true } });
    expect([...stopped.veto!.regressions].sort()).toEqual(['val-7', 'val-9']);
    expect(stopped.evaluation!.scores).toHaveLength(12);
    expect(stopped.waves?.map(({ met, verdict }) => [met, verdict])).toEqual([
      [1, 'accept'],
      [12, 'accept'],
    ]);
    const protect = { edit, config: { protectedItems: ['val-7'] } };
    expect(await outcome(solvesAll('val-1', 'val-7'), protect)).toMatchObject({ verdict: 'reject' });
  });

  it('maxRollouts holds: it is told when its wish is one too many, and decides by what it has seen', async () => {
    const { gate, asked } = noting((_, { ids, isLast, rolloutsLeft }) =>
      isLast
        ? { verdict: 'accept', reason: `with ${rolloutsLeft} left` }
        : { verdict: 'continue', reason: 'more', candidate: ids.slice(0, 5) },
    );
    const { facts, rollouts } = await run(gate, { config: { maxRollouts: 45, finalPasses: 1 } });
    expect(rollouts.length).toBeLessThanOrEqual(45);
    const { decision } = ofStage(facts, 'evaluate')[0]!;
    expect(decision).toMatchObject({ verdict: 'accept', reason: expect.stringMatching(/^with [0-4] left$/) });
    expect(asked.map(({ context }) => context.isLast)).toEqual([...asked.slice(1).map(() => false), true]);
  });

  it.each([
    [
      'a limit',
      { maxRollouts: 45, finalPasses: 1, fitValidation: false },
      /^no rollouts are left after 5 of 12 items$/,
    ],
    ['no limit', {}, /^the rule asked for more than 20 attempts a task after 5 of 12 items$/],
  ])('one that goes on for ever comes to an end: with %s', async (_, config, reason) => {
    const { gate, asked } = noting((_, { ids }) => ({
      verdict: 'continue',
      reason: 'more',
      candidate: ids.slice(0, 5),
    }));
    const open = await outcome(gate, { config });
    expect(open).toMatchObject({ action: 'reject', verdict: 'inconclusive', reason: expect.stringMatching(reason) });
    expect(asked.at(-1)!.context.isLast).toBe(true);
    expect(open.attempted.length).toBeLessThanOrEqual(20 * 12);
  });

  it('a run that was cut off anywhere comes to the same end', async () => {
    const rule: AcceptanceRule = ({ candidate, rounds }, { order }) => {
      if (rounds.length < 3)
        return { verdict: 'continue', reason: 'look', candidate: order.slice(0, 4), current: order.slice(3, 5) };
      return { verdict: candidate.size > 3 ? 'accept' : 'reject', reason: 'seen' };
    };
    const config = { numEpochs: 2, maxRollouts: 150 };
    const whole = await run(rule, { config });
    for (let cut = 1; cut < whole.store.events.length; cut++) {
      const resumed = await run(rule, { config, store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(resumed.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });

  it('a run is not resumed with another rule, with another version of it, or without', async () => {
    const accept: AcceptanceRule = solvesAll('val-1');
    const { store } = await run(accept);
    const cut = () => memoryRun(store.events.slice(0, -2));
    await expect(run(accept, { store: cut() })).resolves.toMatchObject({
      summary: { bestSelectionScore: expect.any(Number) },
    });
    const other: AcceptanceRule = () => ({ verdict: 'reject', reason: 'no' });
    const renewed = Object.assign(solvesAll('val-1'), { version: '2' });
    for (const gate of [other, renewed, undefined]) {
      const refused = run(gate, { store: cut() });
      await expect(refused).rejects.toMatchObject({
        code: 'RUN_MISMATCH',
        message: expect.stringMatching(/acceptance rule has changed$/),
      });
    }
  });

  it('a rule that threw is mended, and the run goes on with it under the same version', async () => {
    const store = memoryRun();
    const broken: AcceptanceRule = Object.assign(() => missing(), { version: '1' });
    await expect(run(broken, { store })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    const mended: AcceptanceRule = Object.assign(solvesAll('val-1'), { version: '1' });
    const { summary, facts } = await run(mended, { store });
    expect(summary.isDone).toBe(true);
    expect(ofType(facts, 'run-start')).toHaveLength(1);
  });

  it('what a rule does to its arguments changes nothing', async () => {
    const rude: AcceptanceRule = (evidence, context) => {
      const ruling = pairedRule(structuredClone(evidence), structuredClone(context));
      (evidence.rounds as unknown[]).push(1);
      (context.order as string[]).reverse();
      return ruling;
    };
    const [plain, after] = [await run(pairedRule), await run(rude).then(() => run(pairedRule))];
    expect((await run(rude)).facts.slice(1)).toEqual(plain.facts.slice(1));
    expect(after.facts).toEqual(plain.facts);
  });
});

const missing = (): ReturnType<AcceptanceRule> => {
  throw new Error('a mistake');
};

describe('a rule that cannot be used', () => {
  const asks = (round: object) => () => ({ verdict: 'continue', reason: 'more', ...round });
  it.each<[what: string, rule: () => unknown, message: RegExp]>([
    ['no ruling', () => undefined, /expected a ruling, got undefined$/],
    ['a promise', async () => ({ verdict: 'accept', reason: 'later' }), /expected a ruling, got a promise$/],
    [
      'an unknown verdict',
      () => ({ verdict: 'maybe', reason: 'who knows' }),
      /"verdict" must be one of accept, reject, inconclusive, continue, got "maybe"$/,
    ],
    ['no reason', () => ({ verdict: 'reject' }), /"reason" must be a text, got undefined$/],
    ['an empty reason', () => ({ verdict: 'reject', reason: ' ' }), /"reason" must be a text, got " "$/],
    ['nothing to roll out', asks({ candidate: [], current: [] }), /it said "continue" and named no task$/],
    [
      'an unknown task',
      asks({ candidate: ['val-1', 'train-1'] }),
      /"candidate" names "train-1", which is no validation task$/,
    ],
    ['undefined', asks({ candidate: [undefined] }), /"candidate" names undefined, which is no validation task$/],
    ['a task twice', asks({ current: ['val-1', 'val-1'] }), /"current" names "val-1" twice$/],
    ['no list', asks({ current: 'val-1' }), /"current" must be a list of task ids, got "val-1"$/],
    [
      'a price that is no number',
      asks({ candidate: ['val-1'], onlyIfLeft: 'all' }),
      /"onlyIfLeft" must be a number, got "all"$/,
    ],
    [
      'a winner without an attempt',
      () => ({ verdict: 'accept', reason: 'trust me' }),
      /it accepted a candidate that has made no attempt$/,
    ],
    [
      'an error',
      () => {
        throw new TypeError('x is not a function');
      },
      /it threw: x is not a function$/,
    ],
  ])('is told so: %s', async (_, rule, message) => {
    const store = memoryRun();
    const failed = run(rule as AcceptanceRule, { store });
    await expect(failed).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
    await expect(failed).rejects.toThrow(/^gate: the acceptance rule cannot be used: /);
    expect(ofStage(store.events, 'evaluate'), 'nothing is written of it').toEqual([]);
  });

  it('is refused before anything is paid for: under settings that keep no evidence, and where it is no function', async () => {
    const refuses = async (config: SkillOptConfigInput, got: string) => {
      const store = memoryRun();
      const message = `gate: an acceptance rule needs gate: paired in the settings, got ${got}`;
      await expect(run(solvesAll('val-1'), { config, store })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message,
      });
      expect(store.events).toEqual([]);
    };
    await refuses({ gate: 'strict' }, 'gate: strict');
    await refuses({ useGate: false }, 'useGate: false');
    await expect(run('strict' as never)).rejects.toThrow('gate: an acceptance rule must be a function, got string');
  });
});
