import { changedFiles, SKILL_FILE, trainsPackage } from '../core/document/index.ts';
import type { RunWords } from '../core/page/index.ts';
import {
  type Comparison,
  callWords,
  costWords,
  type Failure,
  isUnscored,
  NO_ANSWER,
  type RunState,
  stepTotal,
  type Verdict,
  type VerdictKind,
  type VerdictOptions,
  verdictOf,
} from '../core/run/index.ts';
import { count, oneLine, percent, plural, points, shellWord, wholePoints } from '../core/text/index.ts';
import { type LineCount, skillChange } from './changes.ts';

/** Plain words for stages of the journal. What is not listed here needs none. */
export const PLAIN_WORDS: Readonly<Record<string, string>> = {
  rollout: 'trying tasks',
  judge: 'scoring answers',
  analyst: 'reading results',
  merge: 'joining edits',
  ranking: 'choosing edits',
  rewrite: 'writing the skill',
  lr_autonomous: 'deciding how much to change',
  slow_update: 'comparing rounds',
  meta_skill: 'taking notes',
  appendix_consolidate: 'tidying notes',
  mine: 'finding tasks',
};

export const KIND_WORDS: Readonly<Record<VerdictKind, string>> = {
  better: 'Better',
  'not-proven': 'Not proven',
  'no-change': 'No change',
  worse: 'Worse',
  broken: 'Broken',
  stopped: 'Stopped',
};

/** What a run came to as sentences, as the terminal says it, and what to do next. */
export function runWords(state: RunState, standing: VerdictOptions, place: RunPlace): RunWords {
  const verdict = verdictOf(state, standing);
  const words = verdictWords(verdict, state, skillChange(state.initialSkill, state.best.skill, state.config));
  const [command, why] = nextStep(verdict, state, place);
  return { ...words, chosenBy: chosenByWords(verdict) ?? null, next: { command, why } };
}

/** The verdict as sentences: how sure it is and on which tasks; and amounts: what it cost, how many lines changed. */
export function verdictWords(verdict: Verdict, state: RunState, lines: LineCount) {
  const head = verdict.kind === 'stopped' ? stopWords(verdict, state) : KIND_WORDS[verdict.kind];
  const sentence = SENTENCES[verdict.kind](verdict, state);
  const amounts = `${callWords(verdict)}, ${costWords(verdict)}.`;
  const isChanged = verdict.kind !== 'no-change' && verdict.kind !== 'broken';
  return { head, sentence, amounts: [amounts, ...(isChanged ? [`${lineWords(lines)}.`] : [])].join(' ') };
}

const SENTENCES: Readonly<Record<VerdictKind, (verdict: Verdict, state: RunState) => string>> = {
  better: ({ comparison }) => `${figures(comparison!)}, proven, ${span(comparison!)}.`,
  worse: ({ comparison }) => `${figures(comparison!)}, proven, ${span(comparison!)}. Keep the skill that you have.`,
  'not-proven': doubt,
  'no-change': ({ comparison }, state) => unchanged(comparison, state),
  broken: (verdict) => (verdict.reason === 'optimizer' ? UNREAD : nothingPasses(verdict)),
  stopped: soFar,
};

const UNREAD = 'no reply of the model that proposes edits could be read. Your skill stays as it was.';

const nothingPasses = ({ comparison, failure }: Verdict) =>
  `not one of ${plural(comparison?.tasks ?? 0, 'task')} was even partly right, before or after: ${failureWords(failure)}.`;

function failureWords(failure: Failure | undefined): string {
  if (!failure) return 'the model or agent does not answer, or the scoring is wrong';
  const { reason, count: failed, attempts } = failure;
  const share = `${count(failed)} of ${plural(attempts, 'attempt')}`;
  const isShared = 2 * failed > attempts;
  if (reason === NO_ANSWER && isShared) return `the model or agent does not answer, ${share} without a word`;
  const why = oneLine(reason).replace(/\.$/, '');
  return isShared ? `${share} failed for one reason: ${why}` : `for several reasons, ${share} for this one: ${why}`;
}

/** `36.1 → 97.2 % on 72 tasks it never saw`. */
const figures = (comparison: Comparison) =>
  `${change(comparison)}${METRICS[comparison.metric]} on ${tasksOf(comparison)}`;

export const METRICS = { hard: '', soft: ' of partial credit', mixed: ' of whole and partial credit' } as const;

/** `36.1 → 97.2 %`. */
export const change = ({ before, after }: Pick<Comparison, 'before' | 'after'>) =>
  `${percent(before).replace(' %', '')} → ${percent(after)}`;

const tasksOf = ({ on, tasks }: Pick<Comparison, 'on' | 'tasks'>) =>
  on === 'test' ? `${plural(tasks, 'task')} it never saw` : `the ${plural(tasks, 'task')} it was chosen by`;

/** `+50 to +83 points`. */
export const span = ({ gain }: Pick<Comparison, 'gain'>) =>
  `${wholePoints(gain!.interval.low)} to ${wholePoints(gain!.interval.high)} points`;

const sureness = (comparison: Comparison) => `${comparison.isProven ? 'proven' : 'not proven'}, ${span(comparison)}`;

const FLATTERS = 'as the search itself saw it, which is too optimistic';

function doubt({ comparison, tasksToProve }: Verdict): string {
  if (!comparison) return 'nothing was measured.';
  if (!comparison.gain) return `${figures(comparison)}, ${FLATTERS}. Keep some tasks for a test to find out.`;
  if (comparison.gain.value <= 0)
    return `${figures(comparison)}, ${span(comparison)}: no better here, by luck or not. Keep the skill that you have.`;
  const more =
    typeof tasksToProve === 'number'
      ? `About ${plural(tasksToProve, 'more task')} like these would prove such a gain.`
      : 'More tasks would hardly prove it.';
  return `${figures(comparison)}, ${span(comparison)}: it may be luck. ${more}`;
}

function unchanged(comparison: Comparison | undefined, state: RunState): string {
  const { history, searchEnd, finalMeasurement } = state;
  const invalid = countEdits(history.filter(isUnscored));
  const tried = countEdits(history) - invalid;
  const isPerfect = searchEnd === 'nothing_to_gain' && tried + invalid === 0;
  const { isSeedBetter = false, gain } = finalMeasurement ?? {};
  const lost = `what the search chose lost in fresh attempts (${points(gain?.value)} points)`;
  const why = isSeedBetter ? lost : isPerfect ? perfectWords(state) : triedWords(tried, invalid);
  const isSaid = isPerfect && comparison?.on === 'validation';
  const stays = comparison && !isSaid ? `, ${percent(comparison.after)} on ${tasksOf(comparison)}` : '';
  const fewest = Math.min(comparison?.tasks ?? 0, validationTasks(state));
  return `${why}. Your skill stays as it was${stays}.${isPerfect && fewest < LEAST_TASKS ? ` ${FEW}` : ''}`;
}

/** By the tasks that the search chooses by; others may have more to gain. */
function perfectWords(state: RunState): string {
  const tasks = validationTasks(state);
  const score = percent(state.best.score);
  return `the ${plural(tasks, 'task')} it is chosen by ${tasks === 1 ? 'was' : 'were'} at ${score} already, so nothing was tried`;
}

const validationTasks = ({ items, gate }: RunState) => items.val ?? Object.keys(gate.seed).length;

/** With fewer tasks, one of them moves a score by more than ten points. */
export const LEAST_TASKS = 10;
const FEW = `So few tasks say little: at least ${LEAST_TASKS} to choose by and ${LEAST_TASKS} to test with are advised.`;

const countEdits = (history: RunState['history']) => history.reduce((sum, { edits }) => sum + (edits ?? []).length, 0);

function triedWords(tried: number, invalid: number): string {
  if (invalid === 0) return scoredWords(tried);
  const first = tried === 0 ? 'no edit was tried' : scoredWords(tried);
  return `${first}; ${plural(invalid, 'edit')} not scored: invalid`;
}

function scoredWords(tried: number): string {
  if (tried === 0) return 'no edit was proposed';
  if (tried === 1) return 'the one edit that was tried did not make it better for sure';
  return `none of ${plural(tried, 'edit')} that were tried made it better for sure`;
}

const LIMIT_WORDS = {
  maxCalls: 'calls',
  maxTotalTokens: 'tokens',
  maxCostUsd: 'dollars',
  maxMinutes: 'minutes',
} as const;

function stopWords({ reason, limit }: Verdict, state: RunState): string {
  const total = stepTotal(state);
  const steps = `${state.stepsDone} of ${total} ${total === '1' ? 'step' : 'steps'}`;
  if (reason === 'limit') return `Stopped at its limit${limit ? ` of ${LIMIT_WORDS[limit]}` : ''} after ${steps}`;
  return reason === 'running' ? `Running, ${steps} done` : `Not finished, ${steps} done`;
}

function soFar({ comparison }: Verdict): string {
  if (!comparison) return 'nothing is measured yet.';
  if (comparison.before === comparison.after && !comparison.gain)
    return `no better skill so far, ${percent(comparison.after)} on ${tasksOf(comparison)}.`;
  if (!comparison.gain) return `so far ${figures(comparison)}, ${FLATTERS}.`;
  return `so far ${figures(comparison)}, ${sureness(comparison)}.`;
}

export function lineWords({ added, removed }: LineCount): string {
  if (added === 0 && removed === 0) return 'No line changed';
  const parts = [
    ...(added > 0 ? [`${plural(added, 'line')} added`] : []),
    ...(removed > 0 ? [`${added > 0 ? removed : plural(removed, 'line')} removed`] : []),
  ];
  return parts.join(', ');
}

/** The comparison on the tasks that the search chose by. */
export function chosenByWords({ kind, chosenBy }: Verdict): string | undefined {
  if (!chosenBy || kind === 'broken') return undefined;
  const isSame = chosenBy.before === chosenBy.after;
  const scores = isSame ? percent(chosenBy.after) : change(chosenBy);
  return `On ${tasksOf(chosenBy)}: ${scores}${chosenBy.gain ? `, ${sureness(chosenBy)}` : ''}.`;
}

/** `38 of 40 tasks were drafted by a model and reviewed by nobody`; undefined if a person saw every task. */
export function draftedWords({ drafts, items }: Pick<RunState, 'drafts' | 'items'>): string | undefined {
  if (!drafts || drafts.unreviewed === 0) return undefined;
  const all = Object.values(items).reduce((sum, count) => sum + count, 0);
  return `${drafts.unreviewed} of ${plural(all, 'task')} ${drafts.unreviewed === 1 ? 'was' : 'were'} drafted by a model and reviewed by nobody.`;
}

export type RunPlace = {
  /** The name of the run on the command line. */
  readonly run: string;
  /** Its folder, if that differs from its name. */
  readonly path?: string;
  readonly bestSkillPath: string;
  /** Where the skill came from, if known. */
  readonly skillFile?: string | undefined;
  /** The project file, if commands about the project have to name it. */
  readonly projectFile?: string | undefined;
};

type Step = [what: string, why: string];

/** What to do now: a command or a path, and what it is for. */
export function nextStep(verdict: Verdict, state: RunState, place: RunPlace): Step {
  const [what, why] = stepAfter(verdict, state, place);
  const named = place.projectFile === undefined ? '' : ` --config ${shellWord(place.projectFile)}`;
  return [what.replace(/(?<=skillopt (?:doctor|calibrate|train)\b)/, named), why];
}

function stepAfter(verdict: Verdict, state: RunState, place: RunPlace): Step {
  const { config, isRunNamed } = state;
  const { run, path = run, bestSkillPath, skillFile } = place;
  if (verdict.kind === 'better')
    return skillFile === undefined
      ? [bestSkillPath, 'is the better skill, ready to copy']
      : [`npx skillopt apply ${shellWord(run)}`, `puts ${whatAndWhere(state, skillFile)}`];
  if (verdict.kind === 'broken') return stepAfterFailure(verdict, run);
  const isHopeful = (verdict.comparison?.gain?.value ?? 1) > 0;
  if (verdict.kind === 'not-proven' && isHopeful)
    return ['npx skillopt calibrate', 'tells which gains these tasks can prove'];
  if (verdict.kind !== 'stopped')
    return [`npx skillopt show ${shellWord(run)} --all`, 'shows every edit and what became of it'];
  if (verdict.reason === 'running') return [`npx skillopt watch ${shellWord(run)}`, 'shows how far it is'];
  if (isDemo(state)) return [`npx skillopt demo --seed ${config?.seed}`, 'resumes it where it stopped'];
  const named = isRunNamed ? ` --run ${shellWord(path)}` : '';
  return [`npx skillopt train${named}${raised(verdict, config)}`, 'resumes it; give the same flags'];
}

/** The demo has no project that `train` could find. It resumes its own run, and only with the same seed. */
const isDemo = ({ about, skillSource, projectFile }: RunState) =>
  about.env === 'demo' && about.target.startsWith('sim-target/') && !skillSource && !projectFile;

/** Look at a failed attempt; if there is none, ask the models. */
function stepAfterFailure({ failure }: Verdict, run: string): Step {
  if (!failure || failure.reason === NO_ANSWER) return ['npx skillopt doctor', 'asks each model one question'];
  return [
    `npx skillopt show ${shellWord(run)} --task ${shellWord(failure.task)}`,
    'shows such an attempt, and how it was judged',
  ];
}

/** Only the changed files of a package are written, and SKILL.md may not be among them. */
function whatAndWhere({ config, initialSkill, best }: RunState, skillFile: string): string {
  const paths = trainsPackage(config ?? {}) ? changedFiles(initialSkill, best.skill) : [SKILL_FILE];
  const [only = SKILL_FILE] = paths;
  const folder = skillFile.replace(/[^/\\]*$/, '');
  if (paths.length > 1) return `${paths.length} changed files in place in ${folder === '' ? 'this folder' : folder}`;
  return `it in place of ${only === SKILL_FILE ? skillFile : `${folder}${only}`}`;
}

const FLAGS = {
  maxCalls: 'max-calls',
  maxTotalTokens: 'max-total-tokens',
  maxCostUsd: 'max-cost-usd',
  maxMinutes: 'max-minutes',
} as const;

/** As the stop advised; else twice the larger of the first limit and what is spent. */
function raised({ limit, advised, calls, tokens, costUsd }: Verdict, config: RunState['config']): string {
  if (limit === undefined) return '';
  if (advised !== undefined) return ` --${FLAGS[limit]} ${advised}`;
  const spent = { maxCalls: calls, maxTotalTokens: tokens, maxCostUsd: Math.ceil(costUsd * 100) / 100, maxMinutes: 0 };
  const more = 2 * Math.max(config?.[limit] ?? 0, spent[limit]);
  return more > 0 ? ` --${FLAGS[limit]} ${more}` : '';
}
