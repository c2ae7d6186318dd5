import { z } from 'zod';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { findMarkedLines, type MarkedLine } from '../../core/guard/index.ts';

const Digest = z.string().regex(/^([0-9a-f]{64})?$/);

/** What a night proposes for one document. It is kept in the private state, which no agent of the project can edit. */
export const Proposal = z.object({
  /** The folder of its run below the project's nights: `12`, `12.memory`, `12.my-skill`. */
  id: z.string().regex(/^[1-9]\d{0,8}(\.[^/\\]+)?$/),
  project: z.string(),
  night: z.number().int().positive(),
  document: z.object({
    kind: z.enum(['skill', 'memory']),
    name: z.string(),
    path: z.string(),
    /** With every link resolved, as the night found it. Adoption writes only there. */
    realPath: z.string(),
  }),
  /** SHA-256 of the bytes that the night read; empty: there was no file. */
  baseDigest: Digest,
  digest: Digest,
  /** Text of the learned block, before and after. */
  baseBlock: z.string(),
  block: z.string(),
  /** In UTC. */
  at: z.string(),
  gain: z.object({ value: z.number(), low: z.number(), high: z.number() }).nullable(),
  confidence: z.number().nullable(),
  /** What the critic of the night says about lines. Rules mark lines too, whenever the proposal is read. */
  concerns: z.array(z.object({ line: z.string(), reason: z.string() })).default([]),
  status: z.enum(['pending', 'adopted', 'superseded', 'dropped', 'rolled_back']),
  /** Names the change of its adoption. It is set before the change begins, so that a crash can be settled. */
  receipt: z.string().default(''),
  adoptedAt: z.string().default(''),
});
export type Proposal = z.infer<typeof Proposal>;

/** The lines that are new, each with its marks. What a critic says adds to them, and takes nothing away. */
export function marksOf({
  baseBlock,
  block,
  concerns,
}: Pick<Proposal, 'baseBlock' | 'block' | 'concerns'>): MarkedLine[] {
  const marked = new Map(findMarkedLines(baseBlock, block).map((one) => [one.line, one]));
  const kept = concerns.filter(({ line }) => block.includes(line)); // a person may have dropped the others
  for (const { line, reason } of kept) {
    const { isStriking = false, reasons = [] } = marked.get(line) ?? {};
    marked.set(line, { line, reasons: [...(isStriking ? reasons : []), reason], isStriking: true });
  }
  return [...marked.values()];
}

type WithProposals = { readonly proposals: readonly Proposal[] };

const isSame = (a: Proposal, b: Proposal) => a.project === b.project && a.id === b.id;

/** The state with a proposal added or changed. Others stay as they are, also those for the same document. */
export function recordProposal<State extends WithProposals>(state: State, proposal: Proposal): State {
  const isKnown = state.proposals.some((one) => isSame(one, proposal));
  const proposals = isKnown
    ? state.proposals.map((one) => (isSame(one, proposal) ? proposal : one))
    : [...state.proposals, proposal];
  return { ...state, proposals };
}

export const findProposal = ({ proposals }: WithProposals, like: Proposal): Proposal | undefined =>
  proposals.find((one) => isSame(one, like));

export const pendingProposals = ({ proposals }: WithProposals, isOf: (project: string) => boolean): Proposal[] =>
  proposals.filter(({ status, project }) => status === 'pending' && isOf(project));

type DocumentText = { readonly text: string; readonly live: { readonly realPath: string } };

const isFor = ({ document }: Proposal, { live }: Pick<DocumentText, 'live'>) => document.realPath === live.realPath;

/** A document with its pending proposal, which a further night builds on; not if the learned block was changed by hand. */
export function onPending<Document extends DocumentText>(document: Document, proposals: readonly Proposal[]): Document {
  const waiting = proposals.findLast((proposal) => proposal.status === 'pending' && isFor(proposal, document));
  if (waiting === undefined || readBlock(document.text, 'learned') !== waiting.baseBlock) return document;
  return { ...document, text: writeBlock(document.text, 'learned', waiting.block) };
}

export function builtOn(documents: readonly DocumentText[], proposals: readonly Proposal[]): string[] {
  const isUnder = (proposal: Proposal) =>
    documents.some((one) => isFor(proposal, one) && readBlock(one.text, 'learned') === proposal.block);
  return proposals
    .filter((proposal) => proposal.status === 'pending' && isUnder(proposal))
    .map(
      ({ night, document: { kind, name } }) =>
        `Built on what night ${night} proposed for the ${kind} ${name}, which still waits: what is measured here holds together with it.`,
    );
}

/** The state with a new proposal. Pending ones for the same document are superseded: the new one contains them. */
export function supersede<State extends WithProposals>(state: State, proposal: Proposal): State {
  const proposals = state.proposals.map((earlier): Proposal => {
    const isSame = earlier.document.realPath === proposal.document.realPath && earlier.project === proposal.project;
    return isSame && earlier.status === 'pending' ? { ...earlier, status: 'superseded' } : earlier;
  });
  return recordProposal({ ...state, proposals }, proposal);
}
