import { isObject, oneLine, printable } from '../../core/text/index.ts';
import { textWidth, wrap } from '../../report/index.ts';
import type { TaskRow } from '../../tasks/index.ts';

type Screen = { readonly width: number; readonly rows: number; dim(text: string): string };
type Part = { readonly label: string; readonly lines: readonly string[] };

const LABEL_WIDTH = 11;

/** A task as a person decides about it: what is asked, how it is scored, its kind and why it is there, within the rows given. */
export function cardLines(row: TaskRow, { width, rows, dim }: Screen): string[] {
  const room = Math.max(20, width - LABEL_WIDTH);
  const doubt = row.doubtful === true ? 'independent solutions do not confirm its reference' : '';
  const texts: readonly (readonly [string, readonly string[]])[] = [
    ['kind', [oneLine(String(row.taskType ?? ''))]],
    ['doubtful', [doubt]],
    ['question', printable(String(row.question)).trim().split('\n')],
    ['scored by', scoringLines(row)],
    ['why', [oneLine(String(row.why ?? ''))]],
  ];
  const parts = texts
    .filter(([, lines]) => lines.join('') !== '')
    .map(([label, lines]) => ({ label, lines: lines.flatMap((line) => inRoom(line, room)) }));
  return fitParts(parts, rows).flatMap(({ label, lines }) =>
    lines.map((line, at) => dim((at === 0 ? label : '').padEnd(LABEL_WIDTH)) + line),
  );
}

/** A word that is wider is broken here, since the terminal would do it where nobody counts. */
function inRoom(line: string, room: number): string[] {
  const isItem = line.startsWith('- ');
  return wrap(line, room, isItem ? '  ' : '').flatMap((one) =>
    textWidth(one) <= room ? [one] : [...one.matchAll(new RegExp(`.{1,${room}}`, 'gu'))].map(([piece]) => piece),
  );
}

/** The longest parts are cut until all of them fit; each keeps its beginning. */
function fitParts(parts: readonly Part[], rows: number): readonly Part[] {
  let most = Math.max(...parts.map(({ lines }) => lines.length));
  const height = () => parts.reduce((sum, { lines }) => sum + Math.min(lines.length, most), 0);
  while (most > 2 && height() > rows) most -= 1;
  return parts.map(({ label, lines }) => {
    if (lines.length <= most) return { label, lines };
    const rest = lines.length - most + 1;
    return { label, lines: [...lines.slice(0, most - 1), `… ${rest} more lines: edit shows all of them`] };
  });
}

/** What an answer is held against, in words. */
export function scoringLines({ answers, judge }: TaskRow): string[] {
  if (answers !== undefined)
    return [
      [answers]
        .flat()
        .map((one) => asText(one))
        .join(' or '),
    ];
  if (!isObject(judge)) return [asText(judge)];
  const { kind, ...rest } = judge;
  const fields = Object.entries(rest).flatMap(([name, value]) => fieldLines(name, value));
  return [`${asText(kind, printable)}:`, ...fields];
}

function fieldLines(name: string, value: unknown): string[] {
  if (name === 'rubric') return printable(String(value)).split('\n');
  if ((name === 'criteria' || name === 'checks') && Array.isArray(value)) return value.map((each) => `- ${item(each)}`);
  return [`- ${name} ${asText(value)}`];
}

/** `icontains "supervisor"`, `not regex "^Ask"`. */
function item(check: unknown): string {
  if (!isObject(check)) return asText(check, oneLine);
  const { type, op = type, value, arg = value, not, ...rest } = check;
  const more = Object.entries(rest).map(([name, one]) => `${name} ${asText(one)}`);
  const what = [not === true ? 'not' : '', asText(op, oneLine), arg === undefined ? '' : asText(arg)];
  return [what.filter((word) => word !== '').join(' '), ...more].join(', ');
}

const asText = (value: unknown, asWritten: (text: string) => string = JSON.stringify): string =>
  typeof value === 'string' ? printable(asWritten(value)) : printable(JSON.stringify(value) ?? 'nothing');
