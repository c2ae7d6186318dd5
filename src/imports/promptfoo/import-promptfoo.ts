import { resolve } from 'node:path';
import type { z } from 'zod';
import type { Assertion, ChecksJudge, WorkspaceTaskInput } from '../../core/judge/index.ts';
import { defined, isObject, textOf } from '../../core/text/index.ts';
import { type ImportedWork, type LeftOut, NotCarried, reasonOf, withOwnIds } from '../left-out.ts';
import type { Row } from '../rows.ts';
import { requireCheck, toCheck, type Assertion as Written } from './assertion.ts';
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
    // Variables of later layers win, checks add up. A row for each combination of lists, and in it for each prompt. Rows without an
    // id get one from question and checks, where equal ones are left out; as work, a name used twice gets a number.
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

/** A config whose tests an agent is to pass: checks are about its last words, its skills and its cost, rubrics about its work. */
export async function importPromptfooWork(config: Fields, path: string): Promise<ImportedWork> {
  const { rows, leftOut } = await importPromptfoo(config, path, carryForWork);
  const named: LeftOut[] = [...leftOut];
  const folder = workingFolder(config, named);
  const placed = rows.flatMap((row) =>
    toTask(row, named).map((value) => ({
      where: row.where,
      ...defined({ twin: row.twin }),
      value: { ...value, ...folder },
    })),
  );
  return { format: 'promptfoo', rows: withOwnIds(placed), leftOut: named };
}

type Judged = {
  readonly question: string;
  readonly judge: { readonly checks: WorkCheck[]; readonly threshold?: number };
};

function toTask(row: Row & TestRow, named: LeftOut[]): WorkspaceTaskInput[] {
  const { question, judge } = row.value as Judged;
  const leaveOut = (what: string, why: string, check?: string) =>
    void named.push({ where: row.where, what, why, test: row.test, ...(check === undefined ? {} : { check }) });
  if (judge.threshold !== undefined) leaveOut('threshold', 'all checks of a task in a workspace must hold');
  const statements = judge.checks.flatMap((check, index) => statementsIn(check, row.checks[index]!, leaveOut));
  const isLost = judge.checks.some(hasCode); // no assertion about an agent says what code says
  if (isLost || statements.length === 0)
    return leaveOut('the test', isLost ? 'its verdict needs javascript' : 'none of its checks is carried') ?? [];
  const assertions = statements.flatMap((one) => ('assertion' in one ? [one.assertion] : []));
  const rubric = statements.flatMap((one) => ('rubric' in one ? [one.rubric] : []));
  return [{ id: row.test, prompt: question, assertions, ...(rubric.length === 0 ? {} : { rubric }) }];
}

const hasCode = ({ type, weight, checks = [] }: WorkCheck): boolean =>
  weight !== 0 && (type === 'javascript' || checks.some(hasCode));

function statementsIn(check: WorkCheck, number: string, leaveOut: (what: string, why: string, check: string) => void) {
  const { weight, threshold } = check;
  try {
    if (weight === 0) throw new NotCarried('with a weight of 0 it cannot fail');
    const statements = statementsOf(check);
    if (weight !== undefined && weight !== 1) leaveOut('weight', 'every check counts the same', number);
    if (threshold !== undefined && check.type === 'rubric')
      leaveOut('threshold', 'a statement holds or does not', number);
    return statements;
  } catch (error) {
    leaveOut(check.type, reasonOf(error), number);
    return [];
  }
}

/** The folder that all providers work in; each task gets a copy of its own. */
function workingFolder({ providers, targets }: Fields, named: LeftOut[]): { from?: string } {
  const list = [providers ?? targets ?? []].flat() as unknown[];
  const folders = list.flatMap((one) => {
    const config = isObject(one) && isObject(one.config) ? one.config : {};
    return typeof config.working_dir === 'string' ? [config.working_dir] : [];
  });
  const [folder, ...others] = [...new Set(folders)];
  if (folder === undefined) return {};
  if (others.length === 0 && resolve('/', folder) !== folder) return { from: folder.replace(/^\.\//, '') };
  const why = others.length > 0 ? 'providers name different ones' : 'it does not lie beside the config';
  named.push({ where: 'providers', what: 'working_dir', why });
  return {};
}

type ChatCheck = z.input<typeof ChecksJudge>['checks'][number];

/** A check about an answer, or about what an agent did besides. */
type WorkCheck = {
  readonly type: string;
  readonly value?: unknown;
  readonly not?: boolean | undefined;
  readonly weight?: number | undefined;
  readonly threshold?: number | undefined;
  readonly checks?: readonly WorkCheck[];
};

/** What a check comes to for an agent. */
type Statement = { readonly assertion: Assertion } | { readonly rubric: string };

/** How checks are read here: as for a chat, and two that need what an agent did. */
const carryForWork = {
  check(written: Written): WorkCheck {
    const { type, value, threshold, weight } = written;
    const name = textOf(type).replace(/^not-/, '');
    if (name !== 'skill-used' && name !== 'cost') return toCheck(written) as ChatCheck as WorkCheck;
    const own = { type: name, value: name === 'cost' ? threshold : value };
    return { ...own, not: name !== type, ...(typeof weight === 'number' ? { weight } : {}) };
  },
  set: (set: object): WorkCheck => set as WorkCheck,
};

/** Throws `NotCarried` for what no assertion says. */
function statementsOf(check: WorkCheck): readonly Statement[] {
  if (check.type !== 'set') {
    const made = Object.hasOwn(MAKERS, check.type) ? MAKERS[check.type]!(check) : undefined;
    if (made === undefined) throw new NotCarried('there is no assertion about an agent that says it');
    return made;
  }
  if (check.threshold !== undefined) throw new NotCarried('a part of its checks is enough, and here all must hold');
  return (check.checks ?? []).flatMap(statementsOf);
}

const said = (assertion: Assertion): readonly Statement[] => [{ assertion }];
const escaped = (text: unknown) => textOf(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const anyOf = (texts: unknown) => `(?:${(texts as unknown[]).map(escaped).join('|')})`;

const matching = (pattern: string, { not }: WorkCheck) =>
  said({ type: not ? 'output_not_matches' : 'output_matches', value: pattern });
const holding = (value: unknown, { not }: WorkCheck) =>
  said({ type: not ? 'output_not_contains' : 'output_contains', value: textOf(value) });

/** Each of several, which cannot be turned round: one that is missing is enough. */
function each(check: WorkCheck, one: (value: unknown, check: WorkCheck) => readonly Statement[]) {
  const texts = check.value as unknown[];
  if (check.not && texts.length > 1) throw new NotCarried('that not all of several are there is no assertion');
  return texts.flatMap((text) => one(text, check));
}

const MAKERS: Readonly<Record<string, (check: WorkCheck) => readonly Statement[]>> = {
  contains: (check) => matching(escaped(check.value), check),
  icontains: (check) => holding(check.value, check),
  'contains-any': (check) => matching(anyOf(check.value), check),
  'icontains-any': (check) => matching(`(?i)${anyOf(check.value)}`, check),
  'contains-all': (check) => each(check, (text) => matching(escaped(text), check)),
  'icontains-all': (check) => each(check, holding),
  'starts-with': (check) => matching(`\\A${escaped(check.value)}`, check),
  regex: (check) => matching(textOf(check.value), check),
  equals(check) {
    if (typeof check.value === 'object') throw new NotCarried('last words are text, and it wants a value in JSON');
    return matching(`\\A\\s*${escaped(check.value)}\\s*\\Z`, check);
  },
  rubric({ value, not }) {
    if (not) throw new NotCarried('a statement that must not hold; write it the other way round');
    return [{ rubric: textOf(value) }];
  },
  cost({ value, not }) {
    if (typeof value !== 'number') throw new NotCarried('without a threshold it records, and judges nothing');
    if (not) throw new NotCarried('that it costs more than something is no assertion');
    return said({ type: 'max_cost_usd', value });
  },
  'skill-used': (check) => skillStatements(check),
};

function skillStatements({ value, not = false }: WorkCheck): readonly Statement[] {
  const used = (name: string, isUsed: boolean) => said({ type: isUsed ? 'skill_used' : 'skill_not_used', value: name });
  if (typeof value === 'string') return used(value, !not);
  if (Array.isArray(value)) return each({ type: 'skill-used', value, not }, (name) => used(textOf(name), !not));
  const { pattern, min = 1, max, ...rest } = isObject(value) ? value : {};
  const isName = typeof pattern === 'string' && /^[\w-]+$/.test(pattern) && Object.keys(rest).length === 0;
  if (isName && max === undefined && min === 1) return used(pattern, !not);
  if (isName && max === 0) return used(pattern, not);
  throw new NotCarried('how often a skill is used is not counted, and a pattern of names is not read');
}
