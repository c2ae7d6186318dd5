import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oneLine } from '../../core/text/printable.ts';
import { IGNORE_FILE } from '../../sleep/harvest/ignore.ts';
import type { SessionIndex } from '../../sleep/harvest/session-index.ts';
import { openStateFolder, stateFolderOf } from '../../sleep/state/state-folder.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { placeOf } from './open-sleep.ts';

/** Adds sessions and tasks to the private `.skilloptignore`, where they stay. */
export async function drop(ids: readonly string[], terminal: Terminal): Promise<void> {
  const path = join(await openStateFolder(stateFolderOf(placeOf(terminal))), IGNORE_FILE);
  const before = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(before.split('\n'));
  const lines = ids.flatMap(linesOf).filter((line) => !known.has(line));
  const start = before === '' || before.endsWith('\n') ? '' : '\n'; // A person may have written the last line.
  if (lines.length > 0) await appendFile(path, `${start}${lines.join('\n')}\n`, { mode: 0o600 });
  terminal.note(`nothing is learned from ${ids.map(oneLine).join(', ')} from now on; ${path} says so`);
}

/** An id is one line, whatever is in it. A session may be called like a task, so that both are meant. */
function linesOf(id: string): string[] {
  const line = oneLine(id);
  if (line === '') return [];
  return isTask(line) ? [`task:${line}`, `session:${line}`] : [`session:${line}`];
}

const isTask = (id: string) => /^(task|llm)_[0-9a-f]{12}$/.test(id);

/** An id with a mistake in it would let a person believe that something is left out. */
export function warnOfUnknown(ids: readonly string[], index: SessionIndex, { warn }: Terminal): void {
  const known = new Set(index.files().flatMap(({ heads }) => heads.map(({ sessionId }) => oneLine(sessionId))));
  const unknown = ids.map(oneLine).filter((id) => !isTask(id) && !known.has(id));
  for (const id of unknown) warn(`no session ${JSON.stringify(id)} was found; it would be left out if it came`);
}
