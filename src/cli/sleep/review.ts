import { dropProposal, measureReview, openModels, planOf, reviewCost } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { readRules } from '../../core/document/index.ts';
import { findPoison } from '../../core/guard/index.ts';
import { oneLine, plural, points, strip } from '../../core/text/index.ts';
import {
  changesOf,
  marksOf,
  type OpenSleep,
  openReview,
  openSleep,
  type Proof,
  type Proposal,
  pendingProposals,
  type Reviewable,
  type ReviewDecision,
  type ReviewedChange,
  readSleepState,
  reviewedBlock,
} from '../../sleep/index.ts';
import { interruptible } from '../errors.ts';
import { openProgress } from '../progress/progress.ts';
import { answered, confirm, editByHand } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { choosePending, commandFor, meantProject, type ProposalFlags } from './proposals.ts';
import type { RunFlags } from './run.ts';
import { consentFrom, limitsIn, privateFiles, sleepOptions } from './sleep-flags.ts';

type ReviewFlags = RunFlags & ProposalFlags & { readonly dropChange?: readonly number[]; readonly yes?: boolean };

/** Goes through a proposal edit by edit. What is kept of it is measured again before it takes the proposal's place. */
export async function reviewProposal(flags: ReviewFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const { isOf } = meantProject(flags, terminal);
  const pending = pendingProposals(await readSleepState(sleep.folder), isOf);
  const [proposal] = choosePending(pending, flags, terminal, { command: 'review', most: 1 });
  const changes = changesOf(proposal!);
  if (flags.dropChange === undefined && !terminal.canAsk) return list(proposal!, changes, terminal);
  await warnWithoutModel(sleep, terminal);
  const { dropChange } = flags;
  const decisions = dropChange ? dropNumbered(changes, dropChange) : await askAbout(proposal!, changes, terminal);
  if (decisions === undefined) return unchanged(terminal);
  const review = await openReview(sleep.folder, proposal!);
  const block = reviewedBlock(proposal!, changes, decisions, review.block);
  if (strip(block) === strip(review.block)) {
    await dropProposal(sleep.folder, proposal!);
    return terminal.answer({ changed: true, dropped: proposal!.id }, [NOTHING_LEFT]);
  }
  const isMoved = strip(review.block) !== strip(proposal!.baseBlock);
  if (block === proposal!.block && !isMoved) return unchanged(terminal);
  if (!(await isAgreed(sleep, review, flags, terminal))) return unchanged(terminal);
  const opened = await openModels(sleep, { consent: consentFrom(flags, terminal) });
  using _ = privateFiles();
  const progress = openProgress(terminal, { isQuiet: flags.quiet === true });
  const proof = await interruptible({ io: terminal.io, onStop: progress.log }, (signal) =>
    measureReview(sleep, review, block, { opened, limits: limitsIn(flags), observers: [progress], signal }),
  ).finally(progress.close);
  answerWith(proof, review.proposal, terminal);
}

const NOTHING_LEFT = 'Nothing is left of it: the proposal is dropped, and the document is as it was.';

/** Warns before anybody decides: without a model, only the whole proposal can be dropped. */
async function warnWithoutModel(sleep: OpenSleep, terminal: Terminal): Promise<void> {
  await planOf(sleep, []).catch((error: Error) =>
    terminal.warn(`what you keep of it cannot be measured: ${error.message}; name a model with --target`),
  );
}

const unchanged = ({ answer }: Terminal) =>
  answer({ changed: false }, ['Nothing was changed: the proposal waits as it was.']);

/** Without asking: the numbers of the changes to drop say it. */
function dropNumbered(changes: readonly ReviewedChange[], numbers: readonly number[]): ReviewDecision[] {
  const unknown = numbers.find((number) => number > changes.length);
  if (unknown === undefined) return changes.map((_, index) => (numbers.includes(index + 1) ? 'drop' : 'keep'));
  const message = `expected the number of a change from 1 to ${changes.length}, got ${unknown}`;
  throw new SkillError('USAGE', message, { hint: 'skillopt sleep review lists them.' });
}

function list(proposal: Proposal, changes: readonly ReviewedChange[], { answer, colors }: Terminal): void {
  const { id, night, document, gain } = proposal;
  const numbered = changes.map((change, index) => ({ number: index + 1, ...change, marks: marksIn(proposal, change) }));
  const how =
    'A terminal asks about each. Elsewhere --drop-change NUMBER drops one, and --yes agrees to measure the rest.';
  answer({ proposal: id, night, document, gain, changes: numbered }, [
    `night ${night} proposes ${plural(changes.length, 'change')} of ${oneLine(document.name)}:`,
    ...numbered.flatMap(({ number, kind, rule, marks }) => [
      `  ${number}. ${kind === 'add' ? '+' : '−'} ${oneLine(rule)}`,
      ...(marks.length > 0 ? [colors.yellow(`     ! ${marks.map(oneLine).join(', ')}`)] : []),
    ]),
    colors.dim(how),
  ]);
}

/** What stands out in a rule that is added. That it is new is seen without a mark. */
function marksIn(proposal: Proposal, { kind, rule }: ReviewedChange): readonly string[] {
  if (kind !== 'add') return [];
  const found = marksOf(proposal).find(({ line }) => (readRules(line)[0] ?? line) === rule);
  return found?.isStriking ? found.reasons : [];
}

/** What it costs is said before anything is spent. */
async function isAgreed(sleep: OpenSleep, review: Reviewable, { yes, maxCalls }: ReviewFlags, terminal: Terminal) {
  const { tasks, least, most } = reviewCost(sleep, review);
  const cost = `What you kept is measured again on ${plural(tasks, 'held-out task')}: ${least} to ${most} calls of models.`;
  if (maxCalls !== undefined && maxCalls < least) {
    const hint = `Nothing was changed, and nobody was asked. Allow at least ${least}.`;
    throw new SkillError('USAGE', `${cost} --max-calls ${maxCalls} is too few.`, { hint });
  }
  if (yes) {
    terminal.say(cost);
    return true;
  }
  if (terminal.canAsk) return confirm(`${cost} Do it now?`);
  const hint = 'Nothing was changed. Agree with --yes; --max-calls NUMBER is a limit.';
  throw new SkillError('USAGE', `${cost} Nobody can be asked here whether to do it.`, { hint });
}

function answerWith({ isProven, gain, pValue, passes }: Proof, proposal: Proposal, terminal: Terminal): void {
  const told = `${points(gain.value)} points on held-out tasks`;
  terminal.answer({ changed: isProven, gain, pValue, passes }, [
    isProven
      ? `What you kept is proven: ${told}. It waits for: ${commandFor(proposal, terminal)}`
      : `What you kept is not proven (${told}, by chance ${(100 * pValue).toFixed(1)} %). The proposal waits as it was.`,
  ]);
}

const CHOICES = [
  { value: 'keep' as const, label: 'keep' },
  { value: 'drop' as const, label: 'drop' },
  { value: 'edit' as const, label: 'edit by hand' },
  { value: 'quit' as const, label: 'quit, and change nothing' },
];

/** Asks a person about each change in turn. `undefined`: they quit. Ctrl-C changes nothing either. */
async function askAbout(
  proposal: Proposal,
  changes: readonly ReviewedChange[],
  terminal: Terminal,
): Promise<ReviewDecision[] | undefined> {
  const { select } = await import('@clack/prompts');
  const decisions: ReviewDecision[] = [];
  while (decisions.length < changes.length) {
    const change = changes[decisions.length]!;
    const marks = marksIn(proposal, change);
    const why = marks.length > 0 ? terminal.colors.yellow(` ! ${marks.map(oneLine).join(', ')}`) : '';
    const message = `${decisions.length + 1} of ${changes.length}: ${change.kind === 'add' ? 'add' : 'take out'} «${oneLine(change.rule)}»${why}`;
    const choice = await answered(select({ message, options: CHOICES, output: process.stderr }));
    if (choice === 'quit') return undefined;
    const decision = choice === 'edit' ? await editedByHand(change.rule, terminal) : choice;
    if (decision !== undefined) decisions.push(decision); // else it is asked about again
  }
  return decisions;
}

/** An emptied rule is dropped. `undefined` for a rule that is quarantined: the reason is shown. */
async function editedByHand(rule: string, terminal: Terminal): Promise<ReviewDecision | undefined> {
  const editing = { file: 'rule.md', message: 'The rule in your words', isOneLine: !rule.includes('\n') };
  const text = (await editByHand(rule, editing, terminal.io.env)).trim();
  if (text === '') return 'drop';
  const poison = findPoison(text);
  if (poison === undefined) return text === rule ? 'keep' : { rule: text };
  terminal.warn(`quarantined: ${poison.reason}`);
  return undefined;
}
