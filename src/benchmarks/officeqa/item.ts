import { z } from 'zod';
import { isObject, strip, textOf } from '../../core/text/index.ts';
import { LINE_END } from './figures.ts';

const Filled = z.string().refine((text) => strip(text) !== '', 'must not be empty');

/** A question about bulletins of a treasury, with the bulletins that hold the answer. */
export const OfficeQaItem = z.object({
  id: Filled,
  question: Filled,
  answer: Filled,
  taskType: z.string().optional(),
  /** Names of bulletins, as the benchmark writes them. */
  sourceFiles: z.array(z.string()),
  /** Addresses of the scanned bulletins, some with a page. */
  sourceDocs: z.array(z.string()),
  /** The files of the bulletins: all that an attempt can read. */
  documents: z.array(z.object({ name: Filled, sha256: z.string().regex(/^[0-9a-f]{64}$/) })).min(1),
});
export type OfficeQaItem = z.output<typeof OfficeQaItem>;
export type OfficeQaDocument = OfficeQaItem['documents'][number];

/**
 * A list in one cell: JSON, one entry a line, or entries between commas. Commas before an ending `.txt` are part of a name, as in
 * SkillOpt.
 */
export function readList(value: unknown): string[] {
  if (value == null) return [];
  if (Array.isArray(value)) return filled(value.map(textOf));
  const text = strip(textOf(value));
  const list = listInJson(text);
  if (list !== undefined) return filled(list.map(textOf));
  if (text.includes('\n')) return filled(text.split(LINE_END));
  if (text.includes(',') && !text.toLowerCase().endsWith('.txt')) return filled(text.split(','));
  return filled([text]);
}

const filled = (entries: readonly string[]) => entries.map(strip).filter((entry) => entry !== '');

function listInJson(text: string): unknown[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The fields of an item in a row of the benchmark, of SkillOpt's splits or of ours. Its documents are still to be found. */
export function readFields(row: Readonly<Record<string, unknown>>) {
  const taskType = firstText(row.category, row.difficulty, row.taskType, row.task_type);
  return {
    id: firstText(row.uid, row.id) ?? '',
    question: firstText(row.question) ?? '',
    answer: firstText(row.ground_truth, row.answer) ?? '',
    ...(taskType === undefined ? {} : { taskType }),
    sourceFiles: readList(row.source_files ?? row.sourceFiles),
    sourceDocs: readList(row.source_docs ?? row.sourceDocs),
  };
}

/** The first value that is not blank. A table program turns answers into numbers. */
const firstText = (...values: readonly unknown[]): string | undefined =>
  filled(values.map((value) => (value == null || isObject(value) ? '' : textOf(value))))[0];
