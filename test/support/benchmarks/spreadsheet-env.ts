import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChatModel } from 'skillopt';
import { scripted } from 'skillopt/models';
import type { BenchmarkEnv } from '../../../src/benchmarks/index.ts';
import type { SpreadsheetItem } from '../../../src/benchmarks/spreadsheetbench/item.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../temp-folder.ts';
import { workbookFile } from '../workbook-file.ts';

type SpreadsheetEnv = BenchmarkEnv<SpreadsheetItem>;
type Flags = Parameters<typeof loadProject>[0]['flags'];
type Settings = { readonly sandbox?: string; readonly extras?: Readonly<Record<string, unknown>> };

/** A folder with one item in each split: B1 should be twice A1, in two workbooks. */
export function doublingFolder({ sandbox = 'auto', extras = {} }: Settings = {}) {
  const item = {
    ...{ instruction: 'Put twice the number in A1 into B1.', instruction_type: 'Cell-Level Manipulation' },
    ...{ answer_position: "'Sheet1'!B1", spreadsheet_path: 'books/1' },
  };
  const config = { env: 'spreadsheetbench', splitDir: '.', target: 'openai:none', optimizer: 'openai:none' };
  const folder = tempFolder({
    'skillopt.config.json': JSON.stringify({ ...config, sandbox, extras: { execTimeout: 60, ...extras } }),
    ...Object.fromEntries(
      ['train', 'val', 'test'].map((id) => [`${id}/items.json`, JSON.stringify([{ id, ...item }])]),
    ),
  });
  for (const [index, number] of [21, 4].entries()) {
    const name = (ending: string) => join(folder.path, `books/1/${index + 1}_1_${ending}.xlsx`);
    mkdirSync(dirname(name('init')), { recursive: true });
    writeFileSync(name('init'), workbookFile([{ name: 'Sheet1', rows: [[number]] }]));
    writeFileSync(name('golden'), workbookFile([{ name: 'Sheet1', rows: [[number, 2 * number]] }]));
  }
  return folder;
}

/** What `flags` name is taken from there. */
export const loadConfig = async (config: string, flags: Flags = {}, cwd = dirname(config)): Promise<SpreadsheetEnv> =>
  (await loadEnv(await loadProject({ flags, config, cwd }))) as unknown as SpreadsheetEnv;

/** The environment of a folder that `doublingFolder` made. */
export const open = (path: string) => loadConfig(join(path, 'skillopt.config.json'));

export const itemsOf = async (env: SpreadsheetEnv): Promise<SpreadsheetItem[]> =>
  (await Promise.all(['train', 'val', 'test'].map((split) => env.getItems(split)))).flat();

type Attempted = { readonly item: SpreadsheetItem; readonly target: ChatModel; readonly signal?: AbortSignal };

export const attempt = (env: SpreadsheetEnv, { item, target, signal = new AbortController().signal }: Attempted) =>
  env.rolloutOne({ item, skill: '# Skill\n\nBe exact.', target, extras: {}, signal });

/** An attempt at the first item of the folder. Each reply is given once, the last one as often as it is asked for. */
export async function answerWith(path: string, ...replies: string[]) {
  const env = await open(path);
  const [item] = await itemsOf(env);
  const target = scripted('coder', ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    return replies[Math.min(turn, replies.length - 1)]!;
  });
  return { ...(await attempt(env, { item: item!, target })), requests: target.requests };
}

export const fenced = (language: string, code: string) => `Here it is.\n\n\`\`\`${language}\n${code}\n\`\`\`\n`;

/** Right code for the folder above. */
export const DOUBLING = {
  python: `import openpyxl
INPUT_PATH = "ignored.xlsx"
book = openpyxl.load_workbook(INPUT_PATH)
book.active["B1"] = book.active["A1"].value * 2
book.save(OUTPUT_PATH)`,
  javascript: `import * as XLSX from 'xlsx';
const OUTPUT_PATH = 'ignored.xlsx';
const book = XLSX.readFile(INPUT_PATH);
const sheet = book.Sheets.Sheet1;
XLSX.utils.sheet_add_aoa(sheet, [[sheet.A1.v * 2]], { origin: 'B1' });
XLSX.writeFile(book, globalThis.OUTPUT_PATH);`,
};
