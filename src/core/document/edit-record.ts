import { z } from 'zod';
import { includesText, strip } from '../text/index.ts';
import { applyEdit } from './apply-edit.ts';
import type { Edit } from './edit.ts';
import { ITEM, itemOf, type Piece, piecesOf } from './marked-block.ts';

const text = z.string().default('');
const toOp = (op: unknown) => (typeof op === 'string' ? op.trim().toLowerCase() || 'add' : op);

/** One change to the learned rules. An unknown op changes nothing. */
export const EditRecord = z.object({
  target: z.enum(['skill', 'memory']).default('skill'),
  op: z.preprocess(toOp, z.string().default('add')),
  content: text,
  /** The rule that is meant: all its words, or some that only it has. */
  anchor: text,
  rationale: text,
});
export type EditRecord = z.infer<typeof EditRecord>;

const ruleIn = (content: string) => strip(strip(content).replace(ITEM, ''));
const keyOf = (rule: string) => strip(rule).replace(/\s+/gu, ' ').toLowerCase();

/** The rule that equals the anchor, or else the only one that contains it. */
function findRule(pieces: readonly Piece[], anchor: string): number {
  const wanted = keyOf(ruleIn(anchor));
  if (wanted === '') return -1;
  const keys = pieces.map(({ rule }) => (rule === undefined ? undefined : keyOf(rule)));
  const equal = keys.indexOf(wanted);
  if (equal !== -1) return equal;
  const containing = keys.flatMap((key, index) => (key !== undefined && includesText(key, wanted) ? [index] : []));
  return containing.length === 1 ? containing[0]! : -1;
}

type Change = { readonly at: number; readonly rule?: string };

function changeOf(pieces: readonly Piece[], { op, content, anchor }: EditRecord): Change | undefined {
  const rule = ruleIn(content);
  const key = keyOf(rule);
  const isSaid = pieces.some((piece) => piece.rule !== undefined && keyOf(piece.rule) === key);
  if (op === 'add') return rule === '' || isSaid ? undefined : { at: pieces.length, rule };
  const at = op === 'delete' ? findRule(pieces, anchor || content) : findRule(pieces, anchor);
  if (at === -1) return undefined;
  if (op === 'delete') return { at };
  if (op !== 'replace' || rule === '' || strip(pieces[at]!.rule!) === rule) return undefined;
  return isSaid && keyOf(pieces[at]!.rule!) !== key ? { at } : { at, rule }; // said elsewhere: once is enough
}

/** The block after the edits. An edit that fits nowhere, or says nothing new, is unmatched. */
export function applyEditRecords(block: string, edits: readonly EditRecord[]) {
  const applied: EditRecord[] = [];
  const unmatched: EditRecord[] = [];
  let pieces = piecesOf(block);
  for (const edit of edits) {
    const change = changeOf(pieces, edit);
    (change ? applied : unmatched).push(edit);
    if (change) pieces = changed(pieces, change);
  }
  return { block: pieces.map(({ raw }) => raw).join('\n'), applied, unmatched };
}

/** A new rule is put after the last one, before what follows the list. */
function changed(pieces: readonly Piece[], { at, rule }: Change): Piece[] {
  const next = rule === undefined ? [] : [{ raw: itemOf(rule), rule }];
  const last = pieces.findLastIndex((piece) => piece.rule !== undefined);
  if (at < pieces.length) return [...pieces.slice(0, at), ...next, ...pieces.slice(at + 1)];
  const end = last === -1 ? pieces.length : last + 1;
  return [...pieces.slice(0, end), ...next, ...pieces.slice(end)];
}

/** The same changes as edits of the text. Unmatched ones are left out. */
export function toEdits(records: readonly EditRecord[], block: string): Edit[] {
  const edits: Edit[] = [];
  let now = block;
  for (const record of records) {
    const pieces = piecesOf(now);
    const change = changeOf(pieces, record);
    if (!change) continue;
    const edit = editOf(pieces, change);
    edits.push(edit);
    now = applyEdit(now, edit);
  }
  return edits;
}

function editOf(pieces: readonly Piece[], { at, rule }: Change): Edit {
  if (at === pieces.length) return { op: 'append', target: '', content: itemOf(rule!) };
  const { from, to } = uniqueRange(pieces, at);
  const target = rawOf(pieces.slice(from, to));
  const changed = rule === undefined ? [] : [{ raw: itemOf(rule) }];
  const content = rawOf([...pieces.slice(from, at), ...changed, ...pieces.slice(at + 1, to)]);
  if (content !== '') return { op: 'replace', target, content };
  return { op: 'delete', target: to < pieces.length ? `${target}\n` : target, content };
}

const rawOf = (pieces: readonly Piece[]) => pieces.map(({ raw }) => raw).join('\n');

/** As many neighbours as it takes to find the text at its place: a short rule may begin a longer one. */
function uniqueRange(pieces: readonly Piece[], at: number): { from: number; to: number } {
  const whole = rawOf(pieces);
  let [from, to] = [at, at + 1];
  const isFound = () => {
    const start = from === 0 ? 0 : rawOf(pieces.slice(0, from)).length + 1;
    return whole.indexOf(rawOf(pieces.slice(from, to))) === start;
  };
  while (!isFound()) {
    if (to < pieces.length) to++;
    else from--;
  }
  return { from, to };
}
