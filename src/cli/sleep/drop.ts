import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { type Harvest, heuristicTask, IGNORE_FILE } from '../../sleep/index.ts';
import { openStateFolder, stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type OpenSleep, placeOf } from './open-sleep.ts';

/** Adds sessions and tasks to the private `.skilloptignore`, where they stay. */
export async function drop(ids: readonly string[], terminal: Terminal): Promise<void> {
  if (ids.some((id) => oneLine(id) === '')) throw noId();
  const path = join(await openStateFolder(stateFolderOf(placeOf(terminal))), IGNORE_FILE);
  const before = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(before.split('\n'));
  const lines = ids.flatMap(linesOf).filter((line) => !known.has(line));
  const start = before === '' || before.endsWith('\n') ? '' : '\n'; // A person may have written the last line.
  if (lines.length > 0) await appendFile(path, `${start}${lines.join('\n')}\n`, { mode: 0o600 });
  const what = lines.length > 0 ? `added ${lines.join(', ')} to ${path}` : `${path} says so already`;
  terminal.note(
    `nothing is learned from ${ids.map(oneLine).join(', ')} from now on: ${what}. To undo it, delete the line.`,
  );
}

const noId = () =>
  new SkillError('USAGE', 'expected the id of a session or of a task behind --drop, got nothing', {
    hint: 'Pages show the ids of sessions, skillopt sleep harvest those of tasks.',
  });

/** An id is one line, whatever is in it. A session may be called like a task, so that both are meant. */
function linesOf(id: string): string[] {
  const line = oneLine(id);
  return isTask(line) ? [`task:${line}`, `session:${line}`] : [`session:${line}`];
}

const isTask = (id: string) => /^(task|llm)_[0-9a-f]{12}$/.test(id);

type Known = { readonly sleep: OpenSleep; readonly harvest: Harvest };

/** An id with a mistake in it would let a person believe that something is left out. What a model finds has ids that are not known here. */
export async function warnOfUnknown(
  ids: readonly string[],
  { sleep, harvest }: Known,
  { warn }: Terminal,
): Promise<void> {
  const heads = sleep.index.files().flatMap((file) => file.heads);
  const sessions = new Set(heads.map(({ sessionId }) => oneLine(sessionId)));
  const tasks = new Set(harvest.sessions.flatMap((session) => heuristicTask(session)?.id ?? []));
  const isKnown = (id: string) => sessions.has(id) || tasks.has(id) || id.startsWith('llm_');
  for (const id of ids.map(oneLine).filter((one) => !isKnown(one))) {
    const what = isTask(id) ? 'no task' : 'no session';
    warn(`${what} ${JSON.stringify(id)} was found; it would be left out if it came`);
  }
}
