import { posix } from 'node:path';
import { isObject } from '../../core/text/index.ts';
import { loadItems, type Row, tasksInvalid } from '../../imports/index.ts';
import type { Attempts, Benchmark, RowReader } from '../benchmark.ts';
import type { DataFiles } from '../data/data-files.ts';
import { attempt } from './attempt.ts';
import { baseNames, findDocuments, readDocument, withHash } from './documents.ts';
import { type OfficeQaDocument, OfficeQaItem, readFields } from './item.ts';
import { REMINDER, RULES, RULES_FOR_AGENTS, TIME_IS_UP } from './prompts.ts';
import { type OfficeQaSettings, ruleText, Settings, scoreWith } from './settings.ts';
import { taggedAnswer } from './tool-calls.ts';
import { shownNames } from './tools.ts';

export const officeqa: Benchmark<OfficeQaItem, OfficeQaSettings> = {
  name: 'officeqa',
  title: 'OfficeQA: questions about tables in treasury bulletins',
  source: {
    get: [
      'Ask for access to databricks/officeqa on its hub, and get officeqa_full.csv.',
      'Get the parsed bulletins there too: treasury_bulletins_parsed/transformed/*.txt.',
      'Put both below one folder.',
    ],
    licence: 'questions CC BY-SA 4.0, and gated: not to be published. Bulletins: U.S. government',
  },
  published: { train: 50, val: 24, test: 172 },
  initialSkill: `# Questions about treasury bulletins

- Find the table before you read numbers: search for words of its title, then read the lines around it.
- Check the unit, the period and the footnotes of a table.
- Answer with the number alone, as precise as the question asks.
`,
  settings: Settings,
  item: OfficeQaItem,
  hint: 'A row is {"uid": "…", "question": "…", "answer": "…", "source_files": "treasury_bulletin_1941_01.txt"}, and the text files of the bulletins lie in dataDirs.',
  async readRow({ value }, { files }) {
    if (!isObject(value)) return value;
    const fields = readFields(value);
    if (fields.question === '' || fields.answer === '') return { ...fields, documents: [] };
    return { ...fields, documents: await documentsOf(value, fields.sourceFiles, files) };
  },
  findRows,
  groupsOf: ({ sourceFiles }) => baseNames(sourceFiles).map((base) => `document ${base}`),
  questionOf: ({ question }) => question,
  goldOf: ({ answer }) => answer,
  open,
};

/** A row of ours names its documents. Their hashes are computed again: a document that has changed makes another item. */
async function documentsOf(
  { documents }: Readonly<Record<string, unknown>>,
  sourceFiles: readonly string[],
  files: DataFiles,
): Promise<OfficeQaDocument[]> {
  if (!Array.isArray(documents) || documents.length === 0) return findDocuments(sourceFiles, files);
  return Promise.all(documents.map((each) => withHash(String((each as { name?: unknown } | null)?.name), files)));
}

/** The table of questions among what a person downloaded. The full one holds the others. */
async function findRows({ files }: RowReader): Promise<readonly Row[]> {
  const names = await files.names();
  const tables = names.filter((name) => /^officeqa[^/]*\.(?:csv|jsonl?|parquet)$/i.test(posix.basename(name)));
  const table = tables.find((name) => /full/i.test(posix.basename(name))) ?? tables[0];
  if (table !== undefined) return loadItems(await files.pathOf(table));
  throw tasksInvalid([`no officeqa_full.csv is below ${files.roots[0]}`], officeqa.source.get.join(' '));
}

function open({ settings, files }: Parameters<typeof officeqa.open>[0]): Attempts<OfficeQaItem> {
  const { rule, tolerance, maxToolTurns, maxCompletionTokens } = settings;
  return {
    rule: ruleText(settings),
    version: `1, ${rule} rule, tolerance ${tolerance}, turns ${maxToolTurns}, output ${maxCompletionTokens}`,
    prompt: [RULES, RULES_FOR_AGENTS, REMINDER, TIME_IS_UP].join('\n\n'),
    targetCalls: { low: 1, high: maxToolTurns + 2 }, // with the reminder, and the turn for the answer
    attempt: (context) => attempt(context, { settings, files }),
    probe: ({ answer }) => ({
      right: scoreWith(settings, taggedAnswer(`<answer>${answer}</answer>`) ?? '', answer).hard,
      nothing: scoreWith(settings, '', answer).hard,
    }),
    workspaceFiles: (item) => workspaceFiles(item, files),
  };
}

/** A workspace is made for each attempt: more text would be too much. */
const MOST_TEXT = 100_000_000;

async function workspaceFiles({ documents }: OfficeQaItem, files: DataFiles): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  let length = 0;
  for (const [name, document] of shownNames(documents)) {
    texts[`documents/${name}`] = await readDocument(document, files);
    length += texts[`documents/${name}`]!.length;
    if (length > MOST_TEXT) throw new Error(`the documents of a task have more than ${MOST_TEXT} characters`);
  }
  return texts;
}
