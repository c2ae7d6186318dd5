import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAnswer } from '../../src/app/index.ts';
import { checkSkill } from '../../src/app/scoring/evaluate.ts';
import { bucketScores, type RolloutResult, toEvaluation } from '../../src/core/contracts/index.ts';
import { stateViews, summarize } from '../../src/core/run/index.ts';
import { whyUnscored } from '../../src/pipeline/index.ts';
import {
  checkMarkdown,
  colorsFor,
  type EvalReport,
  evalLines,
  evalValue,
  junitText,
  reportLines,
  reportView,
  type ScoredDocument,
} from '../../src/report/index.ts';
import { impossibleValues, impossibleWords } from '../support/impossible.ts';
import { resultsOf, runOf, type Scores, type Told } from '../support/told-run.ts';

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
        const value = evalValue(report) as Record<string, any>;
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
