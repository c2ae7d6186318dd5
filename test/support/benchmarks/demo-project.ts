import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FakeRequest } from 'skillopt/testing';
import { runCli } from '../../../src/cli/index.ts';
import { lacksBubblewrap } from '../../unit/workspaces/kinds.ts';
import { captureIo } from '../capture-io.ts';
import { tempFolder } from '../temp-folder.ts';
import { fenced } from './spreadsheet-env.ts';

const examples = fileURLToPath(new URL('../../../examples/benchmarks/', import.meta.url));
const configs = fileURLToPath(new URL('../../fixtures/skillopt-configs', import.meta.url));

export const SPLITS = ['train', 'val', 'test'] as const;
type Split = (typeof SPLITS)[number];

/** A row of any of the demos. */
export type Row = {
  readonly [field in
    | 'id'
    | 'uid'
    | 'question'
    | 'answer'
    | 'source_files'
    | 'instruction'
    | 'spreadsheet_path'
    | 'gamefile']?: string;
} & {
  readonly answers?: readonly string[];
  readonly choices?: readonly { readonly label: string; readonly text: string }[];
  readonly correct_choice?: { readonly label: string };
};

export const idOf = ({ id, uid }: Row): string => (id ?? uid)!;

/** What is asked of a benchmark here: its name in SkillOpt, where its config wants the data, and what a far side knows of the items. */
type Demo = {
  readonly theirs: string;
  /** Where SkillOpt's config looks for each file of the demo. */
  readonly places: Readonly<Record<string, string>>;
  /** Settings for what the demo has in place of Python. */
  readonly settings?: readonly string[];
  /** How its prompt begins. */
  readonly prompt: string;
  readonly rule: string;
  /** The next reply in a talk of somebody who knows, and of somebody who does not. */
  readonly right: (row: Row, talk: FakeRequest['messages']) => string;
  readonly wrong: (row: Row) => string;
};

const splitsIn = (folder: string) => Object.fromEntries(SPLITS.map((split) => [split, `${folder}/${split}`]));
const tagged = (text: string) => `I see.\n<answer>${text}</answer>`;

/** The letter that the prompt gives the right choice. */
function letterOf({ choices, correct_choice: correct }: Row, asked: string): string {
  const { text } = choices!.find(({ label }) => label === correct!.label)!;
  return asked.split('\n').find((line) => line.slice(1) === `. ${text}`)![0]!;
}

const gameOf = ({ gamefile }: Row): { task: string; walkthrough: string[] } =>
  JSON.parse(readFileSync(join(examples, 'alfworld', gamefile!), 'utf8'));

/** Writes the right workbook for each input, which it knows by its hash. */
function workbooksOf({ spreadsheet_path: folder }: Row): string {
  const path = join(examples, 'spreadsheetbench', folder!);
  const inputs = readdirSync(path).filter((name) => name.endsWith('_init.xlsx'));
  const known = inputs.map((name) => [
    createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex'),
    readFileSync(join(path, name.replace('_init', '_golden'))).toString('base64'),
  ]);
  return `import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
const known = ${JSON.stringify(Object.fromEntries(known))};
const key = createHash('sha256').update(readFileSync(INPUT_PATH)).digest('hex');
writeFileSync(OUTPUT_PATH, Buffer.from(known[key], 'base64'));`;
}

/** What an item asks, in its own words. */
export const questionOf = (row: Row): string => row.question ?? row.instruction ?? gameOf(row).task;

export const DEMOS = {
  searchqa: {
    theirs: 'searchqa',
    places: splitsIn('data/searchqa_split'),
    prompt: 'You answer questions of a quiz.',
    rule: 'exact match after SQuAD normalisation',
    right: ({ answers }) => tagged(answers![0]!),
    wrong: () => tagged('a kettle'),
  },
  livemath: {
    theirs: 'livemathematicianbench',
    places: splitsIn('data/livemath_split'),
    prompt: 'You answer multiple-choice questions of research mathematics.',
    rule: 'label equal',
    right: (row, talk) => tagged(letterOf(row, talk[1]!.content)),
    wrong: () => tagged('Z'),
  },
  officeqa: {
    theirs: 'officeqa',
    places: { ...splitsIn('data/officeqa_split'), documents: 'data/officeqa/pages' },
    prompt: 'You answer a question about official bulletins',
    rule: 'the benchmark’s own rule, numbers within 0 %',
    right: ({ answer, source_files: path }, talk) =>
      talk.length === 2 ? `<tool>${JSON.stringify({ name: 'read', path, limit: 3 })}</tool>` : tagged(answer!),
    wrong: () => tagged('a kettle'),
  },
  spreadsheetbench: {
    theirs: 'spreadsheetbench',
    places: {
      ...splitsIn('data/spreadsheetbench_split'),
      spreadsheet: 'data/spreadsheetbench_verified_400/spreadsheet',
    },
    settings: ['env.language=javascript'],
    prompt: 'You change Excel workbooks by writing JavaScript code.',
    rule: 'values of cells at the answer position, rule repaired',
    right: (row) => fenced('javascript', workbooksOf(row)),
    wrong: () =>
      fenced('javascript', "import { copyFileSync } from 'node:fs';\ncopyFileSync(INPUT_PATH, OUTPUT_PATH);"),
  },
  docvqa: {
    theirs: 'docvqa',
    places: { ...splitsIn('data/docvqa_split'), images: 'data/docvqa_split/images' },
    prompt: 'You are shown a page of a document as an image',
    rule: 'ANLS of at least 0.999',
    right: ({ answers }) => tagged(answers![0]!),
    wrong: () => tagged('a kettle'),
  },
  alfworld: {
    theirs: 'alfworld',
    places: { ...splitsIn('data/alfworld_split'), games: 'data/alfworld_split/games', 'world.mjs': 'world.mjs' },
    settings: ['env.world=[node, world.mjs]'],
    prompt: 'You act in a house that you know through text alone.',
    rule: 'won within 50 steps',
    right: (row, talk) => `<action>${gameOf(row).walkthrough[stepIn(talk) - 1]}</action>`,
    wrong: () => '<action>look</action>',
  },
} satisfies Readonly<Record<string, Demo>>;
export type DemoName = keyof typeof DEMOS;
export const DEMO_NAMES = Object.keys(DEMOS) as DemoName[];

const stepIn = (talk: FakeRequest['messages']) => Number(/^This is step (\d+) of 50/m.exec(talk.at(-1)!.content)![1]);

/** The rows of a demo's split, as its file has them. */
export const rowsOf = (name: DemoName, split: Split): Row[] =>
  JSON.parse(readFileSync(join(examples, name, split, 'items.json'), 'utf8'));

export const allRows = (name: DemoName): Row[] => SPLITS.flatMap((split) => rowsOf(name, split));

/** The row that a request asks about. */
export function askedRow(name: DemoName, { messages }: FakeRequest): Row {
  const found = allRows(name).filter((row) => messages[1]!.content.includes(questionOf(row)));
  if (found.length !== 1) throw new Error(`${found.length} items of ${name} are asked by: ${messages[1]!.content}`);
  return found[0]!;
}

/** What a target replies that knows some items. */
export function demoReply(name: DemoName, request: FakeRequest, knows: (id: string) => boolean): string {
  const { right, wrong } = DEMOS[name] as Demo;
  const row = askedRow(name, request);
  return knows(idOf(row)) ? right(row, request.messages) : wrong(row);
}

/**
 * A folder with SkillOpt's own config of a benchmark, and our demo where that config looks for its data. Models are reached at
 * `baseURL`. `using` removes it.
 */
export function demoProject(name: DemoName, baseURL: string) {
  const { theirs, places, settings = [] } = DEMOS[name] as Demo;
  const folder = tempFolder({ 'envs/searchqa/initial.md': '# Quiz\n', 'SKILL.md': '# Skill\n\nBe exact.\n' });
  cpSync(configs, join(folder.path, 'configs'), { recursive: true });
  for (const [from, to] of Object.entries(places))
    cpSync(join(examples, name, from), join(folder.path, to), { recursive: true });
  mkdirSync(join(folder.path, 'data/officeqa/tables'), { recursive: true });
  const set = [
    'model.backend=openai_compatible',
    'model.target=far-target',
    'model.optimizer=far-optimizer',
    ...(lacksBubblewrap ? ['sandbox=none'] : []),
    ...settings,
  ];
  return {
    ...folder,
    /** Writes the rows of a split in place of those that are there. */
    write(split: Split, rows: readonly Row[]) {
      writeFileSync(join(folder.path, places[split]!, 'items.json'), JSON.stringify(rows));
    },
    read: (file: string) => readFileSync(join(folder.path, file), 'utf8'),
    /** Runs a command here with SkillOpt's config, and returns what it answers with `--json`. */
    async run(command: string, ...argv: string[]) {
      const { PATH } = process.env;
      const variables = { OPENAI_COMPATIBLE_BASE_URL: baseURL, OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
      const env = { PATH, HOME: folder.path, SKILLOPT_HOME: join(folder.path, '.state'), ...variables };
      const io = captureIo({ cwd: folder.path, env });
      const args = [command, '--config', `configs/${theirs}/default.yaml`, ...set.flatMap((one) => ['--set', one])];
      const code = await runCli([...args, '--json', ...argv], io);
      if (code !== 0) throw new Error(`exit code ${code}: ${io.out()}${io.err()}`);
      return { answer: JSON.parse(io.out()), err: io.err() };
    },
  };
}
