import type { Bucket } from '../core/contracts/index.ts';
import {
  addUsage,
  cutShortWords,
  dollarCell,
  gateMetricScore,
  groupFaults,
  isPriced,
  isUnscored,
  type Leak,
  type ListedEdit,
  lineSupport,
  listEdits,
  loadingOf,
  noStageUsage,
  type RunState,
  type StageUsage,
  supportWords,
  type VerdictOptions,
} from '../core/run/index.ts';
import { count, oneLine, percent, plural, points, printable } from '../core/text/index.ts';
import { type Column, clip, duration, type LineStyle, rightColumns, table } from './layout.ts';
import { LEAST_TASKS, PLAIN_WORDS, type RunPlace } from './verdict-words.ts';

/** How many of the queries went right, before and after. */
type TriggerShare = {
  readonly of: number;
  readonly before: number;
  readonly after: number;
  /** Where other queries had no score before: how many had one. */
  readonly ofBefore?: number;
};

/** How often a skill is loaded when it should be (recall), and left alone when it should be (specificity). */
export type TriggerFigures = { readonly recall: TriggerShare; readonly specificity: TriggerShare };

export type ReportOptions = RunPlace &
  VerdictOptions &
  LineStyle & {
    /** Our commands as the user types them. */
    readonly called?: (text: string) => string;
    /** Shows all that is known, and every edit in full. */
    readonly isComplete?: boolean;
    /** For a run about loading the skill: by queries that the search never saw. */
    readonly trigger?: TriggerFigures | undefined;
    /** Names of tasks, by ids that say nothing. */
    readonly names?: ReadonlyMap<string, string>;
    /** The night that the run belongs to. It decides and measures what the run came to, with attempts of its own. */
    readonly night?: string | undefined;
  };

const REMARKS = {
  accepted: '',
  removed: ': the skill is better without',
  rejected: '',
  undecided: ': neither better nor worse for sure',
  invalid: ': not scored',
  skipped: ': they did not fit the text',
};
const SIGNS = {
  append: '+',
  insert_after: '+',
  replace: '~',
  delete: '-',
  create_file: '+',
  delete_file: '-',
  suggest: '~',
  rewrite: '~',
} as const;

export function editLines(state: RunState, fate: ListedEdit['fate'], { colors }: ReportOptions): string[] {
  const edits = listEdits(state).filter((edit) => edit.fate === fate);
  if (edits.length === 0) return [];
  const paint = fate === 'accepted' ? colors.green : colors.dim;
  const effects = edits.flatMap(({ effect }) => effect ?? []);
  const isUnmeasured = effects.length > 0 && effects.every(({ gain }) => gain === null);
  const head = `${fate} edits (${edits.length})${REMARKS[fate]}${isUnmeasured ? ', none measured by itself' : ''}`;
  return [colors.bold(head), ...edits.flatMap(describeEdit).map(paint)];
}

function describeEdit(edit: ListedEdit): string[] {
  const head = `  ${`step ${edit.step}`.padEnd(8)} ${SIGNS[edit.op]} `;
  return fullText(edit).map((line, index) => `${index === 0 ? head : ' '.repeat(head.length)}${line}`);
}

/** What speaks for each line that the run added. */
export function supportLines(state: RunState, { width, colors }: ReportOptions): string[] {
  const lines = lineSupport(state);
  if (lines.length === 0) return [];
  const paint = { proven: colors.green, plausible: colors.yellow, unsupported: colors.dim };
  const columns: Column[] = [
    { title: 'line added', isElastic: true },
    { title: 'standing', paint: (text, row) => paint[lines[row]!.standing](text) },
    { title: 'why', isOptional: true },
    { title: 'step', align: 'right', isOptional: true },
  ];
  const cells = lines.map((one) => [oneLine(one.line), one.standing, supportWords(one), String(one.step ?? '–')]);
  return table(columns, cells, { width, colors });
}

const HOW = {
  own_step: 'its step had no other',
  salvage: 'tried alone',
  removal: 'by the skill without it',
  prune: 'by the best skill without it',
  not_measured: '',
} as const;

/** What an accepted edit is worth by itself, if measured. */
function worthLines({ effect }: ListedEdit): string[] {
  if (!effect || effect.gain === null) return [];
  const how = `${plural(effect.tasks, 'task')}, ${HOW[effect.measuredBy]}`;
  return [`(by itself: ${points(effect.gain)} points on ${how})`];
}

function fullText(edit: ListedEdit): string[] {
  const { op, target, content, file, status } = edit;
  const place = file === undefined ? [] : [`file: ${oneLine(file)}`];
  const where = target === '' ? [] : [`${op === 'insert_after' ? 'after' : 'from'}: ${oneLine(target)}`];
  const text = op === 'delete' ? [] : printable(content).trim().split('\n');
  const skipped = status.startsWith('applied') ? [] : [`(${status.replaceAll('_', ' ')})`];
  return [...place, ...where, ...text, ...skipped, ...worthLines(edit)];
}

/** Candidates that were unusable, could not be measured, or made tasks throw; and attempts that threw. */
export function faultLines({ history, threw }: RunState, { width }: ReportOptions): string[] {
  const reasons = (steps: RunState['history']) =>
    steps.map(({ step, verdictReason: reason = '' }) => ({ step, reason: oneLine(reason) }));
  const unscored = groupFaults(reasons(history.filter(isUnscored)));
  const unmeasured = reasons(history.filter((record) => record.verdict === 'invalid' && !isUnscored(record)));
  const blamed = history.flatMap(({ step, blame }) => (blame ? [{ step, ...blame }] : []));
  return [
    ...unscored.map(({ steps, reason }) => `${stepNames(steps)} not scored: invalid, ${reason}`),
    ...unmeasured.map(({ step, reason }) => `step ${step} could not be measured: ${reason}`),
    ...blamed.map((blame) => {
      return `step ${blame.step} made ${blame.threw} of ${plural(blame.total, 'task')} throw: ${oneLine(blame.reason)}`;
    }),
    ...(threw > 0 ? [`the environment threw in ${plural(threw, 'attempt')}, which count as failed`] : []),
  ].map((line) => clip(line, width));
}

const MOST_STEPS = 5;

function stepNames(steps: readonly number[]): string {
  if (steps.length > MOST_STEPS) return `${steps.length} steps`;
  return `${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`;
}

type KindRow = { readonly kind: string; readonly tasks: number; readonly before: number; readonly after: number };

/** Test scores by kind of task. Kinds with too few tasks are counted and left out. */
export function kindLines(state: RunState, options: ReportOptions): string[] {
  if (options.trigger) return []; // the verdict shows them, however few they are
  const rows = kindRows(state);
  const shown = rows.filter(({ tasks }) => tasks >= LEAST_TASKS);
  const few = rows.length - shown.length;
  const left =
    few > 0 ? [options.colors.dim(`${plural(few, 'kind')} of fewer than ${LEAST_TASKS} tasks left out`)] : [];
  return [...(shown.length > 0 ? kindTable(shown, options) : []), ...left];
}

function kindRows(state: RunState): KindRow[] {
  const { baseline, best } = state.tests;
  if (!baseline || !best) return [];
  const score = (bucket: Bucket | undefined) => gateMetricScore(bucket, state) ?? 0;
  return Object.entries(best.buckets)
    .filter(([kind, { total }]) => kind !== 'overall' && total > 0 && (baseline.buckets[kind]?.total ?? 0) > 0)
    .map(([kind, bucket]) => ({
      kind: oneLine(kind),
      tasks: bucket.total,
      before: score(baseline.buckets[kind]),
      after: score(bucket),
    }));
}

function kindTable(rows: readonly KindRow[], { width, colors }: ReportOptions): string[] {
  const gains = rows.map(({ before, after }) => after - before);
  const paint = (text: string, row: number) => {
    if (gains[row]! === 0) return colors.dim(text);
    return gains[row]! > 0 ? colors.green(text) : colors.red(text);
  };
  const columns: Column[] = [
    { title: 'kind of task', isElastic: true },
    ...rightColumns(['before', 'after']),
    { title: 'points', align: 'right', paint, isOptional: true },
    { title: 'tasks', align: 'right', isOptional: true },
  ];
  const cells = rows.map(({ kind, tasks, before, after }, index) => [
    ...[kind, percent(before), percent(after), points(gains[index]), String(tasks)],
  ]);
  return table(columns, cells, { width, colors });
}

/** For runs with agents: whether the skill was loaded. */
export function loadingLines(state: RunState, { width, colors, trigger }: ReportOptions): string[] {
  if (trigger)
    return [
      shareLine('recall', trigger.recall, 'loaded', 'should load it'),
      shareLine('specificity', trigger.specificity, 'left alone', 'should not'),
    ].map((line) => clip(line, width));
  const loading = loadingOf(state.usage.rollout ?? {});
  if (!loading) return [];
  const { loaded, attempts, cutShort } = loading;
  const lines = [
    ...(attempts > 0 ? [`the skill was loaded in ${loaded} of ${plural(attempts, 'attempt')}`] : []),
    ...(cutShort ? [`not counted for loading the skill: ${cutShortWords(cutShort)}`] : []),
  ].map((line) => clip(line, width));
  return loaded === attempts ? lines : lines.map(colors.yellow);
}

/** `recall       33.3 → 100.0 %  loaded for 1 → 3 of 3 queries that should load it`. */
function shareLine(name: string, share: TriggerShare, done: string, which: string): string {
  const { of, before, after, ofBefore = of } = share;
  const shares = `${percent(before / Math.max(1, ofBefore)).replace(' %', '')} → ${percent(after / Math.max(1, of))}`;
  const then = ofBefore === of ? `${before}` : `${before} of ${ofBefore}`;
  return `${name.padEnd('specificity'.length)}  ${shares}  ${done} for ${then} → ${after} of ${of} queries that ${which}`;
}

/** Edits that give tasks away or were quarantined, with `isComplete` also why; and what the skill repeats of training tasks. */
export function leakLines({ leaks, memorisedShare = 0 }: RunState, options: ReportOptions): string[] {
  const quarantined = leaks.filter(({ kind }) => kind !== undefined);
  const leaking = leaks.filter(({ kind }) => kind === undefined);
  const share = `${Math.max(1, Math.round(100 * memorisedShare))} %`;
  const memorised = `the best skill repeats something of ${share} of the training tasks`;
  return [
    ...refusedLines(`refused: ${plural(leaking.length, ...GIVING_AWAY)}`, leaking, options),
    ...refusedLines(`quarantined: ${plural(quarantined.length, 'edit')}`, quarantined, options),
    ...(memorisedShare > 0 ? [clip(memorised, options.width)] : []),
  ];
}

const GIVING_AWAY = ['text that gives tasks away', 'texts that give tasks away'] as const;

function refusedLines(title: string, leaks: readonly Leak[], { width, colors, isComplete = false }: ReportOptions) {
  if (leaks.length === 0) return [];
  const reasons = leaks.map(({ stage, at, kind, reason }) => {
    const where = `${stage === 'slow_update' ? 'epoch' : 'step'} ${at}`;
    return colors.dim(`  ${where.padEnd(8)} ${oneLine(kind === undefined ? reason : `${kind}: ${reason}`)}`);
  });
  return [clip(title, width), ...(isComplete ? reasons : [])];
}

/** Replies of the optimizer that could not be read, by stage, with the beginning of one. */
export function unreadableLines({ answers }: RunState, { width, colors }: ReportOptions): string[] {
  const stages = Object.entries(answers).filter(([, { unreadable }]) => unreadable > 0);
  return stages.flatMap(([stage, { read, unreadable, sample = '' }]) => [
    clip(
      `${PLAIN_WORDS[stage] ?? stage}: ${unreadable} of ${plural(read + unreadable, 'reply', 'replies')} could not be read`,
      width,
    ),
    colors.dim(clip(`  such as: ${oneLine(sample) || '(no text)'}`, width)),
  ]);
}

type Figure = readonly [title: string, show: (usage: StageUsage) => string];

/** The most useful first: a narrow terminal leaves out the last ones. */
const FIGURES: readonly Figure[] = [
  ['calls', ({ replies, cacheHits }) => count(replies - cacheHits)],
  ['dollars', (usage) => dollarCell({ costUsd: usage.costUsd, isPriced: isPriced(usage) })],
  ['hits', ({ cacheHits }) => count(cacheHits)],
  ['tokens in', ({ input }) => count(input)],
  ['cached', ({ cached, input }) => share(cached, input)],
  ['out', ({ output }) => count(output)],
  ['retries', ({ retries }) => count(retries)],
  ['waited', ({ waitMs }) => (waitMs > 0 ? duration(waitMs) : '–')],
  ['reasoning', ({ reasoning, output }) => share(reasoning, output)],
];

export function usageLines({ usage }: RunState, { width, colors }: ReportOptions): string[] {
  const stages = Object.entries(usage);
  if (stages.length === 0) return [];
  const total: StageUsage = stages.reduce((sum, [, stage]) => addUsage(sum, stage), noStageUsage);
  const rows = [...stages, ...(stages.length > 1 ? [['total', total] as const] : [])];
  const columns: Column[] = [
    { title: 'stage', isElastic: true },
    ...FIGURES.map(([title], at) => ({ title, align: 'right' as const, isOptional: at > 0 })),
  ];
  const cells = rows.map(([name, stage]) => [
    PLAIN_WORDS[name] ?? name,
    ...FIGURES.map(([, show]) => show(addUsage(noStageUsage, stage))),
  ]);
  const lines = table(columns, cells, { width, colors });
  const legend = rows.some(([, stage]) => !isPriced(addUsage(noStageUsage, stage)))
    ? [colors.dim(clip(NO_PRICE, width))]
    : [];
  return [...lines, ...legend];
}

export const NO_PRICE = '?: no price known for that model; "prices" in the project file gives one';

/** Of what a provider counts as the whole: a part that is larger is a mistake of its own. */
const share = (part: number, whole: number): string =>
  part > 0 && part <= whole ? `${Math.round((100 * part) / whole)} %` : '–';
