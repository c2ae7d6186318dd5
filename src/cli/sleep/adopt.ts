import { adoptProposals, type GitState, gitState, rollbackProposals } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { type Adopted, agentLoads, type Proposal, type RolledBack } from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  choosePending,
  commandFor,
  isAnyNamed,
  isNamed,
  meantProject,
  nightCommand,
  type ProposalFlags,
} from './proposals.ts';
import { placeOf } from './sleep-flags.ts';

export async function adoptChosen(flags: ProposalFlags, terminal: Terminal): Promise<void> {
  const { adopted, proposals } = await adoptProposals(
    among(flags, terminal, (mine) => chooseToAdopt(mine, flags, terminal)),
  );
  const told = await Promise.all(
    adopted.map(async (one) => ({
      ...one,
      git: await gitState(one.realPath),
      undo: undoOf(one, adopted, proposals, terminal),
    })),
  );
  const lines = told.flatMap((one) => adoptedLines(one, terminal));
  terminal.answer({ adopted: told.map(shown) }, lines);
}

function among(flags: ProposalFlags, terminal: Terminal, choose: (mine: readonly Proposal[]) => Proposal[]) {
  const { isOf } = meantProject(flags, terminal);
  return {
    stateFolder: stateFolderOf(placeOf(terminal)),
    choose: (all: readonly Proposal[]) => choose(all.filter(({ project }) => isOf(project))),
    notices: terminal,
  };
}

/** Pending proposals; if a named night has none, those of it that were rolled back. */
function chooseToAdopt(proposals: readonly Proposal[], flags: ProposalFlags, terminal: Terminal): Proposal[] {
  const having = (wanted: Proposal['status'], some = proposals) => some.filter(({ status }) => status === wanted);
  const meant = proposals.filter((one) => isNamed(one, flags));
  const again = flags.night === undefined ? [] : having('rolled_back', meant);
  if (having('pending', meant).length === 0) {
    if (again.length > 0) return choosePending(again, flags, terminal);
    refuseAgain(having('adopted', meant).at(-1), terminal);
  }
  return choosePending(having('pending'), flags, terminal, { rolledBack: having('rolled_back').at(-1) });
}

/** Adopting twice is harmless: the answer is that it is done. */
function refuseAgain(done: Proposal | undefined, terminal: Terminal): void {
  if (!done) return;
  const what = `what night ${done.night} proposed was adopted already, on ${done.adoptedAt.slice(0, 10)}`;
  const hint = `There is nothing more to do. To undo it: ${nightCommand(done, terminal, 'rollback')}`;
  throw new SkillError('USAGE', what, { hint });
}

/** The command that undoes this adoption, and no earlier one of the same night. */
function undoOf(
  { proposal }: Adopted,
  together: readonly Adopted[],
  proposals: readonly Proposal[],
  terminal: Terminal,
): string {
  const isOther = (one: Proposal) => together.every(({ proposal: { id } }) => id !== one.id);
  const isSameNight = (one: Proposal) => one.project === proposal.project && one.night === proposal.night;
  const hasOther = proposals.some((one) => isSameNight(one) && one.status === 'adopted' && isOther(one));
  return (hasOther ? commandFor : nightCommand)(proposal, terminal, 'rollback');
}

type ToldAdoption = Adopted & { readonly git: GitState | undefined; readonly undo: string };

const shown = ({ proposal, git, undo: _undo, ...rest }: ToldAdoption) => ({
  ...rest,
  id: proposal.id,
  night: proposal.night,
  document: proposal.document,
  loads: agentLoads(rest.path),
  uncommitted: git?.changes ?? null,
});

const REBASED = 'you changed it since the night: your text stays, only the learned block was put in';

function adoptedLines(
  { proposal, path, realPath, receipt, isRebased, backup, git, undo }: ToldAdoption,
  { colors }: Terminal,
): string[] {
  const { kind, name } = proposal.document;
  const row = (title: string, text: string) => `  ${colors.dim(title.padEnd(7))} ${oneLine(text)}`;
  return [
    `${colors.bold('adopted')} what night ${proposal.night} proposed for the ${kind} ${oneLine(name)}`,
    row(receipt === '' ? 'said' : 'wrote', receipt === '' ? `${realPath} says it already` : realPath),
    ...(path === realPath ? [] : [row('link', `${path} leads to it`)]),
    ...(isRebased ? [row('edited', REBASED)] : []),
    row('loaded', agentLoads(path)),
    ...(receipt === '' ? [] : [row('before', backup ?? 'there was no file')]),
    row('undo', undo),
    ...(git && git.changes > 0
      ? [row('git', `${plural(git.changes, 'change')} in this tree not committed; nothing was committed`)]
      : []),
  ];
}

/** Undoes the last adoption, those of one night, or the last one of the documents that are named. */
export async function rollBackChosen(flags: ProposalFlags, terminal: Terminal): Promise<void> {
  const done = await rollbackProposals(among(flags, terminal, (mine) => chooseAdopted(mine, flags)));
  const rolledBack = done.map(({ proposal: { id, night, document }, ...rest }) => ({ ...rest, id, night, document }));
  const lines = done.flatMap((one) => rolledBackLines(one, terminal));
  terminal.answer({ rolledBack }, lines);
}

/** The newest first: a later adoption may build on an earlier one. */
function chooseAdopted(proposals: readonly Proposal[], flags: ProposalFlags): Proposal[] {
  const { night } = flags;
  const adopted = proposals
    .filter(({ status }) => status === 'adopted')
    .toSorted((a, b) => Date.parse(b.adoptedAt) - Date.parse(a.adoptedAt));
  const [last] = adopted;
  const isTogether = (one: Proposal) => one === last || (one.receipt !== '' && one.receipt === last?.receipt);
  const isNewest = (one: Proposal) =>
    one === adopted.find(({ document }) => document.realPath === one.document.realPath);
  const isMeant = (one: Proposal) => night !== undefined || (isAnyNamed(flags) ? isNewest(one) : isTogether(one));
  const chosen = adopted.filter((one) => isNamed(one, flags) && isMeant(one));
  if (chosen.length > 0) return chosen;
  const named = flags.skill ? ` for ${oneLine(flags.skill.join(', '))}` : '';
  const what = `${night === undefined ? 'nothing was' : `nothing of night ${night} is`} adopted${named}`;
  const nights = [...new Set(adopted.map((one) => one.night))];
  const hint =
    nights.length > 0 ? `Adopted: ${nights.map((one) => `night ${one}`).join(', ')}.` : 'There is nothing to undo.';
  throw new SkillError('USAGE', what, { hint });
}

const WORDS: Readonly<Record<RolledBack['how'], string>> = {
  restored: 'is byte for byte what it was before',
  removed: 'is gone: adoption had made it',
  block: 'was edited since: your text stays, only the learned block is what it was before',
  already: 'has nothing to undo; nothing was written',
};

function rolledBackLines({ proposal, realPath, how }: RolledBack, terminal: Terminal): string[] {
  const { colors } = terminal;
  const { kind, name } = proposal.document;
  return [
    `${colors.bold('rolled back')} what night ${proposal.night} proposed for the ${kind} ${oneLine(name)}`,
    `  ${oneLine(realPath)} ${WORDS[how]}`,
    `  ${colors.dim('again  ')} ${commandFor(proposal, terminal)}`,
  ];
}
