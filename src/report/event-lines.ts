import { basename } from 'node:path';
import {
  type Blame,
  type GateDecision,
  gateMetricScore,
  isAccepted,
  type RunEvent,
  type RunState,
  type StepAction,
  type StepRecord,
  scoreNow,
  stepNumber,
  stepTotal,
} from '../core/run/index.ts';
import { oneLine, percent, plural, points } from '../core/text/index.ts';
import { countTasks, taskCount } from './eval-report.ts';
import { type Colors, clipWords, type LineStyle, textWidth } from './layout.ts';
import { plannedRollouts } from './progress-block.ts';
import { searchEndText } from './search-end.ts';

/** The state before an event, and after it. */
export type Change = { readonly before: RunState; readonly after: RunState };

/** What an opened run already holds; undefined for a new one. */
export function openLine(state: RunState): string | undefined {
  if (state.isDone) return 'this run is done already; --fresh starts over';
  if (!state.config) return undefined;
  return state.stepsDone > 0
    ? `resuming after step ${state.stepsDone} of ${stepTotal(state)}`
    : 'resuming the run that is here';
}

/** The lines about an event: one for the start, the baseline, each step and each test. Each continues the scores of the last. */
export function eventLines(event: RunEvent, change: Change, { width, colors }: LineStyle): string[] {
  const now = scoreNow(event, change.before);
  const line = eventLine(event, { ...change, now });
  const lines = [againText(change.before, now), line].filter((text) => text !== undefined);
  return lines.map((text) => paintSymbol(clipWords(text, width), colors));
}

function againText({ current, baseline }: RunState, now: number): string | undefined {
  const [from, to] = [bare(current.score), percent(now)];
  return baseline && from !== bare(now) ? `  measured again: ${from} → ${to}` : undefined;
}

/** `now`: the estimated score of the current skill, before a candidate replaces it. */
type ScoredChange = Change & { readonly now: number };

function eventLine(event: RunEvent, change: ScoredChange): string | undefined {
  const { after } = change;
  switch (event.type) {
    case 'run-start':
      return startText(event);
    case 'baseline-end':
      return baselineText(event);
    case 'step-end':
      return stepText(after.history.at(-1)!, change);
    case 'removal-end':
      return removalText(event, change);
    case 'shorten-end':
      return shorteningText(event, change);
    case 'slow-update-end':
      return guidanceText(event, change);
    case 'search-end':
      return `  ${searchEndText(event.reason, after)}`;
    case 'prune-end':
      return `  pruned    ${event.removed.length} of ${plural(event.tries, 'edit')} taken out, ${percent(event.score)}`;
    case 'test-end':
      return testText(event, after);
    default:
      return undefined;
  }
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function baselineText({ score, evaluation, passes = [] }: Event<'baseline-end'>): string {
  const tasks = taskCount(countTasks([evaluation, ...passes]), 'validation task');
  return `  baseline  ${percent(score)} on ${tasks}`;
}

function removalText({ action, of }: Event<'removal-end'>, change: ScoredChange): string | undefined {
  if (!isAccepted(action)) return undefined;
  return `${symbolOf(action)} without what step ${of} added last: better, taken out  ${scoreChange(change)}`;
}

function shorteningText({ action, removed, decision }: Event<'shorten-end'>, change: ScoredChange): string {
  const lines = plural(removed.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '').length, 'line');
  const isWorse = decision?.verdict !== 'invalid' && (decision?.expectedGain ?? 0) < 0;
  const how = isWorse ? 'likely worse' : 'not clear';
  if (!isAccepted(action)) return `${symbolOf(action)} without ${lines} that nothing supports: ${how}, kept`;
  const lost = isWorse ? 'hardly worse' : 'no worse';
  return `${symbolOf(action)} without ${lines} that nothing supports: ${lost}, taken out  ${scoreChange(change)}`;
}

function guidanceText(event: Event<'slow-update-end'>, change: ScoredChange): string | undefined {
  const { epoch, action, score, decision, invalidReason = decision?.reason } = event;
  if (action === 'no_content' || action === 'unchanged') return undefined;
  if (action === 'over_cap') return `· epoch ${epoch}  guidance too long for the skill`;
  if (action === 'hidden_text') return `· epoch ${epoch}  guidance refused: it hides ${oneLine(event.hidden ?? '')}`;
  if (action === 'leak') return `· epoch ${epoch}  guidance refused: it gives tasks away`;
  if (event.invalidReason !== undefined || decision?.verdict === 'invalid')
    return `✗ epoch ${epoch}  guidance invalid, ${invalidReason}`;
  const head = `${symbolOf(action)} epoch ${epoch}  guidance`;
  if (event.blame) return `${head} ${WORDS[action]}, ${blameText(event.blame)}`;
  if (isAccepted(action)) return `${head} ${WORDS[action]}  ${scoreChange(change)}`;
  if (decision?.verdict === 'inconclusive') return `${head} undecided`;
  return `${head} ${WORDS[action]}, ${decision ? figures(decision) : percent(score)}`;
}

const SUBJECTS = { baseline: 'initial', best: 'best', final: 'last' } as const;

function testText({ subject, evaluation }: Event<'test-end'>, state: RunState): string | undefined {
  if (subject === 'final' && state.current.hash === state.best.hash) return undefined;
  const { scored, total } = countTasks([evaluation]);
  const missing = scored === total ? '' : `, ${total - scored} of ${plural(total, 'task')} without a score`;
  const score = percent(gateMetricScore(evaluation, state));
  return `  test      ${score} with the ${SUBJECTS[subject]} skill${missing}`;
}

function startText(event: Event<'run-start'>): string {
  const tasks = Object.entries(event.items).map(([split, n]) => `${n} ${split}`);
  const steps = `${stepTotal(event)} ${event.totalSteps === 1 ? 'step' : 'steps'}`;
  const name = event.config.outRoot === undefined ? event.env : basename(event.config.outRoot);
  return `training ${oneLine(name)}: ${steps}, tasks ${tasks.join(', ')}`;
}

function stepText(record: StepRecord, change: ScoredChange): string {
  const { step, action, edits = [], nLeaksRefused = 0, nRepeats = 0, needsRollouts } = record;
  const number = stepNumber(step, change.after).padStart(stepNumber(change.after.totalSteps, change.after).length);
  const head = `${symbolOf(action)} step ${number}  ${wordOf(record).padEnd(9)}`;
  const facts = [
    judgementText(record, change),
    edits.length > 0 ? plural(edits.length, 'edit') : '',
    nRepeats > 0 && edits.length === 0 ? `nothing but ${plural(nRepeats, 'repeat')}` : '',
    nLeaksRefused > 0 ? `${plural(nLeaksRefused, 'leak')} refused` : '',
    refusedText(record),
    needsRollouts === undefined ? '' : needsText(needsRollouts, change.after),
  ].filter((fact) => fact !== '');
  return [head, ...facts].join('  ').trimEnd();
}

/** A number beyond the whole plan is no advice. */
const needsText = (rollouts: number, state: RunState) =>
  rollouts > plannedRollouts(state)
    ? 'to decide it: more than this run could pay for'
    : `≈ ${plural(rollouts, 'more rollout')} would decide it`;

/** Edits that were refused because they hide something: without this line the step would look empty. */
function refusedText({ editStatuses = [] }: StepRecord): string {
  const refused = editStatuses.filter((status) => HIDING.has(status)).length;
  return refused > 0 ? `${refused} refused: hidden text` : '';
}

const HIDING: ReadonlySet<string> = new Set(['skipped_marker', 'skipped_html_comment', 'skipped_hidden_character']);

function paintSymbol(line: string, { green, red, dim }: Colors): string {
  const paint = { '✓': green, '✗': red, '·': dim }[line.slice(0, 1)];
  return paint && textWidth(line) > 1 ? paint(line.slice(0, 1)) + line.slice(1) : line;
}

function symbolOf(action: StepAction): string {
  if (isAccepted(action)) return '✓';
  return action === 'reject' ? '✗' : '·';
}

const WORDS: Readonly<Record<StepAction, string>> = {
  accept_new_best: 'new best',
  accept: 'accepted',
  force_accept: 'accepted',
  reject: 'rejected',
  unchanged: 'unchanged',
  skip_no_patches: 'no edits',
  skip_no_rewrite: 'no edits',
  skip_invalid: 'invalid',
};

/** Verdicts that an action does not show. */
const VERDICTS: Readonly<Record<string, string>> = { inconclusive: 'undecided', invalid: 'invalid' };

const wordOf = ({ verdict, action }: StepRecord): string => VERDICTS[verdict ?? ''] ?? WORDS[action];

function judgementText(record: StepRecord, change: ScoredChange): string {
  const { action, verdict, verdictReason = '', expectedGain, chance = 0 } = record;
  if (verdict === 'invalid') return verdictReason;
  if (record.blame) return blameText(record.blame);
  if (isAccepted(action))
    return [scoreChange(change), partText(record, change)].filter((text) => text !== '').join('  ');
  if (action !== 'reject') return '';
  if (expectedGain === undefined) return lossText(record, change);
  if (verdict === 'inconclusive') return partText(record, change) || `after all ${plural(record.nItems ?? 0, 'task')}`;
  return chance < 0.5 ? figures({ expectedGain, chance }) : verdictReason; // by a veto
}

const blameText = ({ threw, total, reason }: Blame) =>
  `it made ${threw} of ${plural(total, 'task')} throw: ${oneLine(reason)}`;

/** `31.2 → 45.0 %  +13.8`: the estimated score of the current skill before and after. */
function scoreChange({ now, after }: ScoredChange): string {
  const { score } = after.current;
  return `${bare(now).padStart(5)} → ${percent(score).padStart(7)}  ${points(rounded(score) - rounded(now)).padStart(5)}`;
}

/** As it is shown, so that the figures of a line add up. */
const rounded = (score: number) => Math.round(1000 * score) / 1000;

const bare = (score: number) => percent(score).replace(' %', '');

function lossText(record: StepRecord, change: ScoredChange): string {
  const { candidateGateScore: score } = record;
  if (record.nItemsMet !== undefined) return partText(record, change);
  return `${''.padStart(8)}${percent(score).padStart(7)}  ${points(score - change.now).padStart(5)}`;
}

const partText = ({ nItemsMet, nItems }: StepRecord, { after }: ScoredChange): string =>
  nItemsMet === undefined ? '' : `after ${nItemsMet} of ${plural(nItems ?? after.items.val ?? 0, 'task')}`;

const figures = ({ expectedGain, chance }: Pick<GateDecision, 'expectedGain' | 'chance'>): string =>
  `expected ${points(expectedGain)} points, chance ${(100 * chance).toFixed(0)} %`;
