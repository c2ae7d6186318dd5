import { SkillError } from '../../core/errors.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import { PURGEABLE, type Purgeable, purge } from '../../sleep/state/purge.ts';
import { openSleepState } from '../../sleep/state/state-file.ts';
import { stateFolderOf } from '../../stores/state-folder.ts';
import { count } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { placeOf } from './open-sleep.ts';

export type PurgeFlags = { readonly project?: string };

/** Deletes what is kept of a person's sessions, and says what that was. */
export async function purgeKept(what: string, { project }: PurgeFlags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const place = placeOf(terminal);
  await using open = await openSleepState(stateFolderOf(place), { onWarning: terminal.warn });
  const of = project === undefined ? undefined : resolvePath(io.cwd(), project);
  const removed = await purge(open, { what: readWhat(what), project: of, place });
  const lines = Object.entries(removed).map(([kind, times]) => `deleted ${kind}: ${count(times)}`);
  terminal.answer({ removed }, lines.length > 0 ? lines : [`there was nothing to delete in ${open.folder}`]);
}

function readWhat(what: string): Purgeable {
  const found = PURGEABLE.find((one) => one === what);
  if (found !== undefined) return found;
  throw new SkillError('USAGE', `expected one of ${PURGEABLE.join(', ')}, got ${JSON.stringify(what)}`, {
    hint: 'See skillopt sleep purge --help.',
  });
}
