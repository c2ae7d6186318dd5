import { readdir } from 'node:fs/promises';
import { basename, posix } from 'node:path';
import type { DataFiles } from '../data/data-files.ts';

/** A workbook and what it should become. */
export type Pair = { readonly input: string; readonly answer: string };

/** How releases of the data name the two files: `1_13-1_input.xlsx` and `1_13-1_answer.xlsx`, or `…_init` and `…_golden`. */
const ENDINGS = [
  ['_input.xlsx', '_answer.xlsx'],
  ['_init.xlsx', '_golden.xlsx'],
] as const;
const BARE: Pair = { input: 'initial.xlsx', answer: 'golden.xlsx' };

/** The pairs in a folder of the data, by the names of its files. */
export async function findCases(files: DataFiles, folder: string): Promise<Pair[]> {
  const names = await readdir(await files.pathOf(folder)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOTDIR' ? new Error(`${folder} is no folder`) : error;
  });
  return pairFiles(names).map(({ input, answer }) => ({
    input: posix.join(folder, input),
    answer: posix.join(folder, answer),
  }));
}

export function pairFiles(names: readonly string[]): Pair[] {
  const sorted = [...names].sort();
  const pairs = ENDINGS.flatMap(([asked, right]) => {
    const inputs = sorted.filter((name) => name.endsWith(asked));
    const answers = sorted.filter((name) => name.endsWith(right));
    return inputs.flatMap((input) => {
      const answer = partnerOf(input, { asked, right, inputs, answers });
      return answer === undefined ? [] : [{ input, answer }];
    });
  });
  if (pairs.length > 0) return pairs;
  return sorted.includes(BARE.input) && sorted.includes(BARE.answer) ? [BARE] : [];
}

type Named = {
  readonly asked: string;
  readonly right: string;
  readonly inputs: readonly string[];
  readonly answers: readonly string[];
};

/** The answer with the name of the input. One golden file has the id of another task: it is the only one left with this number. */
function partnerOf(input: string, { asked, right, inputs, answers }: Named): string | undefined {
  const expected = input.slice(0, -asked.length) + right;
  if (answers.includes(expected)) return expected;
  const taken = new Set(inputs.map((name) => name.slice(0, -asked.length) + right));
  const left = answers.filter((name) => !taken.has(name) && numberOf(name) === numberOf(input));
  const rivals = inputs.filter((name) => numberOf(name) === numberOf(input));
  return left.length === 1 && rivals.length === 1 ? left[0] : undefined;
}

const numberOf = (name: string): string => name.slice(0, name.indexOf('_'));

/** Whether the answer has another name than its input: SkillOpt does not find it. */
export function isMisnamed({ input, answer }: Pair): boolean {
  const [from, to] = [basename(input), basename(answer)];
  if (from === BARE.input && to === BARE.answer) return false;
  const ending = ENDINGS.find(([asked]) => from.endsWith(asked));
  return ending !== undefined && to !== from.slice(0, -ending[0].length) + ending[1];
}
