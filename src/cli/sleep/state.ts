import { existsSync } from 'node:fs';
import {
  adoptProposals,
  type GitState,
  gitState,
  type NightStatus,
  nightStatus,
  rollbackProposals,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { callWords, costWords } from '../../core/run/index.ts';
import { count, oneLine, plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { markLines, notReplayableText, type WithTools, withToolsText, wrap } from '../../report/index.ts';
import {
  type Adopted,
  agentLoads,
  isProjectOf,
  marksOf,
  openSleepState,
  type Proposal,
  PURGEABLE,
  type Purgeable,
  purge,
  type RolledBack,
  readSleepState,
} from '../../sleep/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
import type { OptionalFlags } from '../run-command.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  choosePending,
  commandFor,
  isAnyNamed,
  isNamed,
  meantProject,
  nightCommand,
  type ProposalFlags,
  proposalLine,
  shownProposal,
} from './proposals.ts';
import { shortLine } from './short-status.ts';
import { placeOf } from './sleep-flags.ts';

type StatusFlags = OptionalFlags<'project', 'short'>;

/** Shows what waits for a person. Reads the state and nothing else, so that it is quick. */
export async function showStatus(flags: StatusFlags, terminal: Terminal): Promise<void> {
  const { here } = meantProject(flags, terminal);
  const status = await nightStatus(stateFolderOf(placeOf(terminal)), here, flags.short ? undefined : terminal);
  const [pending, adopted] = [status.pending.map(shownProposal), status.adopted.map(shownProposal)];
  const { isCutOff, unfinished } = status;
  const waiting = { proposals: pending.length, hasQuestions: Boolean(unfinished?.questions), isCutOff };
  const lines = flags.short ? shortLine(waiting) : statusLines(status, terminal);
  terminal.answer({ ...status, pending, adopted }, lines);
}

function unfinishedLines(unfinished: NightStatus['unfinished']): string[] {
  if (unfinished === null) return [];
  const { night, questions, cost } = unfinished;
  const spent = cost.calls > 0 ? ` after ${callWords(cost)}, ${costWords(cost)}` : '';
  const why = questions ? `waits for answers: ${shownPath(questions)}` : `is under way, or was cut off${spent}`;
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

/** Nights of earlier versions say nothing of tools, of dollars and of what a proof needs. */
function lastNightLines(last: NonNullable<NightStatus['lastNight']>, width: number): string[] {
  const { night, at, nTasks, withTools, notReplayable, needs, calls, costUsd, isPriced } = last;
  const cost = { calls: Number(calls), costUsd: Number(costUsd), isPriced: isPriced === true };
  const spent = costUsd === undefined ? '' : `, ${callWords(cost)}, ${costWords(cost)}`;
  const more = [
    withToolsText(withTools as WithTools | undefined),
    notReplayableText(Number(notReplayable ?? 0)),
    String(needs ?? ''),
  ];
  return [
    `last night: ${night}, ${at.slice(0, 10)}, ${plural(nTasks, 'task')}${spent}`,
    ...more.filter((line) => line !== '').flatMap((line) => wrap(`  ${line}`, width, '  ')),
  ];
}

const CUT_OFF = 'an adoption is under way, or was cut off: the next skillopt sleep adopt or rollback puts that right';

function statusLines(status: NightStatus, terminal: Terminal): string[] {
  const { project, pending, adopted, elsewhere, isCutOff, lastNight, unfinished, schedule, overNights } = status;
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
    ...(isCutOff ? [terminal.called(CUT_OFF)] : []),
  ];
}

type PurgeFlags = OptionalFlags<'project', 'yes'>;

export async function purgeKept(what: string, { project, yes }: PurgeFlags, terminal: Terminal): Promise<void> {
  const place = placeOf(terminal);
  await using open = await openSleepState(stateFolderOf(place), { onWarning: terminal.warn });
  const of = project === undefined ? undefined : resolvePath(terminal.io.cwd(), project);
  const chosen = { what: readWhat(what), project: of, place };
  const lost = yes ? undefined : lostBy(chosen, open.state.proposals);
  if (lost !== undefined && !terminal.canAsk) {
    const hint = 'Nothing was deleted. Call it with --yes if that is meant.';
    throw new SkillError('USAGE', `this would delete ${lost}`, { hint });
  }
  if (lost !== undefined && !(await confirm(`This deletes ${lost}. Do it?`)))
    return terminal.answer({ removed: {} }, ['Nothing was deleted.']);
  const removed = await purge(open, chosen);
  const lines = Object.entries(removed).map(([kind, times]) => `deleted ${kind}: ${count(times)}`);
  terminal.answer({ removed }, lines.length > 0 ? lines : [`there was nothing to delete in ${open.folder}`]);
}

type Chosen = { readonly what: Purgeable; readonly project: string | undefined };

/** What goes that only a person can miss, in words; `undefined` if nothing does. */
function lostBy({ what, project }: Chosen, proposals: readonly Proposal[]): string | undefined {
  const isOf = (one: Proposal) => project === undefined || isProjectOf(one.project)(project);
  const of = (status: Proposal['status']) => proposals.filter((one) => one.status === status && isOf(one)).length;
  const [waiting, adopted] = [of('pending'), of('adopted')];
  if ((what !== 'all' && what !== 'nights') || waiting + adopted === 0) return undefined;
  return `${plural(waiting, 'proposal')} that ${waiting === 1 ? 'waits' : 'wait'}, and the texts that ${plural(adopted, 'adoption')} could be rolled back to`;
}

function readWhat(what: string): Purgeable {
  const found = PURGEABLE.find((one) => one === what);
  if (found !== undefined) return found;
  const hint = 'See skillopt sleep purge --help.';
  throw new SkillError('USAGE', `expected one of ${PURGEABLE.join(', ')}, got ${JSON.stringify(what)}`, { hint });
}

type AdoptFlags = ProposalFlags & { readonly marked?: boolean; readonly digest?: readonly string[] };

export async function adoptChosen(flags: AdoptFlags, terminal: Terminal): Promise<void> {
  const chosen = among(flags, terminal, (mine) => chooseToAdopt(mine, flags, terminal));
  const agreed = flags.marked || terminal.canAsk ? await agreedTo(chosen, flags, terminal) : [];
  if (agreed === undefined)
    return terminal.answer({ adopted: [] }, ['Nothing was adopted: the proposal waits as it was.']);
  const { adopted, proposals } = await adoptProposals({ ...chosen, agreed, digests: flags.digest });
  const told: ToldAdoption[] = [];
  for (const one of adopted)
    told.push({ ...one, git: await gitState(one.realPath), undo: undoOf(one, adopted, proposals, terminal) });
  const lines = told.flatMap((one) => adoptedLines(one, terminal));
  terminal.answer({ adopted: told.map(shown) }, lines);
}

/** Shows the marked lines of what would be adopted, and asks. `undefined`: the person does not want them. */
async function agreedTo({ stateFolder, choose }: ReturnType<typeof among>, { marked }: AdoptFlags, terminal: Terminal) {
  const chosen = choose((await readSleepState(stateFolder)).proposals);
  const striking = chosen.flatMap(marksOf).filter(({ isStriking }) => isStriking);
  const lines = striking.flatMap((one) => markLines(one, terminal));
  const digests = chosen.map(({ digest }) => digest);
  if (marked || lines.length === 0) return digests;
  terminal.say(lines.join('\n'));
  return (await confirm('Adopt these marked lines?')) ? digests : undefined;
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
    const done = having('adopted', meant).at(-1);
    if (done !== undefined && !existsSync(done.document.realPath)) return [done]; // somebody deleted it: it can be put there again
    refuseAgain(done, terminal);
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
function undoOf({ proposal }: Adopted, all: readonly Adopted[], proposals: readonly Proposal[], terminal: Terminal) {
  const isOther = (one: Proposal) => all.every(({ proposal: { id } }) => id !== one.id);
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
const UNCOMMITTED = 'in this tree not committed; nothing was committed';

function adoptedLines(adoption: ToldAdoption, { colors }: Terminal): string[] {
  const { proposal, path, realPath, receipt, isRebased, backup, git, undo } = adoption;
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
    ...(git?.changes ? [row('git', `${plural(git.changes, 'change')} ${UNCOMMITTED}`)] : []),
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
