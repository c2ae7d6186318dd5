import type { Dice } from './dice.ts';
import { drawEditType, type EditType, type Mix } from './stream.ts';

/** How proposals come about in a whole run. */
export type TrainCosts = {
  readonly trainItems: number;
  readonly batch: number;
  /** Proposals made from one batch. */
  readonly proposals: number;
  /** A proposal on train rollouts that gave one before is good this much less often than one on new rollouts. */
  readonly reusedFactor: number;
  /** Rollouts under an unchanged skill are paid once. */
  readonly isCached: boolean;
  /** The optimizer is asked no more often than this. No limit unless given. */
  readonly maxProposals?: number;
};

export type Proposal = { readonly type: EditType; readonly trainRollouts: number };

/** Where edits come from, and what their train rollouts cost. */
export type Proposer = {
  /** `undefined` if there will be no more. */
  next(): Proposal | undefined;
  /** An edit was accepted: what was rolled out before is out of date. */
  startOver(): void;
};

/** Without train costs candidates are free. */
export function createProposer(dice: Dice, mix: Mix, train?: TrainCosts): Proposer {
  if (train === undefined) return { next: () => ({ type: drawEditType(dice, mix), trainRollouts: 0 }), startOver() {} };
  const { trainItems, batch, proposals, reusedFactor, isCached, maxProposals = Number.POSITIVE_INFINITY } = train;
  const batches = Math.max(1, Math.floor(trainItems / batch));
  const rolledOut = new Set<number>();
  let current = -1;
  let given = proposals;
  let asked = 0;
  return {
    next() {
      if (asked++ >= maxProposals) return undefined;
      if (given >= proposals) {
        current = (current + 1) % batches;
        given = 0;
        if (!isCached) rolledOut.clear();
      }
      given++;
      const isFresh = !rolledOut.has(current);
      rolledOut.add(current);
      return { type: drawEditType(dice, mix, isFresh ? 1 : reusedFactor), trainRollouts: isFresh ? batch : 0 };
    },
    startOver() {
      rolledOut.clear(); // the plan stays, as the trainer's does: what is left of the batch is rolled out again
    },
  };
}
