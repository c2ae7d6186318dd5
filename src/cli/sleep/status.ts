import { existsSync } from 'node:fs';
import { type NightStatus, nightStatus } from '../../app/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { notReplayableText, type WithTools, withToolsText, wrap } from '../../report/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
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

export type StatusFlags = Pick<ProposalFlags, 'project'> & { readonly short?: boolean };

/** What waits for a person. Reads the state and nothing else. */
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

/** Of nights before there were agents nothing is known of tools. */
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
    ...(isCutOff
      ? [
          terminal.called(
            'an adoption is under way, or was cut off: the next skillopt sleep adopt or rollback puts that right',
          ),
        ]
      : []),
  ];
}
