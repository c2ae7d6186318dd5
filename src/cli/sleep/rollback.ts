import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { type Proposal, type RolledBack, rollback } from '../../sleep/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { openSettled } from './adopt.ts';
import { commandFor, isAnyNamed, isNamed, meantProject, type ProposalFlags } from './choose-proposals.ts';

/** Undoes the last adoption, those of one night, or the last one of the documents that are named. */
export async function rollBackChosen(flags: ProposalFlags, terminal: Terminal): Promise<void> {
  await using open = await openSettled(terminal);
  const { isOf } = meantProject(flags, terminal);
  const proposals = chooseAdopted(
    open.state.proposals.filter(({ project }) => isOf(project)),
    flags,
  );
  const done = await rollback({ open, proposals });
  terminal.answer(
    { rolledBack: done.map(({ proposal: { id, night, document }, ...rest }) => ({ ...rest, id, night, document })) },
    done.flatMap((one) => rolledBackLines(one, terminal)),
  );
}

/** The newest first, so that what was built upon is undone after what was built upon it. */
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
  const { kind, name } = proposal.document;
  const { colors } = terminal;
  return [
    `${colors.bold('rolled back')} what night ${proposal.night} proposed for the ${kind} ${oneLine(name)}`,
    `  ${oneLine(realPath)} ${WORDS[how]}`,
    `  ${colors.dim('again  ')} ${commandFor(proposal, terminal)}`,
  ];
}
