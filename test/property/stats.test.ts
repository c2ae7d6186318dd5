import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeScore, evaluateGate } from '../../src/core/contracts/index.ts';
import {
  addObservations,
  calibrate,
  combineJudgements,
  type Evidence,
  exactRace,
  finalReport,
  findFlips,
  findLeaks,
  hardestFirst,
  inherit,
  judgeWave,
  type Knowledge,
  noEvidence,
  noKnowledge,
  planWaves,
  raceOrder,
  regressionVeto,
  settingsFor,
  tQuantile,
} from '../../src/public/stats.ts';

const anyScore = fc.oneof(
  fc.constantFrom(0, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constant(null),
  fc.double(),
);
const id = fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__', '0'), fc.string({ maxLength: 5 }));
const observation = fc.record({ id, score: anyScore });
const evidence = fc.array(observation, { maxLength: 40 }).map((list) => addObservations(noEvidence, list));
const known = fc
  .record({
    own: evidence,
    inherited: fc.array(
      fc.tuple(id, fc.record({ sum: fc.double({ min: 0, max: 1, noNaN: true }), count: fc.constant(1) })),
    ),
    freedom: fc.nat(50),
  })
  .map(({ own, inherited, freedom }): Knowledge => {
    return { own, inherited: new Map(inherited), repeats: { squares: freedom / 8, freedom } };
  });
const binaryPair = fc.array(
  fc.record({ before: fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 4 }), after: fc.constantFrom(0, 1) }),
  { minLength: 1, maxLength: 30 },
);

const toEvidence = (lists: readonly (readonly number[])[]): Evidence =>
  addObservations(
    noEvidence,
    lists.flatMap((scores, i) => scores.map((score) => ({ id: `item${i}`, score }))),
  );

describe('the statistics', () => {
  it('never throw, whatever was observed', () => {
    fc.assert(
      fc.property(known, evidence, fc.array(id), fc.array(id), (knowledge, observed, missing, remaining) => {
        const { own } = knowledge;
        const judged = judgeWave({ knowledge, observed, missing, remaining });
        expect(['continue', 'accept', 'reject', 'inconclusive', 'invalid']).toContain(judged.verdict);
        calibrate(own);
        finalReport({ fresh: observed, seed: own });
        const flips = findFlips({ incumbent: own, candidate: observed });
        const again = flips.flatMap(({ id }) => [0, 0.5, 1, null].map((score) => ({ id, score })));
        regressionVeto({ flips, incumbent: again, candidate: again });
        inherit({ knowledge, observed, ids: [...observed.keys(), ...remaining] });
      }),
    );
  });

  it('have figures for all scores from 0 to 1', () => {
    fc.assert(
      fc.property(known, evidence, fc.array(id), (knowledge, observed, remaining) => {
        const isInRange = ({ sum, count }: { sum: number; count: number }) => sum >= 0 && sum <= count;
        fc.pre([...knowledge.own.values(), ...observed.values()].every(isInRange));
        const unmet = remaining.filter((item) => !observed.has(item));
        const { expectedGain, chance, meanGain } = judgeWave({ knowledge, observed, remaining: unmet });
        for (const figure of [expectedGain, chance, meanGain]) expect(Math.abs(figure)).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  it('end every race: after a second pass, or where there is none, there is a verdict', () => {
    fc.assert(
      fc.property(known, evidence, (knowledge, observed) => {
        const input = { knowledge, observed, remaining: [] };
        const settings = { ...settingsFor(knowledge, [...observed.keys()], 40), hasSecondPass: false };
        expect(judgeWave({ ...input, isSecondPass: true }).verdict).not.toBe('continue');
        expect(judgeWave({ ...input, settings }).verdict).not.toBe('continue');
      }),
    );
  });

  it('are monotone: one more pass never lowers what is expected of a candidate', () => {
    fc.assert(
      fc.property(binaryPair, fc.nat(), (items, pick) => {
        const knowledge = { ...noKnowledge, own: toEvidence(items.map(({ before }) => before)) };
        const judge = (better: number) =>
          judgeWave({
            knowledge,
            observed: toEvidence(items.map(({ after }, i) => [i === better ? 1 : after])),
            remaining: [],
          });
        const [more, less] = [judge(pick % items.length), judge(-1)];
        expect(more.expectedGain).toBeGreaterThanOrEqual(less.expectedGain - 1e-9);
        expect(more.meanGain).toBeGreaterThanOrEqual(less.meanGain - 1e-9);
      }),
    );
  });

  it('plan waves that rise to the whole set', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), (n) => {
        const waves = planWaves(n);
        expect(waves.at(-1)).toBe(n);
        expect([...waves].sort((a, b) => a - b)).toEqual(waves);
        expect(new Set(waves).size).toBe(waves.length);
      }),
    );
  });

  it('put items in order without losing one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id), evidence, (items, seen) => {
        const rateOf = (item: string) => seen.get(item)?.sum ?? 0.5;
        for (const order of [raceOrder(items, rateOf), hardestFirst(items, seen)]) {
          expect([...order].sort()).toEqual([...items].sort());
        }
      }),
    );
  });

  it('have quantiles that rise with the probability and fall with the degrees of freedom', () => {
    const probability = fc.double({ min: 0.51, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(probability, fc.integer({ min: 1, max: 300 }), (p, freedom) => {
        expect(tQuantile(p, freedom)).toBeGreaterThan(tQuantile(p - 0.005, freedom));
        expect(tQuantile(p, freedom)).toBeGreaterThanOrEqual(tQuantile(p, freedom + 1) - 1e-9);
      }),
    );
  });
});

describe('the exact race', () => {
  const score = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1) },
    fc.constantFrom(0.1, 0.2, 0.3),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constant(null),
  );

  it('decides as the strict gate does, in any order, at any point, with errors', () => {
    const run = fc.record({
      scores: fc.oneof(
        fc.array(fc.constantFrom<number | null>(0, 1), { minLength: 1, maxLength: 30 }),
        fc.array(score, { minLength: 1, maxLength: 30 }),
      ),
      near: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
    });
    fc.assert(
      fc.property(run, fc.boolean(), fc.boolean(), ({ scores, near }, isTie, isPlainMean) => {
        const results = scores.map((hard) => ({ hard: hard ?? 0, soft: 0, errored: hard === null }));
        const [full] = computeScore(results);
        const bar = isTie ? full : full + near;
        const isAccepted = strictAccepts(full, bar);
        const order = [...scores].sort((a, b) => (a ?? 0) - (b ?? 0));
        for (let met = 0; met <= order.length; met++) {
          const { state, upperBound, lowerBound } = exactRace({
            bar,
            isPlainMean,
            finished: order.slice(0, met),
            remaining: order.length - met,
          });
          if (state === 'cannot-win') expect(isAccepted).toBe(false);
          if (state === 'must-win' && results.some(({ errored }) => !errored)) expect(isAccepted).toBe(true);
          expect(full).toBeLessThanOrEqual(upperBound + 1e-9);
          expect(full).toBeGreaterThanOrEqual(lowerBound - 1e-9);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function strictAccepts(score: number, bar: number): boolean {
  const skills = { candidateSkill: 'new', currentSkill: 'old', bestSkill: 'old', bestStep: 0, globalStep: 1 };
  return evaluateGate({ ...skills, candHard: score, currentScore: bar, bestScore: bar }).action !== 'reject';
}

describe('critics', () => {
  it('never throw, and refuse an edit that is a held-out text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(text, text, fc.constantFrom('train', 'val', 'test'), (edit, other, split) => {
        findLeaks({ edit, items: [{ id: other, split, texts: [other], answers: [edit] }], contract: [other] });
      }),
    );
    const words = fc.array(fc.constantFrom('red', 'blue', 'green', 'slow', 'fast'), { minLength: 5, maxLength: 9 });
    fc.assert(
      fc.property(words, (list) => {
        const items = [{ id: 'only-one', split: 'val' as const, texts: [list.join(' ')], answers: [] }];
        expect(findLeaks({ edit: `Say ${list.join(', ')}!`, items }).isRefused).toBe(true);
      }),
    );
  });

  it('refuse the question and the distinctive answer of any training task, and no rule without an answer', () => {
    const word = fc.stringMatching(/^[b-df-hj-np-tv-z][aeiou][b-df-hj-np-tv-z]{4}$/);
    const name = word.map((text) => text[0]!.toUpperCase() + text.slice(1));
    const figure = fc.integer({ min: 1_000, max: 9_999 }).filter((value) => value % 10 > 0);
    const code = fc.stringMatching(/^[b-df-hj-np-tv-z]{6}[1-9]{6}$/);
    const answer = fc.oneof(
      name,
      figure.map(String),
      fc.tuple(name, name).map((names) => names.join(' ')),
      code,
    );
    const asked = fc.array(word, { minLength: 3, maxLength: 12 }).map((words) => `What is the ${words.join(' ')}?`);
    const tasks = fc.uniqueArray(fc.record({ asked, answer }), {
      ...{ minLength: 1, maxLength: 12 },
      selector: ({ answer: one }) => one.toLowerCase(),
    });
    fc.assert(
      fc.property(tasks, fc.nat(), fc.lorem({ mode: 'sentences' }), (list, at, rule) => {
        const items = list.map(({ asked: text, answer: one }, index) => ({
          ...{ id: `train-${index}`, split: 'train' as const, texts: [text], answers: [one] },
        }));
        const { id, texts, answers } = items[at % items.length]!;
        const { reason, copied } = findLeaks({ edit: `${rule}\n${texts[0]} ${answers[0]}`, items });
        expect(copied.map((found) => found.id)).toContain(id);
        expect(reason).toContain('it repeats the answer of training task');
        expect(findLeaks({ edit: `${rule} For the ${texts[0]!.slice(12)} look twice.`, items }).isRefused).toBe(false);
      }),
    );
  });

  it('combine any judgements', () => {
    const judgement = fc.record({ id, rollout: fc.nat(3), score: anyScore });
    fc.assert(
      fc.property(fc.array(judgement), (judgements) => {
        const { missingShare } = combineJudgements(judgements);
        expect(missingShare).toBeGreaterThanOrEqual(0);
        expect(missingShare).toBeLessThanOrEqual(1);
      }),
    );
  });
});
