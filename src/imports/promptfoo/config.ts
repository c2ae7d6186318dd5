import { isObject } from '../../core/text/index.ts';
import { type LeftOut, NotCarried, reasonOf } from '../left-out.ts';
import type { Row } from '../rows.ts';
import { requireCheck, toCheck } from './assertion.ts';
import { type Fields, Source } from './source.ts';
import { type Carry, type Layer, type TestRow, toRows } from './test-rows.ts';

type ImportedTests = { readonly rows: readonly (Row & TestRow)[]; readonly leftOut: readonly LeftOut[] };

const SIGNS = ['prompts', 'providers', 'targets', 'defaultTest', 'scenarios'];

/** Whether a file is a config of promptfoo, by its keys. */
export const isPromptfoo = (root: unknown): root is Fields =>
  isObject(root) && ('scenarios' in root || ('tests' in root && SIGNS.some((key) => key in root)));

/** Keys that say how promptfoo runs and shows, not what is right. */
const ABOUT_RUNNING =
  'description providers targets outputPath sharing commandLineOptions writeLatestResults tags $schema';
const READ = ['prompts', 'tests', 'scenarios', 'defaultTest', 'assertionTemplates', ...ABOUT_RUNNING.split(' ')];

const chatChecks: Carry = { check: toCheck, set: requireCheck };

/** More would be a mistake in the config: variables that are lists multiply. */
const MAX_ROWS = 100_000;

/** A task for each test and prompt of a config, and all that could not be carried. Nothing in it is run. */
export async function importPromptfoo(config: Fields, path: string, carry = chatChecks): Promise<ImportedTests> {
  const source = new Source(path);
  for (const key of Object.keys(config).filter((name) => !READ.includes(name))) {
    source.leaveOut({ where: key, what: key, why: 'nothing here does it' });
  }
  const prompts = await readPrompts(config.prompts, source);
  const templates = isObject(config.assertionTemplates) ? config.assertionTemplates : {};
  const rows: (Row & TestRow)[] = [];
  for await (const layers of layersOf(config, source)) {
    rows.push(...(await toRows({ layers, prompts, templates, source, carry })));
    if (rows.length > MAX_ROWS) throw new NotCarried(`its tests and variables make more than ${MAX_ROWS} tasks`);
  }
  return { rows: withIds(rows), leftOut: source.leftOut };
}

/** What holds for each test, the most general first: the defaults, the data of a scenario, the test itself. */
async function* layersOf(config: Fields, source: Source): AsyncGenerator<readonly Layer[]> {
  const defaults = await source.resolve(config.defaultTest);
  const base: Layer[] = isObject(defaults) ? [{ test: defaults, where: 'defaultTest' }] : [];
  const scenarios = Array.isArray(config.scenarios) ? config.scenarios : [];
  for (const [index, scenario] of scenarios.entries()) {
    const at = `scenarios[${index}]`;
    const { config: data, tests } = isObject(scenario) ? scenario : ({} as Fields);
    for (const row of await source.tests(data, `${at}.config`)) {
      for (const test of await source.tests(tests, `${at}.tests`)) yield [...base, row, test];
    }
  }
  if (config.tests === undefined) return;
  for (const test of await source.tests(config.tests, 'tests')) yield [...base, test];
}

/** A description that is used once is a name that people know. */
function withIds(rows: readonly (Row & TestRow)[]): (Row & TestRow)[] {
  const counts = new Map<string, number>();
  for (const { test } of rows) counts.set(test, (counts.get(test) ?? 0) + 1);
  return rows.map((row) =>
    row.isDescribed && counts.get(row.test) === 1 ? { ...row, value: { ...(row.value as object), id: row.test } } : row,
  );
}

/** The prompts of a config that are one text. Without any, tests have a variable `prompt`. */
async function readPrompts(prompts: unknown, source: Source): Promise<string[]> {
  if (prompts === undefined) return ['{{prompt}}'];
  const list = Array.isArray(prompts) ? prompts : [prompts];
  const texts: string[] = [];
  for (const [index, prompt] of list.entries()) {
    const where = `prompts[${index}]`;
    const written = isObject(prompt) ? (prompt.raw ?? prompt.id) : prompt;
    try {
      const text = await source.resolve(written, 'a prompt that is made by code');
      if (typeof text === 'string' && !isChat(text)) texts.push(text);
      else source.leaveOut({ where, what: 'a prompt', why: 'it is a conversation, not one text' });
    } catch (error) {
      source.leaveOut({ where, what: 'a prompt', why: reasonOf(error) });
    }
  }
  return texts;
}

/** Messages in JSON, as some prompts are written. */
const isChat = (text: string) => /^\s*\[[\s\S]*"role"/.test(text);
