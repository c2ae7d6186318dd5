import { applyEditRecords, EditRecord } from '../../core/skill/edit-record.ts';
import { readRules } from '../../core/skill/learned-rules.ts';
import type { Proposal } from './proposal.ts';

/** One rule that a proposal brings or takes. */
export type ReviewedChange = { readonly kind: 'add' | 'remove'; readonly rule: string };

/** What a person says of it: as it is proposed, not at all, or in their own words. */
export type ReviewDecision = 'keep' | 'drop' | { readonly rule: string };

/** The changes of a proposal, one by one: what it adds, in its order, then what it takes out. */
export function changesOf({ baseBlock, block }: Pick<Proposal, 'baseBlock' | 'block'>): ReviewedChange[] {
  const [before, after] = [readRules(baseBlock), readRules(block)];
  return [
    ...after.filter((rule) => !before.includes(rule)).map((rule) => ({ kind: 'add' as const, rule })),
    ...before.filter((rule) => !after.includes(rule)).map((rule) => ({ kind: 'remove' as const, rule })),
  ];
}

/** The block with only what the person wants of the changes; everything else in it stays as it was proposed. */
export function reviewedBlock(
  { block }: Pick<Proposal, 'block'>,
  changes: readonly ReviewedChange[],
  decisions: readonly ReviewDecision[],
): string {
  const records = changes.flatMap((change, index) => recordsFor(change, decisions[index] ?? 'keep'));
  return applyEditRecords(block, records).block;
}

function recordsFor({ kind, rule }: ReviewedChange, decision: ReviewDecision): EditRecord[] {
  if (decision === 'keep') return [];
  if (decision === 'drop')
    return [EditRecord.parse(kind === 'add' ? { op: 'delete', anchor: rule } : { content: rule })];
  return [
    EditRecord.parse(
      kind === 'add' ? { op: 'replace', anchor: rule, content: decision.rule } : { content: decision.rule },
    ),
  ];
}
