import { applyEditRecords, EditRecord, readRules } from '../../core/document/index.ts';
import { strip } from '../../core/text/index.ts';
import type { Proposal } from './proposal.ts';

/** One rule that a proposal brings or takes. */
export type ReviewedChange = { readonly kind: 'add' | 'remove'; readonly rule: string };

/** What a person says of it: as it is proposed, not at all, or in their own words. */
export type ReviewDecision = 'keep' | 'drop' | { readonly rule: string };

type Blocks = Pick<Proposal, 'baseBlock' | 'block'>;

/** The changes of a proposal, one by one: what it adds, in its order, then what it takes out. */
export function changesOf({ baseBlock, block }: Blocks): ReviewedChange[] {
  const [before, after] = [readRules(baseBlock), readRules(block)];
  return [
    ...after.filter((rule) => !before.includes(rule)).map((rule) => ({ kind: 'add' as const, rule })),
    ...before.filter((rule) => !after.includes(rule)).map((rule) => ({ kind: 'remove' as const, rule })),
  ];
}

/**
 * The block with only what the person wants of the changes. Where the document's block is not the one that the night
 * worked on, they are made on the one that is there.
 */
export function reviewedBlock(
  { baseBlock, block }: Blocks,
  changes: readonly ReviewedChange[],
  decisions: readonly ReviewDecision[],
  liveBlock = baseBlock,
): string {
  if (decisions.every((decision) => decision === 'drop')) return liveBlock;
  const isMoved = strip(liveBlock) !== strip(baseBlock);
  const recordsFor = isMoved ? recordsToMake : recordsToUndo;
  const records = changes.flatMap((change, index) => recordsFor(change, decisions[index] ?? 'keep'));
  return applyEditRecords(isMoved ? liveBlock : block, records).block;
}

/** From the proposed block back to what is wanted: everything else in it stays as it was proposed. */
function recordsToUndo({ kind, rule }: ReviewedChange, decision: ReviewDecision): EditRecord[] {
  if (decision === 'keep') return [];
  const content = decision === 'drop' ? '' : decision.rule;
  if (kind === 'remove') return [EditRecord.parse({ content: decision === 'drop' ? rule : content })];
  return [EditRecord.parse({ op: strip(content) === '' ? 'delete' : 'replace', anchor: rule, content })];
}

function recordsToMake({ kind, rule }: ReviewedChange, decision: ReviewDecision): EditRecord[] {
  if (decision === 'drop') return [];
  const content = decision === 'keep' ? rule : decision.rule;
  if (kind === 'add') return [EditRecord.parse({ content })];
  return [EditRecord.parse({ op: decision === 'keep' ? 'delete' : 'replace', anchor: rule, content })];
}
