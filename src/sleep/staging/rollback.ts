import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { writeBlock } from '../../core/document/index.ts';
import { strip } from '../../core/text/index.ts';
import {
  backupPath,
  type ReadDocument,
  type Receipt,
  readDocument,
  readReceipt,
  replaceFiles,
  undo,
} from '../../skills/index.ts';
import type { OpenSleepState } from '../state/state-file.ts';
import { type AdoptInput, adoptionsFolder, blockIn } from './adopt.ts';
import { findProposal, type Proposal, recordProposal } from './proposal.ts';
import { notStaged, textOf } from './stage.ts';

export type RolledBack = {
  readonly proposal: Proposal;
  readonly path: string;
  readonly realPath: string;
  /** Byte for byte, the file that adoption made is gone, only our block went back, or nothing had to be done. */
  readonly how: 'restored' | 'removed' | 'block' | 'already';
};

type Plan = RolledBack & { write(id: string): Promise<unknown> };

/** Undoes adoptions. Every one is checked before the first is undone. */
export async function rollback({ open, proposals, onMoment }: Omit<AdoptInput, 'at'>): Promise<RolledBack[]> {
  const plans: Plan[] = [];
  for (const proposal of proposals) plans.push(await planRollback(open, proposal, onMoment));
  for (const { write, proposal } of plans) {
    await write(randomUUID());
    await open.update((state) => recordProposal(state, { ...proposal, status: 'rolled_back' }));
  }
  return plans.map(({ write: _, ...rest }) => ({ ...rest, proposal: findProposal(open.state, rest.proposal)! }));
}

async function planRollback(open: OpenSleepState, given: Proposal, onMoment: AdoptInput['onMoment']): Promise<Plan> {
  const proposal = requireAdopted(open, given);
  const { path, realPath } = proposal.document;
  const journalFolder = adoptionsFolder(open);
  const live = await readDocument(path, [dirname(realPath)], { realPath });
  const change = await readChange(journalFolder, proposal);
  const step = change?.steps[0];
  const plan = (how: RolledBack['how'], write: Plan['write']): Plan => ({ proposal, path, realPath, how, write });
  const isBack = (step && live.digest === step.before) || isAsBefore(live, proposal);
  const isNothing = proposal.receipt === ''; // another proposal had written the same before
  if (isBack || isNothing) return plan('already', async () => undefined);
  if (step && live.digest === step.after) {
    const undoIt = (id: string) => undo(change, { journalFolder, id, onMoment });
    return plan(step.before === null ? 'removed' : 'restored', undoIt);
  }
  const backup = step ? backupPath(journalFolder, change.id, step) : null;
  const bytes = withoutOurs(live, proposal, backup);
  const replacement = { path, realPath, expected: live.digest, bytes };
  return plan('block', (id) =>
    replaceFiles([replacement], { journalFolder, roots: [dirname(realPath)], id, onMoment }),
  );
}

function requireAdopted({ state }: OpenSleepState, proposal: Proposal): Proposal {
  const known = findProposal(state, proposal);
  if (known?.status === 'adopted') return known;
  const what = known?.status === 'rolled_back' ? 'was rolled back already' : 'was not adopted';
  throw new SkillError('USAGE', `proposal ${proposal.id} ${what}`, { hint: 'There is nothing to undo.' });
}

/** What adoption did to this document alone. Believed only for the path that the state names. */
async function readChange(journalFolder: string, { receipt, document }: Proposal): Promise<Receipt | undefined> {
  const whole = receipt === '' ? undefined : await readReceipt(journalFolder, receipt);
  const steps =
    whole?.steps.filter(({ path, realPath }) => path === document.path && realPath === document.realPath) ?? [];
  return whole && steps.length > 0 ? { ...whole, steps } : undefined;
}

/** After a rollback that a crash kept from being noted, or by hand. */
const isAsBefore = ({ bytes, path }: ReadDocument, { baseBlock, block }: Proposal) =>
  bytes !== null && strip(baseBlock) !== strip(block) && blockIn(textOf(bytes, path)) === strip(baseBlock);

/** Somebody edited the document since: their text stays, and only our block becomes what it was. */
function withoutOurs({ bytes, path }: ReadDocument, { baseBlock, block, id }: Proposal, backup: string | null): Buffer {
  const old = backup === null ? '' : ` What it was before is in ${backup}.`;
  if (bytes === null) throw notStaged(`${path} is not there any more`, `There is nothing to undo.${old}`);
  const text = textOf(bytes, path);
  if (blockIn(text) === strip(block)) return Buffer.from(writeBlock(text, 'learned', baseBlock));
  const hint = `Nothing was written. Roll back what was adopted later first, or edit the block by hand.${old}`;
  throw notStaged(`the learned block of ${path} was changed since proposal ${id} was adopted`, hint);
}
