import { SkillError } from '../../core/contracts/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { openSleepState, type Proposal, PURGEABLE, type Purgeable, purge } from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { placeOf } from './sleep-flags.ts';

export type PurgeFlags = { readonly project?: string; readonly yes?: boolean };

/** Deletes what is kept of a person's sessions, and says what that was. */
export async function purgeKept(what: string, { project, yes }: PurgeFlags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const place = placeOf(terminal);
  await using open = await openSleepState(stateFolderOf(place), { onWarning: terminal.warn });
  if (!yes && terminal.canAsk && !(await isMeant(open.state.proposals)))
    return terminal.answer({ removed: {} }, ['Nothing was deleted.']);
  const of = project === undefined ? undefined : resolvePath(io.cwd(), project);
  const removed = await purge(open, { what: readWhat(what), project: of, place });
  const lines = Object.entries(removed).map(([kind, times]) => `deleted ${kind}: ${count(times)}`);
  terminal.answer({ removed }, lines.length > 0 ? lines : [`there was nothing to delete in ${open.folder}`]);
}

/** Where something goes that only a person can miss. */
async function isMeant(proposals: readonly Proposal[]): Promise<boolean> {
  const of = (status: Proposal['status']) => proposals.filter((one) => one.status === status).length;
  const [waiting, adopted] = [of('pending'), of('adopted')];
  if (waiting + adopted === 0) return true;
  const lost = `${plural(waiting, 'proposal')} that ${waiting === 1 ? 'waits' : 'wait'}, and the texts that ${plural(adopted, 'adoption')} could be rolled back to`;
  return confirm(`This may delete ${lost}. Do it?`);
}

function readWhat(what: string): Purgeable {
  const found = PURGEABLE.find((one) => one === what);
  if (found !== undefined) return found;
  throw new SkillError('USAGE', `expected one of ${PURGEABLE.join(', ')}, got ${JSON.stringify(what)}`, {
    hint: 'See skillopt sleep purge --help.',
  });
}
