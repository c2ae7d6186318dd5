import { existsSync } from 'node:fs';
import { type NightStatus, nightStatus } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { count, oneLine, plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { notReplayableText, type WithTools, withToolsText, wrap } from '../../report/index.ts';
import { openSleepState, type Proposal, PURGEABLE, type Purgeable, purge } from '../../sleep/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  commandFor,
  meantProject,
  nightCommand,
  type ProposalFlags,
  proposalLine,
  shownProposal,
} from './proposals.ts';
import { placeOf } from './sleep-flags.ts';

type StatusFlags = Pick<ProposalFlags, 'project'> & { readonly short?: boolean };

/** Shows what waits for a person. Reads the state and nothing else, so that it is quick. */
export async function showStatus(flags: StatusFlags, terminal: Terminal): Promise<void> {
  const { here } = meantProject(flags, terminal);
  const status = await nightStatus(stateFolderOf(placeOf(terminal)), here, flags.short ? undefined : terminal);
  const { pending, adopted } = status;
  terminal.answer(
    { ...status, pending: pending.map(shownProposal), adopted: adopted.map(shownProposal) },
    flags.short ? shortLine(status) : statusLines(status, terminal),
  );
}

function unfinishedLines(unfinished: NightStatus['unfinished']): string[] {
  if (unfinished === null) return [];
  const { night, questions } = unfinished;
  const why = questions ? `waits for answers: ${shownPath(questions)}` : 'is under way, or was cut off';
  return [`night ${night} ${why}; the same skillopt sleep run resumes it`];
}

/** Programs move with their updates, and a job calls them where they were. */
function scheduleLines(schedule: NightStatus['schedule']): string[] {
  if (schedule === null) return [];
  const gone = schedule.pinned.filter(({ path }) => !existsSync(path)).map(({ name, path }) => `${name} (${path})`);
  return [
    `a night runs every day at ${schedule.at} (${schedule.kind})`,
    ...(gone.length > 0 ? [`  it cannot: ${gone.join(', ')} is gone; call skillopt sleep schedule again`] : []),
  ];
}

function shortLine({ pending, isCutOff, unfinished }: NightStatus): string[] {
  if (isCutOff) return ['sleep: an adoption is not finished'];
  if (unfinished?.questions) return ['sleep: questions wait'];
  return pending.length > 0 ? [`sleep: ${plural(pending.length, 'proposal')}`] : [];
}

/** Reports of earlier versions say nothing of tools. */
function lastNightLines(
  { night, at, nTasks, withTools, notReplayable }: NonNullable<NightStatus['lastNight']>,
  width: number,
) {
  const tools = [withToolsText(withTools as WithTools | undefined), notReplayableText(Number(notReplayable ?? 0))];
  return [
    `last night: ${night}, ${at.slice(0, 10)}, ${plural(nTasks, 'task')}`,
    ...tools.filter((line) => line !== '').flatMap((line) => wrap(`  ${line}`, width, '  ')),
  ];
}

const CUT_OFF = 'an adoption is under way, or was cut off: the next skillopt sleep adopt or rollback puts that right';

function statusLines(
  { project, pending, adopted, elsewhere, isCutOff, lastNight, unfinished, schedule, overNights }: NightStatus,
  terminal: Terminal,
): string[] {
  const { bold, dim } = terminal.colors;
  const last = adopted.at(-1);
  const none = unfinished ? 'nothing waits for you yet' : 'no night was here yet';
  const nothing = lastNight ? 'the last nights proposed nothing that waits' : none;
  return [
    `${bold(oneLine(project))}: ${pending.length > 0 ? `${plural(pending.length, 'proposal')} for you to adopt` : nothing}`,
    ...(lastNight ? lastNightLines(lastNight, terminal.width) : []),
    ...unfinishedLines(unfinished).map((line) => terminal.called(line)),
    ...scheduleLines(schedule).map((line) => terminal.called(line)),
    ...overNights
      .filter(({ guidance }) => guidance !== '')
      .map(({ document, guidance }) => `noted over nights (${document}): ${oneLine(guidance)}`),
    ...pending.flatMap((proposal) => [`  ${proposalLine(proposal)}`, dim(`    ${commandFor(proposal, terminal)}`)]),
    ...(last ? [`adopted: ${proposalLine(last)}`, dim(`    ${nightCommand(last, terminal, 'rollback')}`)] : []),
    ...(elsewhere > 0 ? [`${plural(elsewhere, 'proposal')} in other projects`] : []),
    ...(isCutOff ? [terminal.called(CUT_OFF)] : []),
  ];
}

type PurgeFlags = { readonly project?: string; readonly yes?: boolean };

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
  const hint = 'See skillopt sleep purge --help.';
  throw new SkillError('USAGE', `expected one of ${PURGEABLE.join(', ')}, got ${JSON.stringify(what)}`, { hint });
}
