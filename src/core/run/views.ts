import { bucketSums, type Evaluation, type RolloutResult } from '../contracts/index.ts';
import { jsonText, toSnakeCase } from '../text/index.ts';
import { attemptViews } from './attempt-views.ts';
import { type RunEvent, type RunFact, toFact } from './event.ts';
import type { Pair } from './events/event-data.ts';
import type { RunState } from './run-state.ts';
import type { Views } from './run-store.ts';
import { type StepRecord, toSeconds, toStepRecordView } from './step-record.ts';
import { summarize } from './summary.ts';

/** What is too big for the journal. The cache can give it again. */
export type Detail = Partial<TrialAttempts> & { readonly pairs?: readonly Pair[] };

/** The attempts of a measurement: the first pass, and further ones by the names of their files. */
export type TrialAttempts = {
  readonly results: readonly RolloutResult[];
  readonly further?: FurtherAttempts | undefined;
};

/** A second pass of the first skill or a candidate; a candidate and the current skill where they were asked again; the best one. */
type FurtherAttempts = {
  readonly [Name in 'pass_2' | 'second_pass' | 'asked_again' | 'current' | 'best']?: readonly RolloutResult[];
};

const json = (value: unknown) => `${JSON.stringify(toSnakeCase(value), null, 2)}\n`;
/** For what the optimizer wrote: nothing in it can hide. */
const shown = (value: unknown) => `${jsonText(toSnakeCase(value))}\n`;
const numbered = (prefix: string, number: number) => `${prefix}${String(number).padStart(4, '0')}`;
const stepFolder = (step: number) => `steps/${numbered('step_', step)}`;

/** The files about one event. Written before the event, so that a crash in between leaves no gap. */
export function detailViews(event: RunEvent, { results = [], further = {}, pairs = [] }: Detail): Views {
  const fact = toFact(event);
  const viewsOf = DETAILS[fact.type] as ((fact: RunFact, about: About) => Views) | undefined;
  return viewsOf?.(fact, { attempts: { results, further }, pairs, ms: event.ms }) ?? {};
}

/** Tries of one event have files of their own, written as they are made: they would fill the memory until the event. */
export const TRIAL_FOLDERS = {
  salvage: (step: number, part: number) => `${stepFolder(step)}/salvage_eval/part_${part}`,
  prune: (place: number) => `prune_eval/try_${place}`,
};

export function trialViews(folder: string, { results, further = {} }: TrialAttempts): Views {
  const lists = Object.entries({ results, ...further });
  return Object.assign({}, ...lists.map(([name, list]) => attemptViews(`${folder}/${name}`, list)));
}

type Fact<Type extends RunFact['type']> = Extract<RunFact, { type: Type }>;
type About = { readonly attempts: TrialAttempts; readonly pairs: readonly Pair[]; readonly ms: number };

const DETAILS: { readonly [Type in RunFact['type']]?: (fact: Fact<Type>, about: About) => Views } = {
  'run-start': ({ config, env, target, optimizer, items, initialSkill }) => ({
    'config.json': json({ ...config, env, target, optimizer, items }),
    'skills/skill_v0000.md': initialSkill,
  }),
  'baseline-end': ({ evaluation }, { attempts }) => evaluationViews('baseline_selection_eval', evaluation, attempts),
  'stage-end': stageViews,
  'slow-update-end': slowUpdateViews,
  'meta-skill-end': ({ type: _type, epoch, content: metaSkillContent, ...rest }, { ms }) => ({
    [`${inEpoch('meta_skill', epoch)}/meta_skill_result.json`]: json({
      ...rest,
      metaSkillContent,
      timeS: toSeconds(ms),
    }),
  }),
  'final-selection-end': ({ evaluation }, { attempts }) =>
    evaluation
      ? evaluationViews('final_selection_eval', evaluation, attempts)
      : trialViews('final_selection_eval', attempts), // the last skill was measured before
  'lr-decision': (fact) => ({ [`${stepFolder(fact.step)}/lr_decision.json`]: json(withoutType(fact)) }),
  'removal-end': ({ step }, { attempts }) => trialViews(`${stepFolder(step)}/removal_eval`, attempts),
  'shorten-end': ({ place }, { attempts }) => trialViews(`shorten_eval/try_${place}`, attempts),
  'salvage-end': (fact) => ({ [`${stepFolder(fact.step)}/salvage.json`]: json(withoutType(fact)) }),
  'final-measurement-end': (fact, { attempts }) => ({
    'final_measurement/summary.json': json(withoutType(fact)),
    ...trialViews('final_measurement', attempts),
  }),
  'prune-end': (fact) => ({ 'prune.json': json(withoutType(fact)) }),
  'test-end': ({ subject, evaluation, taskTypes }, { attempts }) =>
    evaluationViews(`test_eval_${subject}`, evaluation, attempts, taskTypes),
};

const withoutType = ({ type: _type, ...rest }: RunFact) => rest;
const inEpoch = (folder: string, epoch: number) => `${folder}/epoch_${String(epoch).padStart(2, '0')}`;

const GUIDANCE = {
  updateOrigin: 'slow_update',
  updateTarget: 'what got worse, or stayed wrong, from one epoch to the next',
};

function slowUpdateViews(fact: Fact<'slow-update-end'>, { attempts, pairs, ms }: About): Views {
  const { type: _type, epoch, content, candidateSkill, evaluation, pairs: _pairs, ...rest } = fact;
  const dir = inEpoch('slow_update', epoch);
  const selection =
    evaluation && !fact.isPartial ? { selectionHard: evaluation.hard, selectionSoft: evaluation.soft } : {};
  const written = { slowUpdateContent: content, timeS: toSeconds(ms), ...GUIDANCE, ...selection };
  return {
    [`${dir}/slow_result.json`]: json({ ...rest, ...written }),
    [`${dir}/comparison_pairs.json`]: json(pairs.map(toPairView)),
    ...(content === '' ? {} : { [`${dir}/candidate_skill.md`]: candidateSkill }),
    ...(evaluation ? evaluationViews(`${dir}/selection_eval`, evaluation, attempts) : {}),
  };
}

/** Both sides in short under the names of the reference implementation, and whole under ours. */
function toPairView({ id, category, previous, current }: Pair) {
  const task = current.taskDescription ?? current.question ?? '';
  return { id, task, category, prev: inShort(previous), curr: inShort(current), previous, current };
}

const inShort = ({ hard, soft, predictedAnswer = '', failReason = '' }: RolloutResult) => {
  return { hard, soft, predictedAnswer, failReason };
};

function stageViews(fact: Fact<'stage-end'>, { attempts }: About): Views {
  const dir = stepFolder(fact.step);
  switch (fact.stage) {
    case 'rollout':
      return attemptViews(`${dir}/rollout_results`, attempts.results);
    case 'reflect':
      return {
        [`${dir}/raw_patches.json`]: shown(fact.patches),
        [`${dir}/trajectory_digest.json`]: shown({ failurePatterns: fact.failurePatterns ?? [] }),
      };
    case 'aggregate':
      return { [`${dir}/merged_patch.json`]: shown(fact.patch) };
    case 'select':
      return {
        [`${dir}/ranked_patch.json`]: shown(fact.patch),
        ...shownIfAny(`${dir}/refused_edits.json`, fact.refused),
        ...shownIfAny(`${dir}/repeated_edits.json`, fact.repeats),
      };
    case 'update':
      return {
        [`${dir}/candidate_skill.md`]: fact.candidateSkill,
        [`${dir}/edit_apply_report.json`]: shown(fact.report),
        ...shownIfAny(`${dir}/rewrite_result.json`, fact.changeSummary && { changeSummary: fact.changeSummary }),
        ...(fact.notes ? { [`${dir}/appendix_notes.json`]: json(fact.notes) } : {}),
        ...shownIfAny(`${dir}/refused_update.json`, fact.refused),
      };
    case 'evaluate':
      return fact.evaluation ? evaluationViews(`${dir}/selection_eval`, fact.evaluation, attempts) : {};
  }
}

const shownIfAny = (path: string, value: unknown): Views => (value === undefined ? {} : { [path]: shown(value) });

function evaluationViews(
  dir: string,
  evaluation: Evaluation,
  attempts: TrialAttempts,
  taskTypes?: readonly string[],
): Views {
  const { hard, soft, scores } = evaluation;
  const unjudged = scores.filter((score) => score.unjudged).length;
  return {
    ...trialViews(dir, attempts),
    [`${dir}/summary.json`]: json({
      hard,
      soft,
      n: scores.length,
      errored: scores.filter((score) => score.errored).length,
      ...(unjudged > 0 ? { unjudged } : {}),
    }),
    [`${dir}/buckets.json`]: bucketsText(scores, taskTypes),
  };
}

/** Types are the user's words: they keep their spelling. */
export const bucketsText = (...scores: Parameters<typeof bucketSums>) =>
  `${JSON.stringify(bucketSums(...scores), null, 2)}\n`;

/** The files about where the run stands. Made from the state alone: they are made again whenever a run is opened. */
export function stateViews(event: RunEvent, state: RunState, outRoot: string): Views {
  const { current, best, history, stepsDone, config } = state;
  const record = history.at(-1);
  const isStepEnd = event.type === 'step-end' && record !== undefined;
  return {
    'current_skill.md': current.skill,
    'best_skill.md': best.skill,
    'runtime_state.json': json({
      lastCompletedStep: stepsDone,
      currentSkillPath: `${outRoot}/current_skill.md`,
      currentScore: current.score,
      currentStep: current.step,
      bestSkillPath: `${outRoot}/best_skill.md`,
      bestScore: best.score,
      bestStep: best.step,
      currentOrigin: current.origin,
      bestOrigin: best.origin,
      schedulerState: { currentStep: stepsDone },
      isDone: state.isDone,
    }),
    ...(isStepEnd ? { [`${stepFolder(record.step)}/step_record.json`]: `${recordText(record, config)}\n` } : {}),
    ...(isStepEnd || event.type === 'prune-end' || event.type === 'run-end'
      ? { 'history.json': historyText(history, config) }
      : {}),
    ...(isStepEnd && config?.saveEveryStep ? { [`skills/${numbered('skill_v', record.step)}.md`]: current.skill } : {}),
    ...(isStepEnd && state.lrHistory.length > 0
      ? { 'lr_history.jsonl': state.lrHistory.map((row) => `${JSON.stringify(toSnakeCase(row))}\n`).join('') }
      : {}),
    'summary.json': json(toSummaryView(state, outRoot)),
  };
}

/** Records never change: a long history is not made into text again at each step. */
const recordTexts = new WeakMap<StepRecord, string>();

function recordText(record: StepRecord, config: RunState['config']): string {
  const text = recordTexts.get(record) ?? JSON.stringify(toSnakeCase(toStepRecordView(record, config)), null, 2);
  recordTexts.set(record, text);
  return text;
}

/** As `json` of the whole list would give it. */
function historyText(history: readonly StepRecord[], config: RunState['config']): string {
  if (history.length === 0) return json([]);
  const texts = history.map((record) => `  ${recordText(record, config).replaceAll('\n', '\n  ')}`);
  return `[\n${texts.join(',\n')}\n]\n`;
}

function toSummaryView(state: RunState, outRoot: string) {
  const summary = summarize(state, { outRoot });
  return { ...summary, wallTimeS: summary.totalWallTimeS, bestSkill: 'best_skill.md' };
}

/** Whether views are written after an event: within a step only at its end. */
export const isCheckpoint = (event: RunFact) => !('step' in event) || event.type === 'step-end';
