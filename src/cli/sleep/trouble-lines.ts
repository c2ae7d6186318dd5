import { accessSync, constants } from 'node:fs';
import { oneLine, plural } from '../../core/text/index.ts';
import { wrap } from '../../report/index.ts';
import type { FileTrouble } from '../../sleep/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

const MOST_NAMED = 3;

/** Transcripts that were read in part or not at all, by what is to be done about them, with their names. */
export function troubleLines(
  trouble: readonly FileTrouble[],
  redact: (text: string) => string,
  terminal: Terminal,
): string[] {
  const unread = trouble.filter(({ trouble: kinds }) => kinds.unreadable);
  const closed = unread.filter(({ path }) => !mayRead(path));
  const groups: readonly (readonly [readonly FileTrouble[], string])[] = [
    [closed, 'may not be read by you: look at the permissions'],
    [unread.filter((one) => !closed.includes(one)), 'could not be read: not in a form that we know'],
    [trouble.filter((one) => !unread.includes(one)), 'had damaged or unfinished lines, which were passed over'],
  ];
  return groups.flatMap(([files, what]) => {
    if (files.length === 0) return [];
    const names = files.slice(0, MOST_NAMED).map(({ path }) => oneLine(redact(path)));
    const more = files.length > MOST_NAMED ? [`and ${files.length - MOST_NAMED} more: --json lists all`] : [];
    return [
      ...wrap(`${plural(files.length, 'transcript')} ${what}.`, terminal.width),
      ...[...names, ...more].map((name) => terminal.colors.dim(`  ${name}`)),
    ];
  });
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
