import {
  type Cost,
  costRows,
  dollarCell,
  lineSupport,
  mayHaveBeenWords,
  type RunState,
  standingWords,
  type Verdict,
  type VerdictKind,
  verdictOf,
} from '../core/run/index.ts';
import { count, oneLine, plural } from '../core/text/index.ts';
import { type SkillChange, skillChange } from './changes.ts';
import { aboutTasksWords } from './finding-text.ts';
import { atMost, type Colors, clip, duration, figureTable, nameSome, textWidth, wrap } from './layout.ts';
import { cardLines } from './result-card.ts';
import {
  editLines,
  faultLines,
  kindLines,
  leakLines,
  loadingLines,
  NO_PRICE,
  type ReportOptions,
  supportLines,
  unreadableLines,
  usageLines,
} from './run-details.ts';
import { endWords } from './search-end.ts';
import { chosenByWords, draftedWords, nextStep, verdictWords } from './verdict-words.ts';

const asWritten = (text: string): string => text;

type ReportedRun = {
  readonly state: RunState;
  readonly verdict: Verdict;
  readonly change: SkillChange;
  readonly options: ReportOptions;
};

/** Lines of the smallest usual terminal, less the one that the shell asks on. */
const SCREEN = 23;
const LEAST_CHANGE = 4;

/**
 * What a run came to, as lines for people: the verdict, what changed, which tasks turned, what it cost, what to do next.
 * That much fits on one screen; `isComplete` shows all the rest.
 */
export function reportLines(state: RunState, options: ReportOptions): string[] {
  const verdict = verdictOf(state, options);
  const change = skillChange(state.initialSkill, state.best.skill, state.config);
  const run = { state, verdict, change, options };
  const [head, next] = [verdictLines(run), nextLines(run)];
  const behind = [
    loadingLines(state, options),
    namedLines(verdict.comparison ?? {}, options),
    options.isComplete ? [] : noteLines(state, options),
    cardLines(verdict.card, options),
    costLines(run),
  ];
  const taken = [head, ...behind, next]
    .filter((lines) => lines.length > 0)
    .reduce((sum, lines) => sum + lines.length + 1, 0);
  const room = options.isComplete ? Number.MAX_SAFE_INTEGER : Math.max(LEAST_CHANGE, SCREEN - taken);
  const rest = options.isComplete ? everything(state, options) : [];
  const sections = [head, changeLines(run, room), ...behind, ...rest, next].filter((lines) => lines.length > 0);
  return sections.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** What to know before a decision. */
function noteLines(state: RunState, options: ReportOptions): string[] {
  const { called = asWritten } = options;
  const looks = state.testLooks ?? 0;
  const notes = [
    ...faultLines(state, options),
    ...unreadableLines(state, options),
    ...leakLines(state, options),
    ...(looks > 1
      ? [options.colors.dim(`look ${looks} at these test tasks: each look makes their score a little less reliable`)]
      : []),
  ];
  const all = `${called('npx skillopt show')} ${options.run} --all`;
  const more = `… and ${notes.length - MOST_NOTES + 1} more notes: ${all}`;
  return notes.length > MOST_NOTES ? [...notes.slice(0, MOST_NOTES - 1), options.colors.dim(more)] : notes;
}

const MOST_NOTES = 4;

function everything(state: RunState, options: ReportOptions): string[][] {
  return [
    wrapped(endWords(state), options.width),
    kindLines(state, options),
    supportLines(state, options),
    ...(['accepted', 'removed', 'rejected', 'undecided', 'invalid', 'skipped'] as const).map((fate) =>
      editLines(state, fate, options),
    ),
    faultLines(state, options),
    unreadableLines(state, options),
    leakLines(state, options),
    testLookLines(state.testLooks, options.colors),
    usageLines(state, options),
  ];
}

/** The verdict, its first words in the colour of what they mean; then the tasks that the search chose by, once. */
function verdictLines({ state, verdict, change, options }: ReportedRun): string[] {
  const { width, colors } = options;
  const { head, sentence, amounts } = verdictWords(verdict, state, change);
  const paint = (words: string) => colors.bold(colors[COLORS[verdict.kind]](words));
  const [first = '', ...more] = inSentences(`${head}: ${sentence} ${amounts}`, width);
  const painted = first.startsWith(`${head}:`) ? `${paint(`${head}:`)}${first.slice(head.length + 1)}` : paint(first);
  const chosenBy = wrapped(chosenByWords(verdict), width).map(colors.dim);
  const cautions = [draftedWords(state), ...aboutTasksWords(state.aboutTasks)];
  return [painted, ...more, ...chosenBy, ...cautions.flatMap((words) => wrapped(words, width)).map(colors.yellow)];
}

const wrapped = (words: string | undefined, width: number) => (words === undefined ? [] : wrap(words, width));

/** A sentence that does not fit on the line begins a new one: half a figure would be misread. */
function inSentences(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const sentence of text.split(/(?<=\.) (?=[A-Z\d])/)) {
    const joined = lines.length > 0 ? `${lines.at(-1)} ${sentence}` : sentence;
    if (textWidth(joined) <= width) lines.splice(-1, 1, joined);
    else lines.push(...wrap(sentence, width));
  }
  return lines;
}

const COLORS: Readonly<Record<VerdictKind, Exclude<keyof Colors, 'isColorSupported'>>> = {
  better: 'green',
  'not-proven': 'yellow',
  'no-change': 'yellow',
  worse: 'red',
  broken: 'red',
  stopped: 'yellow',
};

/** The lines that training added and removed, as many as fit with their title, and what speaks for those it added. */
function changeLines({ state, change: { lines }, options }: ReportedRun, room: number): string[] {
  const { colors, width, run, called = asWritten } = options;
  if (lines.length === 0) return [];
  const added = lineSupport(state);
  const words = added.length > 0 ? `lines added: ${standingWords(added)}` : undefined;
  const standing = wrapped(words, width).map(colors.dim);
  const left = room - standing.length;
  const shown = lines.length < left ? lines : lines.slice(0, Math.max(1, left - 2));
  const rest = lines.length - shown.length;
  return [
    colors.dim('what changed'),
    ...shown.map((line) =>
      (line.startsWith('+') ? colors.green : colors.red)(clip(`${line[0]} ${oneLine(line.slice(1))}`, width)),
    ),
    ...(rest > 0 ? [colors.dim(`  … and ${plural(rest, 'more line')}: ${called('npx skillopt diff')} ${run}`)] : []),
    ...standing,
  ];
}

export type Flips = { readonly gained?: readonly string[]; readonly lost?: readonly string[] };
type NameOptions = Pick<ReportOptions, 'width' | 'colors' | 'isComplete' | 'names'>;

/** Tasks that turned, by name, as many as fit on a line each. */
export function namedLines({ gained = [], lost = [] }: Flips, options: NameOptions): string[] {
  const { green, red } = options.colors;
  const turned = [
    { word: 'gained', ids: gained, paint: green },
    { word: 'lost', ids: lost, paint: red },
  ].filter(({ ids }) => ids.length > 0);
  return turned.flatMap((tasks) => (options.names?.size ? listed(tasks, options) : [named(tasks, options)]));
}

type TurnedTasks = { readonly word: string; readonly ids: readonly string[]; readonly paint: (text: string) => string };

const MOST_LISTED = 3;

/** Names that are whole sentences have a line each. */
function listed({ word, ids, paint }: TurnedTasks, { width, isComplete, names }: NameOptions): string[] {
  const lines = ids.map((id) => clip(`  ${oneLine(names?.get(id) ?? id)}`, width));
  const shown = isComplete ? lines : atMost(MOST_LISTED, lines, (rest) => `  and ${rest} more`);
  return [paint(`${plural(ids.length, 'query', 'queries')} ${word}:`), ...shown];
}

const MOST_NAMES = 20;

function named({ word, ids, paint }: TurnedTasks, { width, isComplete }: NameOptions): string {
  const title = `${plural(ids.length, 'task')} ${word}:`;
  const names = ids.map(oneLine);
  const room = isComplete ? Number.MAX_SAFE_INTEGER : width;
  const line = (count: number) => `${title} ${nameSome(names, count)}`;
  let count = isComplete ? ids.length : Math.min(MOST_NAMES, ids.length);
  while (count > 1 && textWidth(line(count)) > room) count -= 1;
  return `${paint(title)}${clip(line(count), room).slice(title.length)}`;
}

/** What to do now, and where the best skill is. */
function nextLines({ state, verdict, change, options }: ReportedRun): string[] {
  const { colors, width, night, bestSkillPath, called = asWritten } = options;
  const [step, why] =
    night === undefined ? nextStep(verdict, state, options) : [`npx skillopt show ${night}`, 'tells what came of it'];
  const what = called(step);
  const isLong = textWidth(`next:  ${what}  ${why}`) > width;
  const next = isLong
    ? [`next:  ${colors.bold(what)}`, ...wrap(`       ${why}`, width, '       ')]
    : [`next:  ${colors.bold(what)}  ${why}`];
  const isFound = change.lines.length > 0 && what !== bestSkillPath;
  return [...next, ...(isFound ? [colors.dim(`skill: ${bestSkillPath}`)] : [])];
}

function costLines({ state, verdict, options: { width, colors } }: ReportedRun): string[] {
  const rows = costRows(state, verdict);
  if (rows.length === 0) return [];
  const cells = (what: string, cost: Cost) => [what, count(cost.calls), count(cost.tokens), dollarCell(cost)];
  const total = cells(`in all, ${duration(state.wallTimeMs)}`, verdict);
  const all = [...rows.map((row) => cells(row.what, row)), total];
  const lines = figureTable(['what it cost', 'calls', 'tokens', 'dollars'], all, { width, colors });
  const notes = [...mayHaveBeenWords(verdict), ...(verdict.isPriced ? [] : [NO_PRICE])];
  return [...lines, ...notes.map((note) => colors.dim(clip(note, width)))];
}

/** How often the test tasks were looked at, and what a further look means. */
export function testLookLines(looks: number | undefined, { dim }: Colors): string[] {
  if (looks === undefined) return [];
  const meaning = [
    'each further look makes a test score a little less of a surprise:',
    'choose by validation, or use new tasks',
  ];
  return [`test looks: ${looks}`, ...(looks > 1 ? meaning.map(dim) : [])];
}
