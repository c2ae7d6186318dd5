import { dirname } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { oneLine } from '../../core/text/printable.ts';
import { findMemory, findSkill } from '../../sleep/documents/find-documents.ts';
import type { LiveDocument } from '../../sleep/documents/live-document.ts';
import { resolveSkill } from '../../sleep/documents/resolve-skill.ts';
import { regate, regateCost } from '../../sleep/night/regate.ts';
import { type Proposal, pendingProposals, recordProposal } from '../../sleep/staging/proposal.ts';
import { changesOf, type ReviewDecision, type ReviewedChange, reviewedBlock } from '../../sleep/staging/review.ts';
import { openSleepState, readSleepState } from '../../sleep/state/state-file.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import { confirm } from '../terminal/confirm.ts';
import { plural, points } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { askAbout } from './ask-about.ts';
import { choosePending, meantProject, type ProposalFlags } from './choose-proposals.ts';
import { type OpenSleep, openSleep } from './open-sleep.ts';
import { openModels, type RunFlags } from './run.ts';

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
  const [proposal] = choosePending(pending, flags, terminal, 'review');
  const changes = changesOf(proposal!);
  const decisions = await decide(changes, flags, terminal);
  if (decisions === undefined) return list(proposal!, changes, terminal);
  const block = reviewedBlock(proposal!, changes, decisions);
  if (block === proposal!.block)
    return terminal.answer({ changed: false }, ['Nothing was changed: it waits as it was.']);
  if (block === proposal!.baseBlock) return dropWhole(proposal!, sleep, terminal);
  await measureAgain({ proposal: proposal!, block, sleep, flags }, terminal);
}

/** `undefined`: there is nobody to ask, and no flag says anything. */
async function decide(
  changes: readonly ReviewedChange[],
  { dropChange }: ReviewFlags,
  { canAsk }: Terminal,
): Promise<ReviewDecision[] | undefined> {
  if (dropChange === undefined) return canAsk ? askAbout(changes) : undefined;
  const unknown = dropChange.find((number) => number > changes.length);
  if (unknown === undefined) return changes.map((_, index) => (dropChange.includes(index + 1) ? 'drop' : 'keep'));
  throw new SkillError('USAGE', `expected the number of a change from 1 to ${changes.length}, got ${unknown}`, {
    hint: 'skillopt sleep review lists them.',
  });
}

function list(proposal: Proposal, changes: readonly ReviewedChange[], { answer, colors }: Terminal): void {
  const lines = changes.map(
    ({ kind, rule }, index) => `  ${index + 1}. ${kind === 'add' ? '+' : '−'} ${oneLine(rule)}`,
  );
  answer({ proposal: proposal.id, changes }, [
    `night ${proposal.night} proposes ${plural(changes.length, 'change')} of ${oneLine(proposal.document.name)}:`,
    ...lines,
    colors.dim('On a terminal it asks about each; elsewhere: --drop-change NUMBER'),
  ]);
}

async function dropWhole(proposal: Proposal, { folder }: OpenSleep, { answer }: Terminal): Promise<void> {
  await using open = await openSleepState(folder);
  await open.update((state) => recordProposal(state, { ...proposal, status: 'dropped' }));
  answer({ changed: true, dropped: proposal.id }, [
    'Every change was dropped: the proposal is gone, the document is as it was.',
  ]);
}

type Again = {
  readonly proposal: Proposal;
  readonly block: string;
  readonly sleep: OpenSleep;
  readonly flags: ReviewFlags;
};

/** Of a document that the night found by itself, the folder in which it found it. */
const rootsOf = ({ document }: Proposal, known: readonly LiveDocument[]) =>
  known.find(({ live }) => live.realPath === document.realPath)?.roots ?? [dirname(document.realPath)];

async function measureAgain({ proposal, block, sleep, flags }: Again, terminal: Terminal): Promise<void> {
  const { folder, settings, place, project } = sleep;
  const cost = await regateCost(folder, proposal);
  const what = `What you kept is measured again: at least ${cost.attempts * 2} attempts at ${plural(cost.tasks, 'task')}.`;
  if (flags.yes !== true && terminal.canAsk && !(await confirm(`${what} Do it now?`))) {
    return terminal.answer({ changed: false }, ['Nothing was changed: the proposal waits as it was.']);
  }
  const opened = await openModels(sleep, flags, terminal);
  const search = { agent: opened.agent, place, project, settings };
  const [skill, memory] = [await findSkill(search), await findMemory(search)];
  const progress = openProgress(terminal, { isQuiet: flags.quiet === true });
  const { proof, proposal: proven } = await interruptible({ io: terminal.io, onStop: progress.log }, async (signal) =>
    regate({
      ...{
        folder,
        settings,
        proposal,
        block,
        signal,
        models: opened.models,
        config: opened.config,
        scorers: opened.scorers,
      },
      state: await readSleepState(folder),
      documents: { skill: skill.text, memory: memory.text },
      roots: rootsOf(proposal, [skill, memory]),
      readSkill: async (name) => {
        const found = await resolveSkill(name, search);
        return found.status === 'found' ? found.document.text : undefined;
      },
      observers: [progress],
      now: () => new Date(),
    }),
  ).finally(progress.close);
  await using open = await openSleepState(folder);
  const row = { project, night: proposal.night, at: new Date().toISOString(), accepted: proof.isProven, nTasks: 0 };
  await open.update((state) => {
    const tested = { ...state, history: [...state.history, { ...row, isTested: true, gateAction: 'review' }] };
    return proven ? recordProposal(tested, proven) : tested;
  });
  const told = `${points(proof.gain.value)} points on held-out tasks`;
  terminal.answer({ changed: proven !== undefined, gain: proof.gain, pValue: proof.pValue, passes: proof.passes }, [
    proven
      ? `What you kept is proven: ${told}. It waits for: skillopt sleep adopt`
      : `What you kept is not proven (${told}, by chance ${(100 * proof.pValue).toFixed(1)} %). The proposal waits as it was.`,
  ]);
}
