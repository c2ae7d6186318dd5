import { z } from 'zod';
import { isObject, toCamelCase } from '../../core/text/index.ts';
import { itemId, type Row } from '../../imports/index.ts';
import type { RowReader } from '../benchmark.ts';
import { findCases, type Pair } from './find-cases.ts';
import type { Rule } from './ranges.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hex');
const Case = z.object({ input: z.string(), answer: z.string(), inputSha256: Hash, answerSha256: Hash });

/** A wish, and the workbooks that it is tried on: the code is written for the first one. */
export const SpreadsheetItem = z.object({
  id: itemId,
  instruction: z.string().min(1),
  taskType: z.string().optional(),
  /** Ranges of cells, with sheets or without. */
  answerPosition: z.string(),
  answerSheet: z.string().optional(),
  cases: z.array(Case),
});
export type SpreadsheetItem = z.infer<typeof SpreadsheetItem>;
export type TestCase = z.infer<typeof Case>;

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an item. Its files are found by their names, and hashed. */
export async function readItem(row: Row, { files }: RowReader, rule: Rule): Promise<unknown> {
  if (!isObject(row.value)) return row.value;
  const fields = toCamelCase(row.value) as Fields;
  const { id, instruction, instructionType, taskType = instructionType, answerPosition, answerSheet } = fields;
  const pairs = (fields.cases as TestCase[] | undefined) ?? (await pairsOf(fields, { files }));
  if (pairs.length === 0 && rule !== 'reference') throw new Error('no pair of workbooks was found for it');
  const cases = await Promise.all(pairs.map((pair) => withHashes(pair, { files })));
  const optional = Object.entries({ taskType, answerSheet }).filter(([, value]) => value != null && value !== '');
  return { id, instruction, answerPosition, ...Object.fromEntries(optional), cases };
}

function pairsOf({ id, spreadsheetPath }: Fields, { files }: Pick<RowReader, 'files'>): Promise<Pair[]> {
  if (typeof spreadsheetPath === 'string' && spreadsheetPath !== '') return findCases(files, spreadsheetPath);
  if (id == null || id === '')
    throw new Error('it has neither spreadsheet_path nor id, so its workbooks cannot be found');
  return findCases(files, `spreadsheet/${id}`);
}

async function withHashes(pair: Pair & Partial<TestCase>, { files }: Pick<RowReader, 'files'>): Promise<TestCase> {
  const { input, answer } = pair;
  const [inputSha256, answerSha256] = await Promise.all([files.sha256(input), files.sha256(answer)]);
  for (const [name, noted, now] of [
    [input, pair.inputSha256, inputSha256],
    [answer, pair.answerSha256, answerSha256],
  ])
    if (noted !== undefined && noted !== now) throw new Error(`the file ${name} has changed since its row was written`);
  return { input, answer, inputSha256, answerSha256 };
}
