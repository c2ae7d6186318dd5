import type { RunEvent } from '../../core/event.ts';
import { isAccepted } from '../../core/known-scores.ts';
import type { RunState, StepRecord } from '../../core/run-state.ts';
import type { StepAction } from '../../core/step-action.ts';
import { gateMetricScore } from '../report/gate-metric-score.ts';
import { countTasks, taskCount } from '../report/scored-tasks.ts';
import type { Colors } from '../terminal/colors.ts';
import { percent, plural, points } from '../terminal/figures.ts';
import { clip, textWidth } from '../terminal/text-width.ts';

type LineOptions = { readonly width: number; readonly colors: Colors };

/** What a run that was opened already holds, or nothing for a new one. */
export function openLine(state: RunState): string | undefined {
  if (state.isDone) return 'this run is done already; --fresh starts anew';
  if (!state.config) return undefined;
  return state.stepsDone > 0
    ? `going on after step ${state.stepsDone} of ${state.totalSteps}`
    : 'going on with the run that is here';
}

/** The line that an event leaves behind, or nothing: one for the start, the baseline, each step and each test. */
export function eventLine(event: RunEvent, state: RunState, options: LineOptions): string | undefined {
  switch (event.type) {
    case 'run-start':
      return clip(startText(event), options.width);
    case 'baseline-end':
      return baselineLine(event, options);
    case 'step-end':
      return stepLine(state.history.at(-1)!, state, options);
    case 'slow-update-end':
      return guidanceLine(event, options);
    case 'finalists-end':
      return clip(`  finalists ${finalistText(event)}`, options.width);
    case 'prune-end':
      return clip(
        `  pruned    ${event.removed.length} of ${event.tries} edits taken out, ${percent(event.score)}`,
        options.width,
      );
    case 'test-end':
      return testLine(event, state, options);
    default:
      return undefined;
  }
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function baselineLine({ score, evaluation, passes = [] }: Event<'baseline-end'>, { width }: LineOptions): string {
  const tasks = taskCount(countTasks([evaluation, ...passes]), 'validation task');
  return clip(`  baseline  ${percent(score)} on ${tasks}`, width);
}

function finalistText({ finalists, hash }: Event<'finalists-end'>): string {
  const row = ({ origin, score }: (typeof finalists)[number]) => `${origin} ${percent(score)}`;
  return `${finalists.map(row).join(', ')}: ${finalists.find((finalist) => finalist.hash === hash)!.origin} wins`;
}

/** Guidance that nobody wrote leaves no line. */
function guidanceLine(event: Event<'slow-update-end'>, { width, colors }: LineOptions) {
  const { epoch, action, score, decision, invalidReason = decision?.reason } = event;
  if (action === 'no_content' || action === 'unchanged') return undefined;
  if (action === 'over_cap') return clip(`· epoch ${epoch}  guidance too long for the skill`, width);
  if (action === 'leak') return clip(`· epoch ${epoch}  guidance refused: it repeats held-out tasks`, width);
  if (event.invalidReason !== undefined || decision?.verdict === 'invalid')
    return clip(`✗ epoch ${epoch}  guidance invalid, ${invalidReason}`, width);
  const line = clip(`${symbolOf(action)} epoch ${epoch}  guidance ${WORDS[action]}, ${percent(score)}`, width);
  return textWidth(line) > 1 ? paint(action, colors)(line.slice(0, 1)) + line.slice(1) : line;
}

const SUBJECTS = { baseline: 'initial', best: 'best', final: 'last' } as const;

function testLine({ subject, evaluation }: Event<'test-end'>, state: RunState, { width }: LineOptions) {
  if (subject === 'final' && state.current.hash === state.best.hash) return undefined;
  const { scored, total } = countTasks([evaluation]);
  const missing = scored === total ? '' : `, ${total - scored} of ${plural(total, 'task')} without a score`;
  const score = percent(gateMetricScore(evaluation, state));
  return clip(`  test      ${score} with the ${SUBJECTS[subject]} skill${missing}`, width);
}

function startText({ env, items, totalSteps }: Extract<RunEvent, { type: 'run-start' }>): string {
  const tasks = Object.entries(items).map(([split, n]) => `${n} ${split}`);
  return `training on ${env}: ${plural(totalSteps, 'step')}, tasks ${tasks.join(', ')}`;
}

const WORDS: Readonly<Record<StepAction, string>> = {
  accept_new_best: 'new best',
  accept: 'accepted',
  force_accept: 'accepted',
  reject: 'rejected',
  unchanged: 'unchanged',
  skip_no_patches: 'no edits',
  skip_no_rewrite: 'no edits',
};

/** Verdicts that an action does not tell. */
const VERDICTS: Readonly<Record<string, string>> = { inconclusive: 'undecided', invalid: 'invalid' };

function stepLine(record: StepRecord, state: RunState, { width, colors }: LineOptions): string {
  const { step, action, edits = [], nLeaksRefused = 0, needsRollouts } = record;
  const number = `${step}/${state.totalSteps}`.padStart(String(state.totalSteps).length * 2 + 1);
  const word = VERDICTS[record.verdict ?? ''] ?? WORDS[action];
  const head = `${symbolOf(action)} step ${number}  ${word.padEnd(9)}`;
  const facts = [
    scoreChange(record, state),
    edits.length > 0 ? plural(edits.length, 'edit') : '',
    nLeaksRefused > 0 ? `${plural(nLeaksRefused, 'leak')} refused` : '',
    needsRollouts === undefined ? '' : `≈ ${plural(needsRollouts, 'more rollout')} would decide it`,
  ].filter((fact) => fact !== '');
  const text = clip([head, ...facts].join('  ').trimEnd(), width);
  return textWidth(text) > 1 ? paint(action, colors)(text.slice(0, 1)) + text.slice(1) : text;
}

/** `31.2 → 45.0 %  +13.8`: what the gate compared, how early it knew, or why there was nothing to compare. */
function scoreChange(record: StepRecord, { items }: RunState): string {
  const { action, scoreBefore = 0, candidateGateScore, verdict, verdictReason = '', nItemsMet } = record;
  if (verdict === 'invalid') return verdictReason;
  if (action !== 'reject' && !isAccepted(action)) return '';
  if (nItemsMet !== undefined) return `after ${nItemsMet} of ${plural(items.val ?? 0, 'task')}`.padEnd(22);
  const [from, to] = [percent(scoreBefore).replace(' %', ''), percent(candidateGateScore)];
  return `${from.padStart(5)} → ${to.padStart(7)}  ${points(candidateGateScore - scoreBefore).padStart(5)}`;
}

function symbolOf(action: StepAction): string {
  if (isAccepted(action)) return '✓';
  return action === 'reject' ? '✗' : '·';
}

function paint(action: StepAction, { green, red, dim }: Colors): (text: string) => string {
  if (isAccepted(action)) return green;
  return action === 'reject' ? red : dim;
}
