import type { RolloutResult } from '../contracts/index.ts';
import { toSnakeCase } from '../text/index.ts';
import type { Views } from './run-store.ts';

/** Where one attempt lies in a file of results, in bytes, and its scores: one is read without the others. */
export type AttemptPlace = Pick<RolloutResult, 'id' | 'hard' | 'soft'> & {
  readonly offset: number;
  readonly length: number;
  readonly errored: boolean;
};

const FORMAT = 1;
const [BEGIN, BETWEEN, END] = ['[\n  ', ',\n  ', '\n]\n'];

/** A file of results and its index, both under one name; none without attempts. */
export function attemptViews(name: string, results: readonly RolloutResult[]): Views {
  if (results.length === 0) return {};
  const encoder = new TextEncoder();
  const texts: string[] = [];
  const rows: AttemptPlace[] = [];
  let size = BEGIN.length;
  for (const result of results) {
    const alone = JSON.stringify([toSnakeCase(result)], null, 2); // indented as in the whole list
    const text = alone.slice(BEGIN.length, -'\n]'.length);
    const length = encoder.encode(text).length;
    rows.push(toPlace(result, size, length));
    texts.push(text);
    size += length + BETWEEN.length;
  }
  size += END.length - BETWEEN.length;
  return { [`${name}.json`]: `${BEGIN}${texts.join(BETWEEN)}${END}`, [`${name}.index.json`]: indexText(rows, size) };
}

export function toPlace(
  { id, hard, soft, errored = false }: RolloutResult,
  offset: number,
  length: number,
): AttemptPlace {
  return { id, offset, length, hard, soft, errored };
}

function indexText(rows: readonly AttemptPlace[], size: number): string {
  const lists = rows.map(({ id, offset, length, hard, soft, errored }) => [id, offset, length, hard, soft, +errored]);
  return `${JSON.stringify({ format: FORMAT, size, rows: lists })}\n`;
}

/** The rows of an index; `undefined` unless it is one of a file with this size. */
export function readPlaces(index: unknown, size: number): AttemptPlace[] | undefined {
  const { format, size: of, rows } = (index ?? {}) as { format?: number; size?: number; rows?: unknown };
  if (format !== FORMAT || of !== size || !Array.isArray(rows)) return undefined;
  const found = rows.flatMap((row): AttemptPlace[] => {
    const [id, offset, length, hard, soft, errored] = Array.isArray(row) ? row : [];
    const isWhole = typeof id === 'string' && [offset, length, hard, soft].every(Number.isFinite);
    const isWithin = offset >= 0 && length > 0 && offset + length <= size;
    return isWhole && isWithin ? [{ id, offset, length, hard, soft, errored: errored === 1 }] : [];
  });
  return found.length === rows.length ? found : undefined;
}
