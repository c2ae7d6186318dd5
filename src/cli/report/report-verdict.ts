import { chosenByWords, draftedWords, nextStep, type VerdictKind, verdictWords } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { type Colors, clip, textWidth, wrap } from '../../report/index.ts';
import { asWritten, type ReportOptions, type Told } from './report-options.ts';

/** The verdict, its first words in the colour of what they mean; then the tasks that the search chose by, once. */
export function verdictLines({ state, verdict, change, options }: Told): string[] {
  const { width, colors } = options;
  const { head, sentence, amounts } = verdictWords(verdict, state, change);
  const paint = (words: string) => colors.bold(colors[COLORS[verdict.kind]](words));
  const [first = '', ...more] = inSentences(`${head}: ${sentence} ${amounts}`, width);
  const painted = first.startsWith(`${head}:`) ? `${paint(`${head}:`)}${first.slice(head.length + 1)}` : paint(first);
  const chosenBy = wrapped(chosenByWords(verdict), width).map(colors.dim);
  return [painted, ...more, ...chosenBy, ...wrapped(draftedWords(state), width).map(colors.yellow)];
}

const wrapped = (words: string | undefined, width: number) => (words === undefined ? [] : wrap(words, width));

/** A sentence begins a line where it would not end on the one before: half a figure is read as another. */
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

/** The lines that training added and removed, as many as there is room for with their title. */
export function changeLines({ change: { lines }, options }: Told, room: number): string[] {
  const { colors, width, run, called = asWritten } = options;
  if (lines.length === 0) return [];
  const shown = lines.length < room ? lines : lines.slice(0, Math.max(1, room - 2));
  const rest = lines.length - shown.length;
  return [
    colors.dim('what changed'),
    ...shown.map((line) =>
      (line.startsWith('+') ? colors.green : colors.red)(clip(`${line[0]} ${oneLine(line.slice(1))}`, width)),
    ),
    ...(rest > 0 ? [colors.dim(`  … and ${plural(rest, 'more line')}: ${called('npx skillopt diff')} ${run}`)] : []),
  ];
}

/** Tasks that turned, by name, as many as fit on a line each. */
export const flipLines = ({ verdict: { comparison }, options }: Told) => namedLines(comparison ?? {}, options);

type Flips = { readonly gained?: readonly string[]; readonly lost?: readonly string[] };
type NameOptions = Pick<ReportOptions, 'width' | 'colors' | 'isComplete' | 'names'>;

export function namedLines({ gained = [], lost = [] }: Flips, options: NameOptions): string[] {
  const { green, red } = options.colors;
  if (options.names?.size) return [...listed('gained', gained, green, options), ...listed('lost', lost, red, options)];
  return [
    ...(gained.length > 0 ? [named(`${plural(gained.length, 'task')} gained:`, gained, green, options)] : []),
    ...(lost.length > 0 ? [named(`${plural(lost.length, 'task')} lost:`, lost, red, options)] : []),
  ];
}

const MOST_LISTED = 3;

/** Sentences are no names: each has a line of its own. */
function listed(
  word: string,
  ids: readonly string[],
  paint: (text: string) => string,
  { width, isComplete = false, names }: NameOptions,
): string[] {
  if (ids.length === 0) return [];
  const shown = isComplete ? ids : ids.slice(0, MOST_LISTED);
  const rest = ids.length - shown.length;
  return [
    paint(`${plural(ids.length, 'query', 'queries')} ${word}:`),
    ...shown.map((id) => clip(`  ${oneLine(names?.get(id) ?? id)}`, width)),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

const MOST_NAMES = 20;

function named(
  title: string,
  ids: readonly string[],
  paint: (text: string) => string,
  { width, isComplete = false }: NameOptions,
): string {
  const names = ids.map((id) => oneLine(id));
  const most = isComplete ? ids.length : MOST_NAMES;
  const room = isComplete ? Number.MAX_SAFE_INTEGER : width;
  const line = (count: number) => {
    const rest = ids.length - count;
    return `${title} ${names.slice(0, count).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  };
  let count = Math.min(most, ids.length);
  while (count > 1 && textWidth(line(count)) > room) count -= 1;
  return `${paint(title)}${clip(line(count), room).slice(title.length)}`;
}

/** The one thing to do now, and where the skill is that the run has found. */
export function nextLines({ state, verdict, change, options }: Told): string[] {
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
