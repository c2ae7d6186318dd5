import type { RunEvent, RunFact } from '../core/event.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import type { Views } from '../core/run-store.ts';
import { bucketScores, type Evaluation } from '../core/score.ts';
import { toSnakeCase } from '../core/snake-case.ts';
import type { RunState } from '../core/state.ts';
import { summarize } from '../core/summary.ts';

/** What an event is about but too big for the journal. It can be had again from the cache. */
export type Detail = { readonly results?: readonly RolloutResult[] };

const json = (value: unknown) => `${JSON.stringify(toSnakeCase(value), null, 2)}\n`;
const numbered = (prefix: string, number: number) => `${prefix}${String(number).padStart(4, '0')}`;

/** The files about one event alone. Written before the event is, so that a crash in between leaves no gap. */
export function detailViews(fact: RunFact, { results = [] }: Detail): Views {
  switch (fact.type) {
    case 'run-start': {
      const { config, env, target, optimizer, items } = fact;
      return {
        'config.json': json({ ...config, env, target, optimizer, items }),
        'skills/skill_v0000.md': fact.initialSkill,
      };
    }
    case 'baseline-end':
      return evaluationViews('baseline_selection_eval', fact.evaluation, results);
    case 'stage-end':
      return stageViews(fact, results);
    case 'test-end':
      return evaluationViews(`test_eval_${fact.subject}`, fact.evaluation, results, fact.taskTypes);
    default:
      return {};
  }
}

function stageViews(fact: Extract<RunFact, { type: 'stage-end' }>, results: readonly RolloutResult[]): Views {
  const dir = `steps/${numbered('step_', fact.step)}`;
  switch (fact.stage) {
    case 'rollout':
      return { [`${dir}/rollout_results.json`]: json(results) };
    case 'reflect':
      return { [`${dir}/raw_patches.json`]: json(fact.patches) };
    case 'aggregate':
      return { [`${dir}/merged_patch.json`]: json(fact.patch) };
    case 'select':
      return { [`${dir}/ranked_patch.json`]: json(fact.patch) };
    case 'update':
      return {
        [`${dir}/candidate_skill.md`]: fact.candidateSkill,
        [`${dir}/edit_apply_report.json`]: json(fact.report),
      };
    case 'evaluate':
      return fact.evaluation ? evaluationViews(`${dir}/selection_eval`, fact.evaluation, results) : {};
  }
}

function evaluationViews(
  dir: string,
  evaluation: Evaluation,
  results: readonly RolloutResult[],
  taskTypes?: readonly string[],
): Views {
  const { hard, soft, scores } = evaluation;
  return {
    [`${dir}/results.json`]: json(results),
    [`${dir}/summary.json`]: json({
      hard,
      soft,
      n: scores.length,
      errored: scores.filter((score) => score.errored).length,
    }),
    [`${dir}/buckets.json`]: json({ buckets: bucketScores(scores, taskTypes) }),
  };
}

/** The files about where the run stands. Made from the state alone, so they are made again whenever a run is opened. */
export function stateViews(event: RunEvent, state: RunState, outRoot: string): Views {
  const { current, best, history, stepsDone, config } = state;
  const record = history.at(-1);
  const isStepEnd = event.type === 'step-end' && record !== undefined;
  return {
    'current_skill.md': current.skill,
    'best_skill.md': best.skill,
    'runtime_state.json': json({
      lastCompletedStep: stepsDone,
      currentScore: current.score,
      currentStep: current.step,
      bestScore: best.score,
      bestStep: best.step,
      schedulerState: { currentStep: stepsDone },
      isDone: state.isDone,
    }),
    ...(isStepEnd
      ? { [`steps/${numbered('step_', record.step)}/step_record.json`]: json(record), 'history.json': json(history) }
      : {}),
    ...(isStepEnd && config?.saveEveryStep ? { [`skills/${numbered('skill_v', record.step)}.md`]: current.skill } : {}),
    ...(event.type === 'run-end'
      ? { 'summary.json': json({ ...summarize(state, { outRoot }), bestSkill: 'best_skill.md' }) }
      : {}),
  };
}

/** Only these events move the state that people look at. */
export const isCheckpoint = (event: RunFact) => event.type !== 'step-start' && event.type !== 'stage-end';
