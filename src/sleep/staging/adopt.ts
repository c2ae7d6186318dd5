import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readBlock, readRules, writeBlock, writeRules } from '../../core/document/index.ts';
import { strip } from '../../core/text/index.ts';
import { commandOf } from '../../report/index.ts';
import {
  backupPath,
  type Moment,
  type ReadDocument,
  type Recovered,
  type Replacement,
  readDocument,
  readReceipt,
  recoverReplacements,
  replaceFiles,
} from '../../skills/index.ts';
import { ADOPTIONS_FOLDER } from '../../stores/index.ts';
import type { OpenSleepState } from '../state/state-file.ts';
import { findProposal, type Proposal, recordProposal } from './proposal.ts';
import { notStaged, readProposed, textOf } from './stage.ts';

export type Adopted = {
  readonly proposal: Proposal;
  readonly path: string;
  /** The file that was written. */
  readonly realPath: string;
  /** Names the change; empty when nothing had to be written. */
  readonly receipt: string;
  /** Somebody edited the document since the night: their text stays, and only the learned block was put in. */
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

export const adoptionsFolder = ({ folder }: Pick<OpenSleepState, 'folder'>) => join(folder, ADOPTIONS_FOLDER);

/** Puts proposals into the live documents: all of them or none. The state says before and after what is done. */
export async function adopt({ open, proposals, at, onMoment }: AdoptInput): Promise<Adopted[]> {
  for (const proposal of proposals) requireAdoptable(open, proposal);
  const plans = await Promise.all(proposals.map((proposal) => planAdoption(open, proposal)));
  const receipt = randomUUID();
  const written = plans.filter(({ replacement }) => replacement !== undefined);
  await note(open, plans, begun(receipt));
  const roots = written.map(({ proposal }) => dirname(proposal.document.realPath));
  const replacements = written.map(({ replacement }) => replacement!);
  const options = { journalFolder: adoptionsFolder(open), roots, id: receipt, onMoment };
  const { steps } = written.length > 0 ? await replaceFiles(replacements, options) : { steps: [] };
  await note(open, plans, (proposal) => ({ ...proposal, status: 'adopted', adoptedAt: at }));
  return plans.map((plan) => {
    const step = steps[written.indexOf(plan)];
    const backup = step ? backupPath(adoptionsFolder(open), receipt, step) : null;
    return { ...outcomeOf(open, plan), receipt: step ? receipt : '', backup };
  });
}

/** What was rolled back waits from here on, and is not taken for what the last adoption left. */
const begun =
  (receipt: string) =>
  (proposal: Proposal, { replacement, baseBlock }: Plan): Proposal =>
    replacement === undefined
      ? { ...proposal, status: 'pending', receipt: '' }
      : { ...proposal, status: 'pending', baseBlock, receipt };

type Plan = {
  readonly proposal: Proposal;
  /** None when the document says it already. */
  readonly replacement: Replacement | undefined;
  readonly isRebased: boolean;
  /** The learned block that it goes over, and that a rollback brings back. */
  readonly baseBlock: string;
};

const outcomeOf = ({ state }: OpenSleepState, { proposal, isRebased }: Plan) => ({
  proposal: findProposal(state, proposal)!,
  path: proposal.document.path,
  realPath: proposal.document.realPath,
  isRebased,
});

async function note(
  open: OpenSleepState,
  plans: readonly Plan[],
  change: (proposal: Proposal, plan: Plan) => Proposal,
): Promise<void> {
  if (plans.length === 0) return;
  await open.update((state) =>
    plans.reduce((before, plan) => recordProposal(before, change(findProposal(before, plan.proposal)!, plan)), state),
  );
}

function requireAdoptable({ state }: OpenSleepState, proposal: Proposal): void {
  const { status, adoptedAt } = findProposal(state, proposal) ?? { status: 'dropped', adoptedAt: '' };
  if (status === 'pending' || status === 'rolled_back') return;
  const told = {
    adopted: `was adopted already, on ${adoptedAt.slice(0, 10)}`,
    superseded: 'was superseded by a later one',
    dropped: 'is not kept any more',
  };
  const hint = 'There is nothing to do. A later night proposes again what is still worth it.';
  throw new SkillError('USAGE', `proposal ${proposal.id} ${told[status]}`, { hint });
}

async function planAdoption(open: OpenSleepState, proposal: Proposal): Promise<Plan> {
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

export const blockIn = (text: string) => strip(readBlock(text, 'learned'));

/** The text of a document that somebody edited, but not where we learn. */
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

/**
 * Whether a block has some of the proposed changes and no others: another proposal that was made with them was adopted
 * first. What was proven is the block with all of them, and nothing is lost by it.
 */
function isBetween(now: string, { baseBlock, block }: Pick<Proposal, 'baseBlock' | 'block'>): boolean {
  const [rules, before, after] = [now, baseBlock, block].map(readRules) as [string[], string[], string[]];
  const isKnown = rules.every((rule) => before.includes(rule) || after.includes(rule));
  const isWhole = before.every((rule) => !after.includes(rule) || rules.includes(rule));
  return isKnown && isWhole && strip(now) === strip(writeRules(rules)); // else there is text that is no rule
}

/** After a crash: takes back a change that was cut off, and believes one that came to its end. To be called before any choice. */
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
