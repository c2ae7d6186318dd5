import { SkillError } from '../../../core/contracts/index.ts';
import { oneLine, plural, points, strip } from '../../../core/text/index.ts';
import {
  changesOf,
  findMemory,
  findProposal,
  findSkill,
  isHandoff,
  nightWork,
  openReview,
  openSleepState,
  type Proof,
  type Proposal,
  pendingProposals,
  type Reviewable,
  type ReviewDecision,
  type ReviewedChange,
  readSleepState,
  recordProposal,
  regate,
  regateCost,
  resolveSkill,
  reviewedBlock,
  settleText,
  stageAgain,
} from '../../../sleep/index.ts';
import { interruptible } from '../../interrupt.ts';
import { openProgress } from '../../progress/progress.ts';
import { confirm } from '../../terminal/ask.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { choosePending, commandFor, meantProject, type ProposalFlags } from '../choose-proposals.ts';
import { type OpenSleep, openSleep, privateFiles } from '../open-sleep.ts';
import { planOf } from '../plan-lines.ts';
import { openModels, type RunFlags, scorersOfNight } from '../run.ts';
import { askAbout } from './ask-about.ts';

export type ReviewFlags = RunFlags &
  ProposalFlags & {
    /** Numbers of changes, from 1. */
    readonly dropChange?: readonly number[];
    readonly yes?: boolean;
  };

/** Goes through a proposal edit by edit. What is kept of it is measured again before it takes the proposal's place. */
export async function reviewProposal(flags: ReviewFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(flags, terminal);
  const { isOf } = meantProject(flags, terminal);
  const pending = pendingProposals(await readSleepState(sleep.folder), isOf);
  const [proposal] = choosePending(pending, flags, terminal, { command: 'review', most: 1 });
  const changes = changesOf(proposal!);
  if (flags.dropChange === undefined && !terminal.canAsk) return list(proposal!, changes, terminal);
  await warnWithoutModel(sleep, terminal);
  const decisions = await decide(changes, flags, terminal);
  if (decisions === undefined) return unchanged(terminal);
  const review = await openReview(sleep.folder, proposal!);
  const block = reviewedBlock(proposal!, changes, decisions, review.block);
  if (strip(block) === strip(review.block)) return dropWhole(proposal!, sleep, terminal);
  const isMoved = strip(review.block) !== strip(proposal!.baseBlock);
  if (block === proposal!.block && !isMoved) return unchanged(terminal);
  await measureAgain({ review, block, sleep, flags }, terminal);
}

/** Without one nothing but all of it can be dropped: said before anybody decides anything. */
async function warnWithoutModel(sleep: OpenSleep, terminal: Terminal): Promise<void> {
  await planOf(sleep, []).catch((error: Error) =>
    terminal.warn(`what you keep of it cannot be measured: ${error.message}; name a model with --target`),
  );
}

const unchanged = ({ answer }: Terminal) =>
  answer({ changed: false }, ['Nothing was changed: the proposal waits as it was.']);

/** `undefined`: the person quit. */
async function decide(
  changes: readonly ReviewedChange[],
  { dropChange }: ReviewFlags,
  terminal: Terminal,
): Promise<ReviewDecision[] | undefined> {
  if (dropChange === undefined) return askAbout(changes, terminal);
  const unknown = dropChange.find((number) => number > changes.length);
  if (unknown === undefined) return changes.map((_, index) => (dropChange.includes(index + 1) ? 'drop' : 'keep'));
  throw new SkillError('USAGE', `expected the number of a change from 1 to ${changes.length}, got ${unknown}`, {
    hint: 'skillopt sleep review lists them.',
  });
}

function list(proposal: Proposal, changes: readonly ReviewedChange[], { answer, colors }: Terminal): void {
  const { id, night, document, gain } = proposal;
  const numbered = changes.map((change, index) => ({ number: index + 1, ...change }));
  answer({ proposal: id, night, document, gain, changes: numbered }, [
    `night ${night} proposes ${plural(changes.length, 'change')} of ${oneLine(document.name)}:`,
    ...numbered.map(({ number, kind, rule }) => `  ${number}. ${kind === 'add' ? '+' : '−'} ${oneLine(rule)}`),
    colors.dim(
      'A terminal asks about each. Elsewhere --drop-change NUMBER drops one, and --yes agrees to measure the rest.',
    ),
  ]);
}

async function dropWhole(proposal: Proposal, { folder }: OpenSleep, { answer }: Terminal): Promise<void> {
  await using open = await openSleepState(folder);
  requireAsItWas(findProposal(open.state, proposal), proposal);
  await open.update((state) => recordProposal(state, { ...proposal, status: 'dropped' }));
  answer({ changed: true, dropped: proposal.id }, [
    'Nothing is left of it: the proposal is dropped, and the document is as it was.',
  ]);
}

type Again = {
  readonly review: Reviewable;
  readonly block: string;
  readonly sleep: OpenSleep;
  readonly flags: ReviewFlags;
};

async function measureAgain({ review, block, sleep, flags }: Again, terminal: Terminal): Promise<void> {
  if (sleep.settings.target !== undefined && isHandoff(sleep.settings.target)) throw handedOver();
  if (!(await isAgreed(review, flags, terminal))) return unchanged(terminal);
  const proof = await measured({ review, block, sleep, flags }, terminal);
  const { proposal } = review;
  const at = new Date().toISOString();
  await using open = await openSleepState(sleep.folder);
  const row = { project: proposal.project, night: proposal.night, at, accepted: proof.isProven, nTasks: 0 };
  await open.update((state) => ({
    ...state,
    history: [...state.history, { ...row, isTested: true, gateAction: 'review' }],
  }));
  requireAsItWas(findProposal(open.state, proposal), proposal);
  if (proof.isProven) {
    const proven = await stageAgain(review, { folder: sleep.folder, block, proof, at });
    await open.update((state) => recordProposal(state, proven));
    await settleText(sleep.folder, proven);
  }
  answerWith(proof, proposal, terminal);
}

const handedOver = () =>
  new SkillError('USAGE', 'a review measures at once, and a handoff answers over several rounds', {
    hint: 'Name a model for it: --target PROVIDER:MODEL; or adopt the proposal as it is.',
  });

/** What it costs is said before anything is spent. */
async function isAgreed(review: Reviewable, { yes, maxCalls }: ReviewFlags, terminal: Terminal): Promise<boolean> {
  const { tasks, least, most } = regateCost(review, scorersOfNight());
  const cost = `What you kept is measured again on ${plural(tasks, 'held-out task')}: ${least} to ${most} calls of models.`;
  if (maxCalls !== undefined && maxCalls < least) {
    const hint = `Nothing was changed, and nobody was asked. Allow at least ${least}.`;
    throw new SkillError('USAGE', `${cost} --max-calls ${maxCalls} is too few.`, { hint });
  }
  if (yes) terminal.say(cost);
  if (yes) return true;
  if (terminal.canAsk) return confirm(`${cost} Do it now?`);
  throw new SkillError('USAGE', `${cost} Nobody can be asked here whether to do it.`, {
    hint: 'Nothing was changed. Agree with --yes; --max-calls NUMBER is a limit.',
  });
}

async function measured({ review, block, sleep, flags }: Again, terminal: Terminal): Promise<Proof> {
  const { folder, settings, place } = sleep;
  const { models, config, scorers, work } = await openModels(sleep, flags, terminal);
  const { agent, project } = review.record;
  const search = { agent, place, project, settings };
  const live = [await findSkill(search), await findMemory(search)] as const;
  const documents = { skill: live[0].text, memory: live[1].text };
  const opened = await work?.open(review.record.work?.commit || undefined);
  const state = await readSleepState(folder);
  using _ = privateFiles();
  const progress = openProgress(terminal, { isQuiet: flags.quiet === true });
  return await interruptible({ io: terminal.io, onStop: progress.log }, (signal) =>
    regate(review, {
      ...{ folder, settings, models, config, scorers, signal, state, block, documents },
      work: opened && nightWork(opened, { documents: live, folder: project }),
      readSkill: async (name) => {
        const found = await resolveSkill(name, search);
        return found.status === 'found' ? found.document.text : undefined;
      },
      observers: [progress],
    }),
  ).finally(progress.close);
}

/** Somebody may have adopted it, or reviewed it, while this was measured. */
function requireAsItWas(now: Proposal | undefined, before: Proposal): void {
  if (now?.status === 'pending' && now.digest === before.digest && now.block === before.block) return;
  throw new SkillError('USAGE', `proposal ${before.id} was changed, adopted or dropped in the meantime`, {
    hint: 'Nothing was changed by this review. skillopt sleep status shows what waits.',
  });
}

function answerWith({ isProven, gain, pValue, passes }: Proof, proposal: Proposal, terminal: Terminal): void {
  const told = `${points(gain.value)} points on held-out tasks`;
  terminal.answer({ changed: isProven, gain, pValue, passes }, [
    isProven
      ? `What you kept is proven: ${told}. It waits for: ${commandFor(proposal, terminal)}`
      : `What you kept is not proven (${told}, by chance ${(100 * pValue).toFixed(1)} %). The proposal waits as it was.`,
  ]);
}
