import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, percent, plural, points, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import {
  commandOf,
  type DocumentReport,
  type NextCommand,
  nightCommandOf,
  type ProposalCommand,
  type SleepReport,
} from '../../report/index.ts';
import { isProjectOf, marksOf, type Proposal } from '../../sleep/index.ts';
import { Answered } from '../errors.ts';
import type { OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type ProposalFlags = OptionalFlags<'project', 'allSkills' | 'memory', 'night'> & {
  readonly skill?: readonly string[];
};

/** The folder that is meant, and whether a project is that folder or one above it. */
export function meantProject({ project = '.' }: ProposalFlags, { io }: Terminal) {
  const here = resolvePath(io.cwd(), project);
  return { here, isOf: isProjectOf(here) };
}

type PendingChoice = {
  readonly command?: ProposalCommand;
  readonly most?: number;
  /** What could be adopted again when nothing waits. */
  readonly rolledBack?: Proposal | undefined;
};

/** The proposals that the flags mean. If that is not clear, lists what waits with the commands to type, and ends the command. */
export function choosePending(
  pending: readonly Proposal[],
  flags: ProposalFlags,
  terminal: Terminal,
  { command = 'adopt', most = Number.POSITIVE_INFINITY, rolledBack }: PendingChoice = {},
): Proposal[] {
  if (pending.length === 0) throw nothingPending(terminal, rolledBack);
  const chosen = pending.filter((proposal) => isNamed(proposal, flags));
  const isClear = chosen.length === 1 || (command === 'adopt' && isAnyNamed(flags));
  if (chosen.length === 0) throw notAmong(pending, flags, terminal);
  if (isClear && !hasTwice(chosen) && chosen.length <= most) return chosen;
  const several = isAnyNamed(flags) ? chosen : pending;
  terminal.answer({ pending: pending.map(shownProposal) }, severalLines(several, command, terminal));
  throw new Answered(2);
}

export const isAnyNamed = ({ skill, allSkills, memory, night }: ProposalFlags) =>
  skill !== undefined || allSkills === true || memory === true || night !== undefined;

/** Without such flags, every proposal is meant. */
export function isNamed({ night, document: { kind, name } }: Proposal, flags: ProposalFlags): boolean {
  if (flags.night !== undefined && flags.night !== night) return false;
  if (!flags.skill && !flags.allSkills && !flags.memory) return true;
  return kind === 'memory' ? flags.memory === true : flags.allSkills === true || (flags.skill?.includes(name) ?? false);
}

const hasTwice = (proposals: readonly Proposal[]) =>
  new Set(proposals.map(({ document }) => document.realPath)).size < proposals.length;

/** For `--json`: the texts of the blocks are long, and in the diff. */
export function shownProposal(proposal: Proposal) {
  const { baseBlock: _base, block: _block, concerns: _concerns, ...rest } = proposal;
  return { ...rest, marked: marksOf(proposal) };
}

/** `night 12, 2026-01-31: skill my-skill, +4.2 points, 97.5 % sure`. */
export function proposalLine(proposal: Proposal): string {
  const { night, document, gain, confidence, at, status } = proposal;
  const striking = status === 'pending' ? marksOf(proposal).filter(({ isStriking }) => isStriking).length : 0;
  const worth = gain === null ? '' : `, ${points(gain.value)} points`;
  const sure = gain === null || confidence === null ? '' : `, ${percent(confidence)} sure`;
  return `night ${night}, ${at.slice(0, 10)}: ${document.kind} ${oneLine(document.name)}${worth}${sure}${striking > 0 ? `, ${plural(striking, 'line')} to look at` : ''}`;
}

function severalLines(proposals: readonly Proposal[], command: ProposalCommand, terminal: Terminal): string[] {
  const [first, second] = proposals;
  const isOneNight = second !== undefined && proposals.every(({ night }) => night === first!.night);
  const canTakeAll = command === 'adopt' && isOneNight && !hasTwice(proposals);
  return [
    `Say which of ${plural(proposals.length, 'proposal')}:`,
    ...proposals.flatMap((proposal) => [
      `  ${proposalLine(proposal)}`,
      terminal.colors.dim(`    ${commandFor(proposal, terminal, command)}`),
    ]),
    ...(canTakeAll ? [`all of them: ${nightCommand(first!, terminal)}`] : []),
  ];
}

type OneProposal = OneNight & Waiting;

export const commandFor = (proposal: OneProposal, terminal: Terminal, command: ProposalCommand = 'adopt') =>
  terminal.called(commandOf(proposal, command)) + projectWords(proposal.project, terminal);

export const nightCommand = ({ night, project }: OneNight, terminal: Terminal, command: ProposalCommand = 'adopt') =>
  terminal.called(nightCommandOf(night, command)) + projectWords(project, terminal);

const projectWords = (project: string, terminal: Terminal) =>
  meantProject({}, terminal).isOf(project) ? '' : ` --project ${shellWord(project)}`;

function nothingPending(terminal: Terminal, rolledBack: Proposal | undefined): SkillError {
  const hint = rolledBack
    ? `What night ${rolledBack.night} proposed was rolled back. To adopt it again: ${commandFor(rolledBack, terminal)}`
    : 'skillopt sleep run lets a night look for something; skillopt sleep status shows what was adopted.';
  return new SkillError('USAGE', `no proposal waits for ${oneLine(terminal.io.cwd())}`, { hint });
}

function notAmong(pending: readonly Proposal[], { skill, night }: ProposalFlags, terminal: Terminal): SkillError {
  const wanted =
    [skill && `skill ${skill.join(', ')}`, night && `night ${night}`].filter(Boolean).join(' of ') || 'that';
  const hint = `There is: ${pending.map((proposal) => `${proposalLine(proposal)} (${commandFor(proposal, terminal)})`).join('; ')}`;
  return new SkillError('USAGE', `no proposal waits for ${oneLine(wanted)}`, { hint });
}

type Waiting = { readonly document: Pick<DocumentReport, 'kind' | 'name'> };
type OneNight = Pick<SleepReport, 'night' | 'project'>;

export function nightCommands(night: OneNight, waiting: readonly Waiting[], terminal: Terminal): NextCommand[] {
  const [first] = waiting;
  if (first === undefined) return [];
  const isOne = waiting.length === 1;
  const review = isOne
    ? nightCommand(night, terminal, 'review')
    : commandFor({ ...night, ...first }, terminal, 'review');
  return [
    [review, `go through ${isOne ? 'it' : 'one of them'}, rule by rule`],
    [nightCommand(night, terminal), isOne ? 'put it into the live document' : 'put them into the live documents'],
  ];
}
