import type { RunEvent, RunFact } from '../core/event.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import type { RunState } from '../core/run-state.ts';
import type { Views } from '../core/run-store.ts';
import { bucketScores, type Evaluation } from '../core/score.ts';
import { toSnakeCase } from '../core/snake-case.ts';
import { summarize } from '../core/summary.ts';
import type { Pair } from '../pipeline/index.ts';

/** What an event is about but too big for the journal. It can be had again from the cache. */
export type Detail = { readonly results?: readonly RolloutResult[]; readonly pairs?: readonly Pair[] };

const json = (value: unknown) => `${JSON.stringify(toSnakeCase(value), null, 2)}\n`;
const numbered = (prefix: string, number: number) => `${prefix}${String(number).padStart(4, '0')}`;

/** The files about one event alone. Written before the event is, so that a crash in between leaves no gap. */
export function detailViews(fact: RunFact, { results = [], pairs = [] }: Detail): Views {
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
    case 'slow-update-end':
      return slowUpdateViews(fact, results, pairs);
    case 'meta-skill-end': {
      const { type: _type, epoch, content: metaSkillContent, ...rest } = fact;
      return { [`${inEpoch('meta_skill', epoch)}/meta_skill_result.json`]: json({ ...rest, metaSkillContent }) };
    }
    case 'final-selection-end':
      return fact.evaluation ? evaluationViews('final_selection_eval', fact.evaluation, results) : {};
    case 'lr-decision':
      return { [`steps/${numbered('step_', fact.step)}/lr_decision.json`]: json(withoutType(fact)) };
    case 'salvage-end':
      return { [`steps/${numbered('step_', fact.step)}/salvage.json`]: json(withoutType(fact)) };
    case 'final-measurement-end':
      return {
        'final_measurement/summary.json': json(withoutType(fact)),
        'final_measurement/results.json': json(results),
      };
    case 'finalists-end':
      return { 'finalists.json': json(withoutType(fact)) };
    case 'prune-end':
      return { 'prune.json': json(withoutType(fact)) };
    case 'test-end':
      return evaluationViews(`test_eval_${fact.subject}`, fact.evaluation, results, fact.taskTypes);
    default:
      return {};
  }
}

const withoutType = ({ type: _type, ...rest }: RunFact) => rest;
const inEpoch = (folder: string, epoch: number) => `${folder}/epoch_${String(epoch).padStart(2, '0')}`;

function slowUpdateViews(
  fact: Extract<RunFact, { type: 'slow-update-end' }>,
  results: readonly RolloutResult[],
  pairs: readonly Pair[],
): Views {
  const { type: _type, epoch, content, candidateSkill, evaluation, pairs: _pairs, ...rest } = fact;
  const dir = inEpoch('slow_update', epoch);
  return {
    [`${dir}/slow_result.json`]: json({ ...rest, slowUpdateContent: content }),
    [`${dir}/comparison_pairs.json`]: json(pairs),
    ...(content === '' ? {} : { [`${dir}/candidate_skill.md`]: candidateSkill }),
    ...(evaluation ? evaluationViews(`${dir}/selection_eval`, evaluation, results) : {}),
  };
}

function stageViews(fact: Extract<RunFact, { type: 'stage-end' }>, results: readonly RolloutResult[]): Views {
  const dir = `steps/${numbered('step_', fact.step)}`;
  switch (fact.stage) {
    case 'rollout':
      return { [`${dir}/rollout_results.json`]: json(results) };
    case 'reflect':
      return {
        [`${dir}/raw_patches.json`]: json(fact.patches),
        [`${dir}/trajectory_digest.json`]: json({ failurePatterns: fact.failurePatterns ?? [] }),
      };
    case 'aggregate':
      return { [`${dir}/merged_patch.json`]: json(fact.patch) };
    case 'select':
      return {
        [`${dir}/ranked_patch.json`]: json(fact.patch),
        ...(fact.refused ? { [`${dir}/refused_edits.json`]: json(fact.refused) } : {}),
        ...(fact.repeats ? { [`${dir}/repeated_edits.json`]: json(fact.repeats) } : {}),
      };
    case 'update':
      return {
        [`${dir}/candidate_skill.md`]: fact.candidateSkill,
        [`${dir}/edit_apply_report.json`]: json(fact.report),
        ...(fact.changeSummary ? { [`${dir}/rewrite_result.json`]: json({ changeSummary: fact.changeSummary }) } : {}),
        ...(fact.notes ? { [`${dir}/appendix_notes.json`]: json(fact.notes) } : {}),
        ...(fact.refused ? { [`${dir}/refused_update.json`]: json(fact.refused) } : {}),
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
  const unjudged = scores.filter((score) => score.unjudged).length;
  return {
    [`${dir}/results.json`]: json(results),
    [`${dir}/summary.json`]: json({
      hard,
      soft,
      n: scores.length,
      errored: scores.filter((score) => score.errored).length,
      ...(unjudged > 0 ? { unjudged } : {}),
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
      currentOrigin: current.origin,
      bestOrigin: best.origin,
      schedulerState: { currentStep: stepsDone },
      isDone: state.isDone,
    }),
    ...(isStepEnd
      ? { [`steps/${numbered('step_', record.step)}/step_record.json`]: json(record), 'history.json': json(history) }
      : {}),
    ...(isStepEnd && config?.saveEveryStep ? { [`skills/${numbered('skill_v', record.step)}.md`]: current.skill } : {}),
    ...(isStepEnd && state.lrHistory.length > 0
      ? { 'lr_history.jsonl': state.lrHistory.map((row) => `${JSON.stringify(toSnakeCase(row))}\n`).join('') }
      : {}),
    'summary.json': json({ ...summarize(state, { outRoot }), bestSkill: 'best_skill.md' }),
  };
}

/** Only these events move the state that people look at. */
export const isCheckpoint = (event: RunFact) => !WITHIN_STEP.has(event.type);

const WITHIN_STEP: ReadonlySet<RunFact['type']> = new Set([
  'step-start',
  'stage-end',
  'lr-decision',
  'salvage-end',
  'removal-end',
]);
