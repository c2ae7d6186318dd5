import { type Evaluation, parseConfig, type RolloutResult, toEvaluation } from '../../src/core/contracts/index.ts';
import {
  emptyRun,
  type RunEvent,
  type RunFact,
  type RunState,
  reduce,
  toEvidence,
  toObservations,
} from '../../src/core/run/index.ts';
import { addObservations, finalReport, noEvidence } from '../../src/public/stats.ts';

/** Scores of tasks by their place; `null` where the judge gave no verdict. */
export type Scores = readonly (number | null)[];

export type Told = {
  readonly seed: Scores;
  /** Passes of the winner that nothing was chosen by. */
  readonly fresh: readonly Scores[];
  readonly test: { readonly before: Scores; readonly after: Scores } | undefined;
  readonly isChanged: boolean;
  readonly isDone: boolean;
  readonly isUnread: boolean;
};

const stamp = { at: '2026-01-01T00:00:00.000Z', ms: 10, usage: {} };
const toEvent = (fact: RunFact) => ({ ...stamp, ...fact }) as RunEvent;

export const resultsOf = (scores: Scores, name: string): RolloutResult[] =>
  scores.map((score, at) => {
    const result = {
      id: `${name}-${at}`,
      hard: Math.floor(score ?? 0),
      soft: score ?? 0,
      taskType: at % 3 === 0 ? 'dates' : 'money',
    };
    return score === null ? { ...result, errored: true, unjudged: true, failReason: 'no verdict' } : result;
  });

const evaluation = (scores: Scores, name: string): Evaluation => toEvaluation(resultsOf(scores, name));

/** A run by its journal: the seed, a winner that was measured again, and perhaps the test. */
export function runOf(
  { seed, fresh, test, isChanged, isDone, isUnread }: Told,
  metric: 'hard' | 'soft' | 'mixed' = 'hard',
): RunState {
  const items = { train: 4, val: seed.length, test: test?.before.length ?? 0 };
  const config = parseConfig({ gateMetric: metric, gateMixedWeight: 0.3 });
  const start = { type: 'run-start', format: 1, identity: {}, config, env: 'e', target: 't', optimizer: 'o' } as const;
  const first = evaluation(seed, 'val');
  const begun = [
    { ...start, initialSkill: '# A\n', totalSteps: 4, items },
    { type: 'baseline-end', evaluation: first, score: first[metric === 'hard' ? 'hard' : 'soft'] },
  ]
    .map((fact) => toEvent(fact as RunFact))
    .reduce(reduce, emptyRun);
  const won = { ...begun.best, skill: '# A\n- b\n', hash: 'won', origin: 'step_0001', score: 0.5 };
  const searched: RunState = {
    ...begun,
    stepsDone: 1,
    ...(isChanged ? { best: won } : {}),
    ...(isUnread ? { answers: { analyst: { read: 0, unreadable: 3 } } } : {}),
    ...(isDone ? { final: { hard: 0, soft: 0, score: 0 } } : {}),
  };
  const passes = fresh.map((scores) => evaluation(scores, 'val'));
  const evidence = addObservations(
    noEvidence,
    passes.flatMap(({ scores }) => toObservations(scores, config)),
  );
  const report = finalReport({ fresh: evidence, seed: toEvidence(begun.gate.seed), isSeed: !isChanged });
  const tested = (subject: string, scores: Scores) => {
    return { type: 'test-end', subject, evaluation: evaluation(scores, 'test'), taskTypes: [] };
  };
  const end = [
    { type: 'final-measurement-end', hash: searched.best.hash, passes, ...report },
    ...(test ? [tested('baseline', test.before), tested('best', isChanged ? test.after : test.before)] : []),
    ...(isDone ? [{ type: 'run-end' }] : []),
  ];
  return end.map((fact) => toEvent(fact as RunFact)).reduce(reduce, searched);
}
