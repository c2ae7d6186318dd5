import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import type { Cost, RunObserver } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import type { Notices } from '../../project/index.ts';
import { isCutOff } from '../../skills/index.ts';
import {
  type Adopted,
  adopt,
  findMemory,
  findProposal,
  findSkill,
  HANDOFF_FOLDER,
  isHandoff,
  isProjectOf,
  marksOf,
  nightCost,
  nightScorers,
  nightWork,
  type OpenSleep,
  type OpenSleepState,
  openSleepState,
  type Proof,
  type Proposal,
  pendingProposals,
  type Reviewable,
  type RolledBack,
  readSleepState,
  readText,
  recordProposal,
  regate,
  regateCost,
  resolveSkill,
  rollback,
  type SleepState,
  settle,
  settleText,
  stageAgain,
} from '../../sleep/index.ts';
import { ADOPTIONS_FOLDER } from '../../stores/index.ts';
import { type KeptSchedule, readSchedule } from '../schedule/schedule-night.ts';
import { lastNight } from './find-nights.ts';
import type { NightLimits } from './plan-night.ts';
import type { OpenedModels } from './run-night.ts';

type ChosenProposals = {
  readonly stateFolder: string;
  /** Chooses among all kept proposals. */
  readonly choose: (proposals: readonly Proposal[]) => readonly Proposal[];
  readonly notices?: Notices | undefined;
};

type ChosenToAdopt = ChosenProposals & {
  /** The digests of proposals with marked lines that a person has seen and agreed to. Others with such lines are refused. */
  readonly agreed?: readonly string[] | undefined;
  /** The digests of the proposals that a person has seen: a proposal with another one is refused. Without them, none is. */
  readonly digests?: readonly string[] | undefined;
};

type Adoption = { readonly adopted: readonly Adopted[]; readonly proposals: readonly Proposal[] };

/** Puts proposals into the live documents, all or nothing. Returns all kept proposals as they are now. */
export async function adoptProposals(chosen: ChosenToAdopt): Promise<Adoption> {
  const { stateFolder, choose, notices, agreed = [], digests } = chosen;
  await using open = await openSettled(stateFolder, notices);
  const proposals = [...choose(open.state.proposals)];
  if (digests) for (const proposal of proposals) refuseUnseen(proposal, digests);
  for (const proposal of proposals) if (!agreed.includes(proposal.digest)) refuseMarked(proposal);
  const adopted = await adopt({ open, proposals, at: new Date().toISOString() });
  return { adopted, proposals: open.state.proposals };
}

function refuseUnseen({ id, digest }: Proposal, digests: readonly string[]): void {
  if (digests.includes(digest)) return;
  const shown =
    digests.length === 0 ? 'no text was shown' : `the text with the digest ${digests.join(' or ')} was shown`;
  const hint = 'Nothing was written. Look at the proposal again, and adopt what you have seen.';
  const message = `proposal ${id} is not what was shown: ${shown}, and now it has the digest ${digest}`;
  throw new SkillError('CONSENT_MISSING', message, { hint });
}

function refuseMarked(proposal: Proposal): void {
  const marked = marksOf(proposal).filter(({ isStriking }) => isStriking);
  if (marked.length === 0) return;
  const lines = marked.map(({ line, reasons }) => `${reasons.join(', ')}: ${oneLine(line.replace(/^[-*+] /, ''))}`);
  const what = `${plural(marked.length, 'line')} of proposal ${proposal.id} should be seen by a person first`;
  const hint = 'Nothing was written. Agree to these lines, or drop some in a review.';
  throw new SkillError('CONSENT_MISSING', `${what}: ${lines.join('; ')}`, { hint });
}

/** Undoes adoptions, in the order given. */
export async function rollbackProposals({ stateFolder, choose, notices }: ChosenProposals): Promise<RolledBack[]> {
  await using open = await openSettled(stateFolder, notices);
  return rollback({ open, proposals: [...choose(open.state.proposals)] });
}

/** Opens the state for writing, and repairs what a crash may have left. */
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

/** Drops a pending proposal. The document stays as it is. */
export async function dropProposal(stateFolder: string, proposal: Proposal): Promise<void> {
  await using open = await openSleepState(stateFolder);
  requireAsItWas(open.state, proposal);
  await open.update((state) => recordProposal(state, { ...proposal, status: 'dropped' }));
}

/** Throws if somebody has adopted, dropped or reviewed the proposal in the meantime. */
function requireAsItWas(state: SleepState, before: Proposal): void {
  const now = findProposal(state, before);
  if (now?.status === 'pending' && now.digest === before.digest && now.block === before.block) return;
  throw new SkillError('USAGE', `proposal ${before.id} was changed, adopted or dropped in the meantime`, {
    hint: 'Nothing was changed by this review. skillopt sleep status shows what waits.',
  });
}

/** A night that was interrupted, or whose questions wait for an agent session to answer them. */
type UnfinishedNight = {
  readonly night: number;
  readonly questions: string | null;
  readonly cost: Cost;
};

export type NightStatus = {
  readonly project: string;
  readonly pending: readonly Proposal[];
  readonly adopted: readonly Proposal[];
  readonly elsewhere: number;
  /** Whether an adoption is under way, or was interrupted. */
  readonly isCutOff: boolean;
  readonly lastNight: SleepState['history'][number] | null;
  readonly unfinished: UnfinishedNight | null;
  readonly schedule: KeptSchedule | null;
  /** Per document: the guidance for later nights, and how many tasks are compared over nights. */
  readonly overNights: readonly { readonly document: string; readonly guidance: string; readonly tasks: number }[];
};

/** What waits for a person. Only reads the state: takes no lock, changes nothing. */
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
  const last = await lastNight(stateFolder, project);
  if (last?.unfinished === undefined) return null;
  const questions = join(last.path, HANDOFF_FOLDER);
  const cost = await nightCost(last.path);
  return { night: last.night, questions: existsSync(questions) ? questions : null, cost };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // a project that was deleted may still have its job
  }
}

type ReviewOptions = {
  readonly limits: NightLimits;
  readonly opened: OpenedModels;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
};

/** How many held-out tasks a review is measured on, and how many model calls that takes. */
export function reviewCost({ settings: { target } }: OpenSleep, review: Reviewable) {
  if (target === undefined || !isHandoff(target)) return regateCost(review, nightScorers());
  throw new SkillError('USAGE', 'a review measures at once, and a handoff answers over several rounds', {
    hint: 'Name a model as the target, or adopt the proposal as it is.',
  });
}

/** Measures what a person kept of a proposal. If that is proven, it replaces the proposal. */
export async function measureReview(
  sleep: OpenSleep,
  review: Reviewable,
  block: string,
  options: ReviewOptions,
): Promise<Proof> {
  const { folder } = sleep;
  const { proposal } = review;
  const proof = await measure(sleep, review, block, options);
  const at = new Date().toISOString();
  const { project, night } = proposal;
  const result = { accepted: proof.isProven, nTasks: 0, isTested: true, gateAction: 'review' } as const;
  const row = { project, night, at, ...result };
  await using open = await openSleepState(folder);
  await open.update((state) => ({ ...state, history: [...state.history, row] }));
  requireAsItWas(open.state, proposal);
  if (!proof.isProven) return proof;
  const proven = await stageAgain(review, { folder, block, proof, at });
  await open.update((state) => recordProposal(state, proven));
  await settleText(folder, proven);
  return proof;
}

async function measure(sleep: OpenSleep, review: Reviewable, block: string, options: ReviewOptions): Promise<Proof> {
  const { folder, settings, place } = sleep;
  const { limits, observers, signal, opened } = options;
  const { models, work } = opened;
  const { agent, project } = review.record;
  const search = { agent, place, project, settings };
  const live = [await findSkill(search), await findMemory(search)] as const;
  const workspaces = await work?.open(review.record.work?.commit || undefined);
  return regate(review, {
    ...{ folder, settings, models, observers, signal, block, state: await readSleepState(folder) },
    config: { ...limits, ...(work && { rolloutTimeoutMs: work.longestMs }) },
    scorers: nightScorers(work),
    documents: { skill: readText(live[0]), memory: live[1].text },
    work: workspaces && nightWork(workspaces, { documents: live, folder: project }),
    readSkill: async (name) => {
      const found = await resolveSkill(name, search);
      return found.status === 'found' ? found.document.text : undefined;
    },
  });
}
