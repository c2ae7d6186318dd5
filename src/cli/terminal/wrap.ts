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

/** What to type next, and why: on one line, or the reason below it where that is too wide. */
export function nextLines(
  commands: readonly (readonly [command: string, why: string])[],
  width: number,
  bold: (text: string) => string,
): string[] {
  const longest = Math.max(...commands.map(([command]) => textWidth(command)));
  const isWide = commands.some(([, why]) => 7 + longest + 2 + textWidth(why) > width);
  return commands.flatMap(([command, why], at) => {
    const lead = at === 0 ? 'next:  ' : '       ';
    if (!isWide) return [`${lead}${bold(command)}${' '.repeat(longest - textWidth(command))}  ${why}`];
    return [lead + bold(command), ...wrap(`         ${why}`, width, '         ')];
  });
}
