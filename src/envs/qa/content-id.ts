import { createHash } from 'node:crypto';
import { isObject } from '../../core/text/index.ts';
import type { LeftOut, Row } from '../../imports/index.ts';
import { isBlank } from './qa-columns.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Gives rows without an id one made from `contentOf` them. A row with the content of an earlier one is left out, and the earlier one
 * belongs to its groups too.
 */
export function withContentIds<R extends Row>(
  rows: readonly R[],
  contentOf: (fields: Fields) => unknown,
): { rows: R[]; leftOut: LeftOut[] } {
  const places = new Map<string, R>();
  const short = new Set<string>();
  const kept: R[] = [];
  const leftOut: LeftOut[] = [];
  for (const row of rows) {
    if (!isObject(row.value) || !isBlank(row.value.id)) {
      kept.push(row);
      continue;
    }
    const hash = createHash('sha256')
      .update(JSON.stringify(contentOf(row.value)))
      .digest('hex');
    const earlier = places.get(hash);
    if (earlier !== undefined) {
      const leak = row.split === earlier.split ? {} : { leaksInto: String(row.split) };
      const group = [...(earlier.group ?? []), ...(row.group ?? [])];
      if (group.length > 0) Object.assign(earlier, { group: [...new Set(group)] });
      leftOut.push({ where: row.where, what: 'a task', why: `the same as ${earlier.where}`, ...leak });
      continue;
    }
    places.set(hash, row);
    const isTaken = short.has(hash.slice(0, ID_DIGITS));
    short.add(hash.slice(0, ID_DIGITS));
    // In place: the row was made for us a moment ago, and there may be a hundred thousand.
    Object.assign(row.value, { id: `${labelOf(row.value)}-${isTaken ? hash : hash.slice(0, ID_DIGITS)}` });
    kept.push(row);
  }
  return { rows: kept, leftOut };
}

/** Enough for a hundred thousand tasks. Two that agree in these digits get all of them. */
const ID_DIGITS = 8;

/** The first words of the question, so that a report shows which task is meant. */
function labelOf({ question }: Fields): string {
  if (typeof question !== 'string') return 't';
  const start = question.slice(0, LABEL_READ).toLowerCase();
  const words = start.match(/[\p{L}\p{N}]+/gu) ?? [];
  let label = '';
  for (const word of words) {
    if (label.length + word.length >= LABEL_LENGTH) break;
    label = label === '' ? word : `${label}-${word}`;
  }
  return label || 't';
}

const LABEL_READ = 200;
const LABEL_LENGTH = 28;
