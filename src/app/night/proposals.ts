import { existsSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import type { Notices } from '../../project/index.ts';
import { isCutOff } from '../../skills/index.ts';
import {
  type Adopted,
  adopt,
  findProposal,
  HANDOFF_FOLDER,
  listNights,
  type OpenSleepState,
  openSleepState,
  type Proposal,
  pendingProposals,
  type RolledBack,
  readNight,
  readSleepState,
  recordProposal,
  rollback,
  type SleepState,
  settle,
} from '../../sleep/index.ts';
import { ADOPTIONS_FOLDER } from '../../stores/index.ts';
import { type KeptSchedule, readSchedule } from '../schedule/kept-schedule.ts';

/** Whether a project is this folder or one above it: nights belong to a whole project. */
export const isProjectOf = (folder: string) => (project: string) =>
  folder === project || folder.startsWith(project.endsWith(sep) ? project : project + sep);

type Choosing = {
  readonly stateFolder: string;
  /** Which proposals, among all that are kept. */
  readonly choose: (proposals: readonly Proposal[]) => readonly Proposal[];
  readonly notices?: Notices | undefined;
};

export type AdoptedProposals = {
  readonly adopted: readonly Adopted[];
  /** All proposals as they are now. */
  readonly proposals: readonly Proposal[];
};

/** Puts proposals into the live documents, all or nothing. */
export async function adoptProposals({ stateFolder, choose, notices }: Choosing): Promise<AdoptedProposals> {
  await using open = await openSettled(stateFolder, notices);
  const proposals = choose(open.state.proposals);
  const adopted = await adopt({ open, proposals: [...proposals], at: new Date().toISOString() });
  return { adopted, proposals: open.state.proposals };
}

/** Undoes adoptions, in the order given. */
export async function rollbackProposals({ stateFolder, choose, notices }: Choosing): Promise<RolledBack[]> {
  await using open = await openSettled(stateFolder, notices);
  return rollback({ open, proposals: [...choose(open.state.proposals)] });
}

/** The state for writing, after repairing what a crash may have left. */
async function openSettled(stateFolder: string, notices?: Notices): Promise<OpenSleepState> {
  const open = await openSleepState(stateFolder, notices ? { onWarning: notices.warn } : {});
  try {
    const { restored, left } = await settle(open);
    for (const path of restored) notices?.note(`an interrupted change was undone: ${path}`);
    for (const { path, why, backup } of left)
      notices?.warn(
        `an interrupted change of ${path} is left as it is: ${why}${backup ? `; its text from before: ${backup}` : ''}`,
      );
    return open;
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

/** Drops a proposal that waits. The document stays as it is. */
export async function dropProposal(stateFolder: string, proposal: Proposal): Promise<void> {
  await using open = await openSleepState(stateFolder);
  requireAsItWas(open.state, proposal);
  await open.update((state) => recordProposal(state, { ...proposal, status: 'dropped' }));
}

/** Somebody may have adopted or reviewed it in the meantime. */
export function requireAsItWas(state: SleepState, before: Proposal): void {
  const now = findProposal(state, before);
  if (now?.status === 'pending' && now.digest === before.digest && now.block === before.block) return;
  throw new SkillError('USAGE', `proposal ${before.id} was changed, adopted or dropped in the meantime`, {
    hint: 'Nothing was changed by this review. skillopt sleep status shows what waits.',
  });
}

/** A night that was interrupted, or whose questions wait for an agent session to answer them. */
export type UnfinishedNight = { readonly night: number; readonly questions: string | null };

export type NightStatus = {
  readonly project: string;
  readonly pending: readonly Proposal[];
  readonly adopted: readonly Proposal[];
  /** How many proposals wait in other projects. */
  readonly elsewhere: number;
  /** Whether an adoption is under way, or was interrupted. */
  readonly isCutOff: boolean;
  readonly lastNight: SleepState['history'][number] | null;
  readonly unfinished: UnfinishedNight | null;
  readonly schedule: KeptSchedule | null;
  /** Tasks that are compared over nights, and what was noted for later ones. */
  readonly overNights: readonly { readonly document: string; readonly guidance: string; readonly tasks: number }[];
};

/** What waits for a person. Reads the state and nothing else, takes no lock, changes nothing. */
export async function nightStatus(stateFolder: string, project: string, notices?: Notices): Promise<NightStatus> {
  const state = await readSleepState(stateFolder, notices ? { onWarning: notices.warn } : {});
  const isOf = isProjectOf(project);
  const { proposals, history, overNights } = state;
  return {
    project,
    pending: pendingProposals(state, isOf),
    adopted: proposals.filter((one) => one.status === 'adopted' && isOf(one.project)),
    elsewhere: pendingProposals(state, (one) => !isOf(one)).length,
    isCutOff: isCutOff(join(stateFolder, ADOPTIONS_FOLDER)),
    lastNight: history.findLast((row) => isOf(row.project) && row.gateAction !== 'review') ?? null,
    unfinished: await unfinishedNight(stateFolder, project),
    schedule: (await readSchedule(stateFolder, realPathOf(project))) ?? null,
    overNights: overNights
      .filter((one) => isOf(one.project))
      .map(({ document, guidance, scores }) => ({ document, guidance, tasks: Object.keys(scores).length })),
  };
}

async function unfinishedNight(stateFolder: string, project: string): Promise<UnfinishedNight | null> {
  const last = (await listNights(stateFolder, project)).at(-1);
  const record = last && (await readNight(last.path));
  if (record?.status !== 'running') return null;
  const questions = join(last!.path, HANDOFF_FOLDER);
  return { night: last!.night, questions: existsSync(questions) ? questions : null };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // a project that was deleted may still have its job
  }
}
