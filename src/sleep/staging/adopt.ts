import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readBlock, readRules, writeBlock, writeRules } from '../../core/document/index.ts';
import { strip } from '../../core/text/index.ts';
import { commandOf } from '../../report/index.ts';
import {
  backupPath,
  type Moment,
  type ReadDocument,
  type Receipt,
  type Recovered,
  type Replacement,
  readDocument,
  readReceipt,
  recoverReplacements,
  replaceFiles,
  undo,
} from '../../skills/index.ts';
import { ADOPTIONS_FOLDER } from '../../stores/index.ts';
import type { OpenSleepState } from '../state/sleep-state.ts';
import { findProposal, type Proposal, recordProposal } from './proposal.ts';
import { notStaged, readProposed, textOf } from './stage.ts';

export type Adopted = {
  readonly proposal: Proposal;
  readonly path: string;
  readonly realPath: string;
  /** Names the change; empty when nothing had to be written. */
  readonly receipt: string;
  /** The document was edited since the night: that text stays, and only the learned block was put in. */
  readonly isRebased: boolean;
  /** Where the old bytes are; null where there was no file. */
  readonly backup: string | null;
};

export type AdoptInput = {
  readonly open: OpenSleepState;
  readonly proposals: readonly Proposal[];
  /** In UTC. */
  readonly at: string;
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

const adoptionsFolder = ({ folder }: Pick<OpenSleepState, 'folder'>) => join(folder, ADOPTIONS_FOLDER);

/** Puts proposals into the live documents: all of them or none. The state records it before and after. */
export async function adopt({ open, proposals, at, onMoment }: AdoptInput): Promise<Adopted[]> {
  for (const proposal of proposals) requireAdoptable(open, proposal);
  const plans = await Promise.all(proposals.map((proposal) => planAdoption(open, proposal)));
  const receipt = randomUUID();
  const written = plans.filter(({ replacement }) => replacement !== undefined);
  await note(open, plans, (proposal, { replacement, baseBlock }) =>
    replacement === undefined
      ? { ...proposal, status: 'pending', receipt: '' }
      : { ...proposal, status: 'pending', baseBlock, receipt },
  );
  const roots = written.map(({ proposal }) => dirname(proposal.document.realPath));
  const replacements = written.map(({ replacement }) => replacement!);
  const options = { journalFolder: adoptionsFolder(open), roots, id: receipt, onMoment };
  const { steps } = written.length > 0 ? await replaceFiles(replacements, options) : { steps: [] };
  await note(open, plans, (proposal) => ({ ...proposal, status: 'adopted', adoptedAt: at }));
  return plans.map((plan) => {
    const { path, realPath } = plan.proposal.document;
    const step = steps[written.indexOf(plan)];
    const backup = step ? backupPath(adoptionsFolder(open), receipt, step) : null;
    const proposal = findProposal(open.state, plan.proposal)!;
    return { proposal, path, realPath, isRebased: plan.isRebased, receipt: step ? receipt : '', backup };
  });
}

type AdoptionPlan = {
  readonly proposal: Proposal;
  /** `undefined` when the document says it already. */
  readonly replacement: Replacement | undefined;
  readonly isRebased: boolean;
  /** The learned block that is replaced, and that a rollback brings back. */
  readonly baseBlock: string;
};

async function note(
  open: OpenSleepState,
  plans: readonly AdoptionPlan[],
  change: (proposal: Proposal, plan: AdoptionPlan) => Proposal,
): Promise<void> {
  if (plans.length === 0) return;
  await open.update((state) =>
    plans.reduce((before, plan) => recordProposal(before, change(findProposal(before, plan.proposal)!, plan)), state),
  );
}

function requireAdoptable({ state }: OpenSleepState, proposal: Proposal): void {
  const { status, adoptedAt } = findProposal(state, proposal) ?? { status: 'dropped', adoptedAt: '' };
  const isGone = status === 'adopted' && !existsSync(proposal.document.realPath);
  if (status === 'pending' || status === 'rolled_back' || isGone) return;
  const why = {
    adopted: `was adopted already, on ${adoptedAt.slice(0, 10)}`,
    superseded: 'was superseded by a later one',
    dropped: 'is not kept any more',
  };
  const hint = 'There is nothing to do. A later night proposes again what is still worth it.';
  throw new SkillError('USAGE', `proposal ${proposal.id} ${why[status]}`, { hint });
}

async function planAdoption(open: OpenSleepState, proposal: Proposal): Promise<AdoptionPlan> {
  const { path, realPath } = proposal.document;
  const proposed = await readProposed(open.folder, proposal);
  const live = await readDocument(path, [dirname(realPath)], { realPath });
  const put = (bytes: Buffer): Replacement => ({ path, realPath, expected: live.digest, bytes });
  const { block, baseBlock } = proposal;
  if ((live.digest ?? '') === proposal.baseDigest)
    return { proposal, baseBlock, replacement: put(proposed), isRebased: false };
  const text = requireRebasable(live, proposal);
  if (blockIn(text) === strip(block)) return { proposal, baseBlock, replacement: undefined, isRebased: false };
  const replacement = put(Buffer.from(writeBlock(text, 'learned', block)));
  return { proposal, baseBlock: readBlock(text, 'learned'), replacement, isRebased: true };
}

const blockIn = (text: string) => strip(readBlock(text, 'learned'));

/** The text of a document that was edited outside of the learned block. */
function requireRebasable({ bytes, path }: ReadDocument, proposal: Proposal): string {
  const { baseBlock, block, id } = proposal;
  if (bytes === null)
    throw notStaged(`${path} is not there any more`, 'Nothing was written. Restore it, or let a new night start.');
  const text = textOf(bytes, path);
  if ([strip(baseBlock), strip(block)].includes(blockIn(text)) || isBetween(blockIn(text), { baseBlock, block }))
    return text;
  const hint = `Nothing was written. ${commandOf(proposal, 'review')} puts its rules on what is there now, and measures them again; a new night starts from it too.`;
  throw notStaged(`the learned block of ${path} was changed since proposal ${id} was made`, hint);
}

/** Whether a block has some of the proposed changes and no others, as when a proposal that contains them was adopted first. */
function isBetween(now: string, { baseBlock, block }: Pick<Proposal, 'baseBlock' | 'block'>): boolean {
  const [rules, before, after] = [now, baseBlock, block].map(readRules) as [string[], string[], string[]];
  const isKnown = rules.every((rule) => before.includes(rule) || after.includes(rule));
  const isWhole = before.every((rule) => !after.includes(rule) || rules.includes(rule));
  return isKnown && isWhole && strip(now) === strip(writeRules(rules)); // otherwise it has text that is no rule
}

/** After a crash: undoes a change that was cut off, and records one that was finished. Call it before any choice. */
export async function settle(open: OpenSleepState): Promise<Recovered> {
  const recovered = await recoverReplacements(adoptionsFolder(open));
  for (const proposal of open.state.proposals) {
    if (proposal.status !== 'pending' || proposal.receipt === '') continue;
    const receipt = await readReceipt(adoptionsFolder(open), proposal.receipt);
    const settled: Proposal = receipt
      ? { ...proposal, status: 'adopted', adoptedAt: receipt.at }
      : { ...proposal, receipt: '' };
    await open.update((state) => recordProposal(state, settled));
  }
  return recovered;
}

export type RolledBack = {
  readonly proposal: Proposal;
  readonly path: string;
  readonly realPath: string;
  /** The old bytes are back, the file that adoption made is removed, only our block went back, or nothing was to do. */
  readonly how: 'restored' | 'removed' | 'block' | 'already';
};

type RollbackPlan = RolledBack & { write(id: string): Promise<unknown> };

/** Undoes adoptions. Every one is checked before the first is undone. */
export async function rollback({ open, proposals, onMoment }: Omit<AdoptInput, 'at'>): Promise<RolledBack[]> {
  const plans: RollbackPlan[] = [];
  for (const proposal of proposals) plans.push(await planRollback(open, proposal, onMoment));
  for (const { write, proposal } of plans) {
    await write(randomUUID());
    await open.update((state) => recordProposal(state, { ...proposal, status: 'rolled_back' }));
  }
  return plans.map(({ write: _, ...rest }) => ({ ...rest, proposal: findProposal(open.state, rest.proposal)! }));
}

async function planRollback(
  open: OpenSleepState,
  given: Proposal,
  onMoment: AdoptInput['onMoment'],
): Promise<RollbackPlan> {
  const proposal = requireAdopted(open, given);
  const { path, realPath } = proposal.document;
  const journalFolder = adoptionsFolder(open);
  const live = await readDocument(path, [dirname(realPath)], { realPath });
  const change = await readChange(journalFolder, proposal);
  const step = change?.steps[0];
  const planned = { proposal, path, realPath };
  const isBack = (step && live.digest === step.before) || isAsBefore(live, proposal);
  const isNothing = proposal.receipt === ''; // another proposal had written the same before
  if (isBack || isNothing) return { ...planned, how: 'already', write: async () => undefined };
  if (step && live.digest === step.after) {
    const how = step.before === null ? 'removed' : 'restored';
    return { ...planned, how, write: (id) => undo(change, { journalFolder, id, onMoment }) };
  }
  const bytes = withoutOurs(live, proposal, step ? backupPath(journalFolder, change.id, step) : null);
  const replacement = { path, realPath, expected: live.digest, bytes };
  const options = { journalFolder, roots: [dirname(realPath)], onMoment };
  return { ...planned, how: 'block', write: (id) => replaceFiles([replacement], { ...options, id }) };
}

function requireAdopted({ state }: OpenSleepState, proposal: Proposal): Proposal {
  const known = findProposal(state, proposal);
  if (known?.status === 'adopted') return known;
  const what = known?.status === 'rolled_back' ? 'was rolled back already' : 'was not adopted';
  throw new SkillError('USAGE', `proposal ${proposal.id} ${what}`, { hint: 'There is nothing to undo.' });
}

/** What adoption did to this document alone. Counts only for the path that the state names. */
async function readChange(journalFolder: string, { receipt, document }: Proposal): Promise<Receipt | undefined> {
  const whole = receipt === '' ? undefined : await readReceipt(journalFolder, receipt);
  const steps =
    whole?.steps.filter(({ path, realPath }) => path === document.path && realPath === document.realPath) ?? [];
  return whole && steps.length > 0 ? { ...whole, steps } : undefined;
}

/** True after a rollback by hand, or one that a crash kept from being recorded. */
const isAsBefore = ({ bytes, path }: ReadDocument, { baseBlock, block }: Proposal) =>
  bytes !== null && strip(baseBlock) !== strip(block) && blockIn(textOf(bytes, path)) === strip(baseBlock);

/** The document was edited since: that text stays, and only our block becomes what it was. */
function withoutOurs({ bytes, path }: ReadDocument, { baseBlock, block, id }: Proposal, backup: string | null): Buffer {
  const old = backup === null ? '' : ` What it was before is in ${backup}.`;
  if (bytes === null) throw notStaged(`${path} is not there any more`, `There is nothing to undo.${old}`);
  const text = textOf(bytes, path);
  if (blockIn(text) === strip(block)) return Buffer.from(writeBlock(text, 'learned', baseBlock));
  const hint = `Nothing was written. Roll back what was adopted later first, or edit the block by hand.${old}`;
  throw notStaged(`the learned block of ${path} was changed since proposal ${id} was adopted`, hint);
}
