import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { oneLine, plural } from '../../core/text/index.ts';
import { wrap } from '../../report/index.ts';
import { isCutOff } from '../../skills/index.ts';
import {
  HANDOFF_FOLDER,
  type KeptSchedule,
  listNights,
  notReplayableText,
  type Proposal,
  pendingProposals,
  readNight,
  readSchedule,
  readSleepState,
  type SleepState,
  type WithTools,
  withToolsText,
} from '../../sleep/index.ts';
import { ADOPTIONS_FOLDER, shownPath, stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  commandFor,
  meantProject,
  nightCommand,
  type ProposalFlags,
  proposalLine,
  shownProposal,
} from './choose-proposals.ts';
import { placeOf } from './open-sleep.ts';

export type StatusFlags = Pick<ProposalFlags, 'project'> & { readonly short?: boolean };

/** What waits for a person. Reads the state and nothing else, takes no lock, changes nothing. */
export async function showStatus(flags: StatusFlags, terminal: Terminal): Promise<void> {
  const folder = stateFolderOf(placeOf(terminal));
  const state = await readSleepState(folder, flags.short ? {} : { onWarning: terminal.warn });
  const { here, isOf } = meantProject(flags, terminal);
  const status = {
    project: here,
    pending: pendingProposals(state, isOf),
    adopted: state.proposals.filter(({ project, status }) => status === 'adopted' && isOf(project)),
    elsewhere: pendingProposals(state, (project) => !isOf(project)).length,
    isCutOff: isCutOff(join(folder, ADOPTIONS_FOLDER)),
    lastNight: state.history.findLast(({ project, gateAction }) => isOf(project) && gateAction !== 'review') ?? null,
    unfinished: await unfinishedNight(folder, here),
    schedule: (await readSchedule(folder, realPathOf(here))) ?? null,
    overNights: state.overNights
      .filter(({ project }) => isOf(project))
      .map(({ document, guidance, scores }) => ({ document, guidance, tasks: Object.keys(scores).length })),
  };
  const { pending, adopted } = status;
  terminal.answer(
    { ...status, pending: pending.map(shownProposal), adopted: adopted.map(shownProposal) },
    flags.short ? shortLine(status) : statusLines(status, terminal),
  );
}

type Status = {
  readonly project: string;
  readonly pending: readonly Proposal[];
  readonly adopted: readonly Proposal[];
  readonly elsewhere: number;
  readonly isCutOff: boolean;
  readonly lastNight: SleepState['history'][number] | null;
  readonly unfinished: Unfinished | null;
  readonly schedule: KeptSchedule | null;
  /** Tasks that are compared over nights, and what was noted for later ones. */
  readonly overNights: readonly { readonly document: string; readonly guidance: string; readonly tasks: number }[];
};

/** A night that was cut off, or whose questions wait for a session of an agent to answer them. */
type Unfinished = { readonly night: number; readonly questions: string | null };

async function unfinishedNight(folder: string, project: string): Promise<Unfinished | null> {
  const last = (await listNights(folder, project)).at(-1);
  const record = last && (await readNight(last.path));
  if (record?.status !== 'running') return null;
  const questions = join(last!.path, HANDOFF_FOLDER);
  return { night: last!.night, questions: existsSync(questions) ? questions : null };
}

function unfinishedLines(unfinished: Unfinished | null): string[] {
  if (unfinished === null) return [];
  const { night, questions } = unfinished;
  const why = questions ? `waits for answers: ${shownPath(questions)}` : 'is under way, or was cut off';
  return [`night ${night} ${why}; the same skillopt sleep run resumes it`];
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // A project that was deleted may still have its job.
  }
}

/** Programs move with their updates, and a job calls them where they were. */
function scheduleLines(schedule: KeptSchedule | null): string[] {
  if (schedule === null) return [];
  const gone = schedule.pinned.filter(({ path }) => !existsSync(path)).map(({ name, path }) => `${name} (${path})`);
  return [
    `a night runs every day at ${schedule.at} (${schedule.kind})`,
    ...(gone.length > 0 ? [`  it cannot: ${gone.join(', ')} is gone; call skillopt sleep schedule again`] : []),
  ];
}

function shortLine({ pending, isCutOff, unfinished }: Status): string[] {
  if (isCutOff) return ['sleep: an adoption is not finished'];
  if (unfinished?.questions) return ['sleep: questions wait'];
  return pending.length > 0 ? [`sleep: ${plural(pending.length, 'proposal')}`] : [];
}

/** Of nights before there were agents nothing is known of tools. */
function lastNightLines({ night, at, nTasks, withTools, notReplayable }: SleepState['history'][number], width: number) {
  const tools = [withToolsText(withTools as WithTools | undefined), notReplayableText(Number(notReplayable ?? 0))];
  return [
    `last night: ${night}, ${at.slice(0, 10)}, ${plural(nTasks, 'task')}`,
    ...tools.filter((line) => line !== '').flatMap((line) => wrap(`  ${line}`, width, '  ')),
  ];
}

function statusLines(
  { project, pending, adopted, elsewhere, isCutOff, lastNight, unfinished, schedule, overNights }: Status,
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
