import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAnswer } from '../../src/app/index.ts';
import { priceStages } from '../../src/app/price-estimate.ts';
import { checkSkill } from '../../src/app/scoring/evaluate.ts';
import { bucketScores, parseConfig, type RolloutResult, toEvaluation } from '../../src/core/contracts/index.ts';
import { noStageUsage, stateViews, summarize } from '../../src/core/run/index.ts';
import { whyUnscored } from '../../src/pipeline/index.ts';
import {
  checkMarkdown,
  colorsFor,
  type EvalReport,
  estimateLines,
  evalLines,
  evalValue,
  junitText,
  reportLines,
  reportView,
  type ScoredDocument,
} from '../../src/report/index.ts';
import { estimateRun } from '../../src/train/index.ts';
import { resultsOf, runOf, type Scores, type Told } from '../support/told-run.ts';
import { impossibleValues, impossibleWords } from './impossible.ts';

const METRICS = ['hard', 'soft', 'mixed'] as const;
const score = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs) },
  { weight: 1, arbitrary: fc.constant(null) },
);
/** Few tasks, since a single one shows the most; and often all alike. */
const scores = (length: number): fc.Arbitrary<Scores> =>
  fc.oneof(
    fc.array(score, { minLength: length, maxLength: length }),
    fc.constantFrom(0, 1, null).map((all) => Array.from({ length }, () => all)),
  );
const size = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 20 }));

const told: fc.Arbitrary<Told> = fc.tuple(size, size).chain(([val, tests]) =>
  fc.record({
    seed: scores(val),
    fresh: fc.array(scores(val), { minLength: 1, maxLength: 3 }),
    test: fc.option(fc.record({ before: scores(tests), after: scores(tests) }), { nil: undefined }),
    isChanged: fc.boolean(),
    isDone: fc.boolean(),
    isUnread: fc.constant(false),
  }),
);

const style = { width: 100, colors: colorsFor({}, {}) };
const PLACE = { run: 'r', bestSkillPath: 'runs/r/best_skill.md' };

describe('the figures of any run', () => {
  it('are possible, in lines for people, in report.md, in summary.json and with --json', () => {
    fc.assert(
      fc.property(told, fc.constantFrom(...METRICS), (run, metric) => {
        const state = runOf(run, metric);
        const lines = reportLines(state, { ...style, ...PLACE, isComplete: true });
        expect(impossibleWords([...lines, reportView(state, 'runs/r')].join('\n'))).toEqual([]);
        const answer = runAnswer({ path: '/p/runs/r', name: 'r', state } as never, { cwd: '/p' });
        expect(impossibleValues(answer)).toEqual([]);
        expect(impossibleValues(summarize(state))).toEqual([]);
        const event = { type: 'run-end', at: '', ms: 0, usage: {} } as const;
        expect(impossibleValues(JSON.parse(stateViews(event, state, 'runs/r')['summary.json']!))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the figures of any provider', () => {
  it('are shown as shares of a whole only where they are', () => {
    const amount = fc.integer({ min: 0, max: 3 });
    const counts = fc.record({
      replies: fc.constant(5),
      input: amount,
      cached: amount,
      output: amount,
      reasoning: amount,
    });
    fc.assert(
      fc.property(told, counts, (run, used) => {
        const state = { ...runOf(run), usage: { rollout: { ...noStageUsage, ...used } } };
        expect(impossibleWords(reportLines(state, { ...style, ...PLACE, isComplete: true }).join('\n'))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the figures of any estimate', () => {
  const tokens = { skill: 100, item: 20.5, optimizerPrompt: 400.3, targetReply: 150, optimizerReply: 600, edit: 40 };
  const sizes = fc.record({ train: fc.integer({ min: 1, max: 60 }), val: size, test: size });
  const settings = fc.record({
    gate: fc.constantFrom('paired', 'strict'),
    proposalsPerBatch: fc.integer({ min: 1, max: 3 }),
    maxRollouts: fc.constantFrom(undefined, 500),
    salvage: fc.boolean(),
    prune: fc.boolean(),
  });

  it('are whole calls and tokens, from the least to the most', () => {
    fc.assert(
      fc.property(sizes, settings, fc.constantFrom(0, 1, 2, 12 / 7, 0.25), (items, chosen, judgeCalls) => {
        const stages = estimateRun({ config: parseConfig(chosen as object), items, tokens, judgeCalls });
        const model = 'openai:gpt-5-mini';
        const costs = priceStages(stages, { target: model, optimizer: model, judge: model }, {});
        const ranges = [...costs.stages.flatMap(({ calls, inputTokens }) => [calls, inputTokens]), costs.totals.calls];
        for (const { low, high } of ranges)
          expect([Number.isInteger(low), Number.isInteger(high), low <= high]).toEqual([true, true, true]);
        expect(impossibleWords(estimateLines(costs, style).join('\n'))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

function documentOf(name: string, results: readonly RolloutResult[]): ScoredDocument {
  const evaluation = toEvaluation(results);
  const whole = { evaluation, results, buckets: bucketScores(evaluation.scores) };
  const cost = { calls: 3, tokens: 5, costUsd: 0.01, isPriced: true };
  return {
    document: name,
    text: name,
    splits: { test: whole },
    whole,
    cost,
    testLooks: 1,
    taskTypes: [],
    version: undefined,
    unmeasured: whyUnscored(results, 1),
  };
}

function reportOf(
  now: Scores,
  before: Scores | undefined,
  metric: (typeof METRICS)[number],
  minScore: number | undefined,
): EvalReport {
  const scored = documentOf('NEW.md', resultsOf(now, 't'));
  const baseline = before && documentOf('OLD.md', resultsOf(before, 't'));
  const check = checkSkill({ scored, baseline, minScore, config: { gateMetric: metric, gateMixedWeight: 0.3 } });
  return { split: 'test', scored, baseline, check };
}

describe('the figures of any check', () => {
  const tables = size.chain((n) => fc.tuple(scores(n), fc.option(scores(n), { nil: undefined })));
  const bar = fc.constantFrom(undefined, 0, 0.5);

  it('are possible, in lines, pages, JUnit and with --json', () => {
    fc.assert(
      fc.property(tables, fc.constantFrom(...METRICS), bar, ([now, before], metric, minScore) => {
        const report = reportOf(now, before, metric, minScore);
        const text = [...evalLines(report, style), checkMarkdown(report)].join('\n');
        expect(impossibleWords(text)).toEqual([]);
        expect(junitText(report, { gateMetric: metric, gateMixedWeight: 0.3 })).not.toMatch(
          /NaN|Infinity|undefined|"-/,
        );
        expect(impossibleValues(JSON.parse(JSON.stringify(evalValue(report))))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('are left out for tasks without a verdict: a task that nobody scored has no 0', () => {
    fc.assert(
      fc.property(size, fc.constantFrom(...METRICS), bar, (n, metric, minScore) => {
        const report = reportOf(
          Array.from({ length: n }, () => null),
          undefined,
          metric,
          minScore,
        );
        const shown = [...evalLines(report, style), checkMarkdown(report)]
          .join('\n')
          .replace('50.0 %', '')
          .replace('0.0 % were', '');
        expect(shown).not.toMatch(/\d %/);
        expect(shown.toLowerCase()).toContain('not measured');
        const value = evalValue(report) as { tasks: object[]; buckets: object };
        expect(value).toMatchObject({
          hard: null,
          soft: null,
          verdict: { kind: 'not-measured', isPassed: false, score: null },
        });
        expect(value.tasks[0]).toMatchObject({ hard: null, soft: null, errored: true });
        expect(Object.values(value.buckets)).toContainEqual({ total: 0, hard: null, soft: null });
        expect(junitText(report, { gateMetric: metric, gateMixedWeight: 0.3 })).not.toContain('name="score"');
      }),
    );
  });
});
