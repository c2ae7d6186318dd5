import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { MOST_OUTPUT_TOKENS } from '../ask.ts';
import type { Attempts, Benchmark, OpenOptions, Probe } from '../benchmark.ts';
import type { DataFiles } from '../data/data-files.ts';
import { attemptItem, casesOf, whereOf } from './attempt.ts';
import { LANGUAGES } from './code.ts';
import { type Comparison, compareWorkbooks } from './compare-workbooks.ts';
import { readItem, SpreadsheetItem } from './item.ts';
import { allWords } from './prompts.ts';
import { RULES, type Rule } from './ranges.ts';
import { codeRunner } from './run-code.ts';
import { loadSheetJs, readWorkbook } from './workbook.ts';

const wholeNumber = z.coerce.number().int();
const A_DAY = 86_400;

const NO_TOOLS = 'expected multi or single: react gives the model tools, and is not offered here';

const Settings = z.object({
  maxCompletionTokens: wholeNumber.positive().default(MOST_OUTPUT_TOKENS),
  /** `single`: one reply counts. `multi`: the target sees errors of its code, and may answer again. */
  mode: z
    .enum(['single', 'multi', 'react'])
    .refine((mode) => mode !== 'react', NO_TOOLS)
    .default('multi'),
  /** The maximum number of replies with `multi`. */
  maxTurns: wholeNumber.positive().default(30),
  /** How many seconds one run of the code may take. 0 or less: a day. */
  execTimeout: z.coerce
    .number()
    .default(600)
    .transform((seconds) => (seconds > 0 ? Math.min(seconds, A_DAY) : A_DAY)),
  rule: z.enum(RULES).default('repaired'),
  language: z.enum(LANGUAGES).default('python'),
  /** The program that runs Python, with openpyxl. */
  python: z.string().default('python3'),
});
type Settings = z.output<typeof Settings>;

export const spreadsheetbench: Benchmark<SpreadsheetItem, Settings> = {
  name: 'spreadsheetbench',
  title: 'SpreadsheetBench: workbooks changed by code',
  source: {
    get: [
      'Get SpreadsheetBench Verified 400 from RUCKBReasoning/SpreadsheetBench or its hub, and unpack it: a folder with dataset.json and spreadsheet/.',
      'Name that folder: extras: { dataRoot: FOLDER }.',
    ],
    licence: 'CC BY-SA 4.0',
  },
  published: { train: 80, val: 40, test: 280 },
  initialSkill: '# Changing workbooks by code\n\nThere are no rules yet.\n',
  settings: Settings,
  item: SpreadsheetItem,
  hint: 'An item is {"id": "…", "instruction": "…", "answer_position": "…", "spreadsheet_path": "a folder with pairs of workbooks"}.',
  readRow: (row, reader, { rule }) => readItem(row, reader, rule),
  groupsOf: ({ cases }) => cases.map(({ inputSha256 }) => `workbook ${inputSha256}`),
  questionOf: ({ instruction, answerPosition, cases }) =>
    [instruction, answerPosition, ...cases.map(({ inputSha256 }) => inputSha256)].join('\n'),
  goldOf: ({ cases }) => cases.map(({ answerSha256 }) => answerSha256).join(' '),
  open,
};

function open({ settings, files, sandbox }: OpenOptions<Settings>): Attempts<SpreadsheetItem> {
  const { mode, execTimeout, rule, language, python, maxCompletionTokens: maxOutputTokens } = settings;
  const maxTurns = mode === 'single' ? 1 : settings.maxTurns;
  const runner = codeRunner({ sandbox, language, python, timeoutMs: execTimeout * 1000 });
  const interpreter = language === 'python' ? python : 'Node';
  return {
    rule: `values of cells at the answer position, rule ${rule}; ${language === 'python' ? 'Python' : 'JavaScript'} code. All workbooks (hard), share of workbooks (soft)`,
    version: `1, rule ${rule}, ${interpreter} in ${sandbox.id} for ${execTimeout} s, ${maxTurns} turns, output ${maxOutputTokens}`,
    prompt: allWords(language),
    targetCalls: { low: 1, high: maxTurns },
    warnings: [
      ...(language === 'javascript' ? [OTHER_LANGUAGE] : []),
      ...(sandbox.id === 'none'
        ? ['Code of the target runs without a sandbox: it can read and change your files.']
        : []),
    ],
    async setup() {
      await loadSheetJs();
      await runner.ready();
    },
    attempt: (context) => attemptItem(context, { files, runner, language, rule, maxTurns, maxOutputTokens }),
    probe: (item) => probe(item, { files, rule }),
  };
}

const OTHER_LANGUAGE =
  'The target writes JavaScript, and published scores are of Python: do not compare them. For Python: extras: { language: python }.';

const named = (error: unknown, name: string) =>
  error instanceof SkillError ? error : new Error(`${name}: ${(error as Error).message}`, { cause: error });

type ProbeOptions = { readonly files: DataFiles; readonly rule: Rule };

/** The right workbook against itself, and the untouched one against it. */
async function probe(item: SpreadsheetItem, { files, rule }: ProbeOptions): Promise<Probe> {
  const cases = casesOf(item, rule);
  if (cases.length === 0) return { right: undefined, nothing: undefined, problem: 'it has no test cases' };
  const read = async (name: string) => {
    const bytes = await files.bytes(name);
    return readWorkbook(bytes).catch((error) => Promise.reject(named(error, name)));
  };
  const rights: Comparison[] = [];
  const nothings: Comparison[] = [];
  for (const { input, answer } of cases) {
    const gold = await read(answer);
    rights.push(compareWorkbooks(gold, gold, whereOf(item, rule)));
    nothings.push(compareWorkbooks(gold, await read(input), whereOf(item, rule)));
  }
  const broken = rights.find(({ isError }) => isError);
  if (broken) return { right: undefined, nothing: undefined, problem: broken.differences[0]! };
  const allOf = (all: readonly Comparison[]) => Number(all.every(({ isEqual }) => isEqual));
  const odd = rights.find(({ isEqual }) => !isEqual);
  return {
    right: allOf(rights),
    nothing: allOf(nothings),
    ...(odd === undefined ? {} : { problem: odd.differences[0]! }),
  };
}
