import { textWidth } from './text-width.ts';

/** A sentence in lines of at most `width` columns. A word that is wider stays whole: it may be a path to copy. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && textWidth(`${line} ${word}`) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : indent + word);
  }
  return lines;
}

type Speaking = {
  readonly width: number;
  readonly colors: { bold(text: string): string };
  called(text: string): string;
};

/** What to type next, and why: on one line, or the reason below it where that is too wide. */
export function nextLines(
  written: readonly (readonly [command: string, why: string])[],
  { width, colors: { bold }, called }: Speaking,
): string[] {
  const commands = written.map(([command, why]) => [called(command), called(why)] as const);
  const longest = Math.max(...commands.map(([command]) => textWidth(command)));
  const isWide = commands.some(([, why]) => 7 + longest + 2 + textWidth(why) > width);
  return commands.flatMap(([command, why], at) => {
    const lead = at === 0 ? 'next:  ' : '       ';
    if (!isWide) return [`${lead}${bold(command)}${' '.repeat(longest - textWidth(command))}  ${why}`];
    return [lead + bold(command), ...wrap(`         ${why}`, width, '         ')];
  });
}

const ROW = /^( *)(\S(?:.*?\S)?)( {2,})(\S.*)$/;

/** A text whose rows are `what  why`, none wider than `width`: the reason of a longer one continues in its column, or below. */
export function fitRows(text: string, width: number): string {
  const lines = text.split('\n');
  const isWide = (line: string) => textWidth(line) > width;
  const below = new Set(lines.filter(isWide).map(columnOf)); // Rows of one list look alike.
  return lines
    .flatMap((line) => (isWide(line) || isBelow(line, below, width) ? fitRow(line, width) : [line]))
    .join('\n');
}

/** Where the reason of a row begins; 0 for any other line. */
function columnOf(line: string): number {
  const [, indent = '', what = '', gap = ''] = ROW.exec(line) ?? [];
  return textWidth(indent + what + gap);
}

const isBelow = (line: string, columns: ReadonlySet<number>, width: number) =>
  columnOf(line) > width / 2 && columns.has(columnOf(line));

function fitRow(line: string, width: number): string[] {
  const [, indent = '', what = '', gap = '', why = ''] = ROW.exec(line) ?? [];
  if (what === '') return wrap(line, width, `${/^ */.exec(line)![0]}  `);
  const column = columnOf(line);
  if (column > width / 2) return [...wrap(indent + what, width, `${indent}  `), ...wrapIn(why, width, `${indent}    `)];
  const [first = '', ...more] = wrapIn(why, width, ' '.repeat(column));
  return [indent + what + gap + first.trimStart(), ...more];
}

const wrapIn = (text: string, width: number, indent: string) => wrap(indent + text, width, indent);
