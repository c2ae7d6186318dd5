import { type GitState, gitState } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import {
  type Adopted,
  adopt,
  agentLoads,
  type OpenSleepState,
  openSleepState,
  type Proposal,
  type SleepState,
  settle,
} from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  choosePending,
  commandFor,
  isNamed,
  meantProject,
  nightCommand,
  type ProposalFlags,
} from './choose-proposals.ts';
import { placeOf } from './open-sleep.ts';

/** Puts what nights proposed into the live documents, and says what that means for the agent. */
export async function adoptChosen(flags: ProposalFlags, terminal: Terminal): Promise<void> {
  await using open = await openSettled(terminal);
  const { isOf } = meantProject(flags, terminal);
  const proposals = chooseToAdopt(
    open.state.proposals.filter(({ project }) => isOf(project)),
    flags,
    terminal,
  );
  const adopted = await adopt({ open, proposals, at: new Date().toISOString() });
  const told = await Promise.all(
    adopted.map(async (one) => ({
      ...one,
      git: await gitState(one.realPath),
      undo: undoOf(one, adopted, open.state, terminal),
    })),
  );
  terminal.answer(
    { adopted: told.map(shown) },
    told.flatMap((one) => adoptedLines(one, terminal)),
  );
}

/** The state for writing, after what a crash may have left was put right; and that is said. */
export async function openSettled(terminal: Terminal): Promise<OpenSleepState> {
  const open = await openSleepState(stateFolderOf(placeOf(terminal)), { onWarning: terminal.warn });
  try {
    const { restored, left } = await settle(open);
    for (const path of restored) terminal.note(`a change that was cut off was taken back: ${path}`);
    for (const { path, why, backup } of left)
      terminal.warn(
        `a change of ${path} was cut off and is left as it is: ${why}${backup ? `; what it was before: ${backup}` : ''}`,
      );
    return open;
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

/** What waits; or, when nothing of a named night does, what was rolled back of it. */
function chooseToAdopt(proposals: readonly Proposal[], flags: ProposalFlags, terminal: Terminal): Proposal[] {
  const having = (wanted: Proposal['status'], among = proposals) => among.filter(({ status }) => status === wanted);
  const meant = proposals.filter((one) => isNamed(one, flags));
  const again = flags.night === undefined ? [] : having('rolled_back', meant);
  if (having('pending', meant).length === 0) {
    if (again.length > 0) return choosePending(again, flags, terminal);
    refuseAgain(having('adopted', meant).at(-1), terminal);
  }
  return choosePending(having('pending'), flags, terminal, { rolledBack: having('rolled_back').at(-1) });
}

/** Who adopts twice means no harm: the answer is that it is done. */
function refuseAgain(done: Proposal | undefined, terminal: Terminal): void {
  if (!done) return;
  const what = `what night ${done.night} proposed was adopted already, on ${done.adoptedAt.slice(0, 10)}`;
  throw new SkillError('USAGE', what, {
    hint: `There is nothing more to do. To undo it: ${nightCommand(done, terminal, 'rollback')}`,
  });
}

/** Undoes this and nothing that was adopted of the same night before. */
function undoOf(
  { proposal }: Adopted,
  together: readonly Adopted[],
  { proposals }: SleepState,
  terminal: Terminal,
): string {
  const isOther = (one: Proposal) => together.every(({ proposal: { id } }) => id !== one.id);
  const hasOther = proposals.some(
    (one) =>
      one.project === proposal.project && one.night === proposal.night && one.status === 'adopted' && isOther(one),
  );
  return (hasOther ? commandFor : nightCommand)(proposal, terminal, 'rollback');
}

type Told = Adopted & { readonly git: GitState | undefined; readonly undo: string };

const shown = ({ proposal, git, undo: _undo, ...rest }: Told) => ({
  ...rest,
  id: proposal.id,
  night: proposal.night,
  document: proposal.document,
  loads: agentLoads(rest.path),
  uncommitted: git?.changes ?? null,
});

function adoptedLines(
  { proposal, path, realPath, receipt, isRebased, backup, git, undo }: Told,
  { colors }: Terminal,
): string[] {
  const { kind, name } = proposal.document;
  const row = (title: string, text: string) => `  ${colors.dim(title.padEnd(7))} ${oneLine(text)}`;
  return [
    `${colors.bold('adopted')} what night ${proposal.night} proposed for the ${kind} ${oneLine(name)}`,
    row(receipt === '' ? 'said' : 'wrote', receipt === '' ? `${realPath} says it already` : realPath),
    ...(path === realPath ? [] : [row('link', `${path} leads to it`)]),
    ...(isRebased
      ? [row('edited', 'you changed it since the night: your text stays, only the learned block was put in')]
      : []),
    row('loaded', agentLoads(path)),
    ...(receipt === '' ? [] : [row('before', backup ?? 'there was no file')]),
    row('undo', undo),
    ...(git && git.changes > 0
      ? [row('git', `${plural(git.changes, 'change')} in this tree not committed; nothing was committed`)]
      : []),
  ];
}
