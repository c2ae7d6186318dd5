import { basename, dirname, resolve } from 'node:path';
import { Assertion, fromJsPattern, type WorkspaceTaskInput } from '../core/judge/index.ts';
import { isObject, textOf } from '../core/text/index.ts';
import {
  asTheyLie,
  type FileContents,
  filesIn,
  type ImportedWork,
  type LeftOut,
  NotCarried,
  orNotCarried,
  readContents,
  reasonOf,
  type SourceFile,
  unused,
  withOwnIds,
} from './left-out.ts';
import { isFilled, type Row } from './rows.ts';

type Fields = Readonly<Record<string, unknown>>;
/** Whether a file is one of dotnet's skill-validator: promptfoo's scenarios have `config` and `tests`. */
export const isDotnet = (root: unknown): root is Fields =>
  isObject(root) &&
  ('stimuli' in root ||
    (Array.isArray(root.scenarios) &&
      root.scenarios.some((one) => isObject(one) && ('prompt' in one || 'name' in one))));

/** `tests/eval.yaml` of a skill: a task for each scenario. */
export async function importDotnet(root: Fields, path: string): Promise<ImportedWork> {
  const { scenarios, ...rest } = root;
  if (!Array.isArray(scenarios)) throw new NotCarried('files with stimuli and graders are not read, only scenarios');
  const leftOut: LeftOut[] = Object.keys(rest).map((key) => unused(key, key));
  const rows: Row<WorkspaceTaskInput>[] = [];
  for (const [index, scenario] of scenarios.entries()) {
    const where = `scenarios[${index}]`;
    try {
      rows.push({ value: await toTask(scenario, { where, path, leftOut }), where: `${path}: ${where}` });
    } catch (error) {
      leftOut.push({ where, what: 'the scenario', why: reasonOf(error) });
    }
  }
  return { format: 'dotnet', rows: withOwnIds(rows), leftOut };
}

type ScenarioPlace = { readonly where: string; readonly path: string; readonly leftOut: LeftOut[] };

const KEYS = 'name prompt setup assertions rubric expect_tools reject_tools max_turns max_tokens timeout'.split(' ');

async function toTask(scenario: unknown, place: ScenarioPlace): Promise<WorkspaceTaskInput> {
  if (!isObject(scenario)) throw new NotCarried('a scenario is an object');
  const { name, prompt, setup = {} } = scenario;
  if (typeof prompt !== 'string' || !isFilled(prompt)) throw new NotCarried('it has no prompt that is text');
  const { where, leftOut } = place;
  for (const key of Object.keys(scenario).filter((one) => !KEYS.includes(one)))
    leftOut.push(unused(`${where}.${key}`, key));
  const assertions = [...readAssertions(scenario, place), ...constraintsOf(scenario)];
  const rubric = readRubric(scenario, place);
  if (assertions.length === 0 && rubric.length === 0) throw new NotCarried('nothing in it can be judged by');
  return {
    id: typeof name === 'string' && isFilled(name) ? name : where,
    prompt,
    assertions,
    ...(rubric.length === 0 ? {} : { rubric }),
    ...(await readSetup(isObject(setup) ? setup : {}, place)),
    ...readTimeout(scenario, place),
  };
}

function readAssertions({ assertions }: Fields, { where, leftOut }: ScenarioPlace): Assertion[] {
  return listOf(assertions).flatMap((written, index) => {
    const at = `${where}.assertions[${index}]`;
    try {
      const { assertion, unused: others } = fromDotnet(written);
      leftOut.push(...others.map((key) => unused(`${at}.${key}`, key)));
      return [assertion];
    } catch (error) {
      leftOut.push({
        where: at,
        what: textOf((written as Fields | null)?.type ?? 'an assertion'),
        why: reasonOf(error),
      });
      return [];
    }
  });
}

const listOf = (value: unknown): readonly unknown[] => (value == null ? [] : [value].flat());
const texts = (value: unknown) =>
  listOf(value).filter((one): one is string => typeof one === 'string' && isFilled(one));

function constraintsOf({ expect_tools, reject_tools, max_turns, max_tokens }: Fields): Assertion[] {
  const [expected, rejected] = [texts(expect_tools), texts(reject_tools)];
  return [
    ...(expected.length > 0 ? [{ type: 'expect_tools', value: expected } as const] : []),
    ...(rejected.length > 0 ? [{ type: 'reject_tools', value: rejected } as const] : []),
    ...(typeof max_turns === 'number' ? [{ type: 'max_turns', value: max_turns } as const] : []),
    ...(typeof max_tokens === 'number' ? [{ type: 'max_tokens', value: max_tokens } as const] : []),
  ];
}

function readRubric({ rubric }: Fields, { where, leftOut }: ScenarioPlace): string[] {
  const statements = texts(rubric);
  if (statements.length < listOf(rubric).length)
    leftOut.push({ where: `${where}.rubric`, what: 'a statement', why: 'it is no text' });
  return statements;
}

const SETUP_KEYS = ['copy_test_files', 'files', 'commands'];

async function readSetup(setup: Fields, place: ScenarioPlace): Promise<FileContents & { setup?: string }> {
  const { where, path, leftOut } = place;
  for (const key of Object.keys(setup).filter((one) => !SETUP_KEYS.includes(one)))
    leftOut.push(unused(`${where}.setup.${key}`, key));
  const beside = setup.copy_test_files === true ? await testFiles(path) : {};
  const own = await readSetupFiles(listOf(setup.files), path);
  const commands = texts(setup.commands);
  const files = { ...beside.files, ...own.files };
  const binaries = { ...beside.binaries, ...own.binaries };
  return {
    ...(Object.keys(files).length > 0 ? { files } : {}),
    ...(Object.keys(binaries).length > 0 ? { binaries } : {}),
    ...(commands.length > 0 ? { setup: ['set -e', ...commands].join('\n') } : {}),
  };
}

/** All that lies beside the file, but for the file itself. */
async function testFiles(path: string): Promise<FileContents> {
  const folder = dirname(resolve(path));
  const paths = (await filesIn(folder)).filter((one) => one !== basename(path));
  return readContents(folder, asTheyLie(paths));
}

/** Sources are named from the skill, whose folder of tests this is; older files name them from there. */
async function readSetupFiles(list: readonly unknown[], path: string): Promise<Required<FileContents>> {
  const files: Record<string, string> = {};
  const binaries: Record<string, string> = {};
  for (const one of list) {
    const { path: to, content, source } = (one ?? {}) as Fields;
    if (typeof to !== 'string' || (typeof content !== 'string' && typeof source !== 'string'))
      throw new NotCarried('a file of its setup needs a path, and content or source');
    if (typeof content === 'string') files[plainPath(to)] = content;
    else {
      const read = await readSource({ path: plainPath(to), source: textOf(source) }, dirname(resolve(path)));
      Object.assign(files, read.files);
      Object.assign(binaries, read.binaries);
    }
  }
  return { files, binaries };
}

const plainPath = (path: string) => path.replace(/^(?:\.\/)+/, '');

async function readSource(file: SourceFile, tests: string) {
  const skill = basename(tests) === 'tests' ? dirname(tests) : tests;
  return readContents(skill, [file]).catch((error: unknown) => {
    reasonOf(error);
    return readContents(tests, [file]);
  });
}

const MOST_SECONDS = 3600;

function readTimeout({ timeout }: Fields, { where, leftOut }: ScenarioPlace): Pick<WorkspaceTaskInput, 'limits'> {
  if (timeout === undefined) return {};
  const isTime = typeof timeout === 'number' && timeout > 0 && timeout <= MOST_SECONDS;
  if (isTime) return { limits: { timeoutMs: Math.ceil(timeout * 1000) } };
  leftOut.push({ where: `${where}.timeout`, what: 'timeout', why: 'a limit is a number of seconds, at most 3600' });
  return {};
}

/** The parameters that each type has, in their words. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  output_contains: ['value'],
  output_not_contains: ['value'],
  output_matches: ['pattern'],
  output_not_matches: ['pattern'],
  file_exists: ['path'],
  file_not_exists: ['path'],
  file_contains: ['path', 'value'],
  file_not_contains: ['path', 'value'],
  exit_success: [],
};

/** An assertion of dotnet's skill-validator as ours, and the keys of it that say nothing here. Throws `NotCarried`. */
function fromDotnet(written: unknown): { readonly assertion: Assertion; readonly unused: readonly string[] } {
  const { type, ...given } = (written ?? {}) as Fields;
  const parameters = typeof type === 'string' && Object.hasOwn(PARAMETERS, type) ? PARAMETERS[type]! : undefined;
  if (parameters === undefined)
    throw new NotCarried(
      type === 'run_command_and_assert' ? 'write it as verify of the task' : 'there is no such type',
    );
  const missing = parameters.find((name) => typeof given[name] !== 'string' || given[name] === '');
  if (missing !== undefined) throw new NotCarried(`it needs ${missing}, a text`);
  const unused = Object.keys(given).filter((name) => !parameters.includes(name));
  return { assertion: toAssertion(textOf(type), given as Record<string, string>), unused };
}

/** There, any last words are a success, also of an agent that a limit ended. */
const SAID_SOMETHING = { type: 'output_matches', value: '\\S' } as const;

function toAssertion(type: string, { value, pattern, path }: Record<string, string>): Assertion {
  if (type === 'exit_success') return SAID_SOMETHING;
  const isPattern = type === 'output_matches' || type === 'output_not_matches';
  const made = {
    type,
    ...(path === undefined ? {} : { path }),
    ...(isPattern ? { value: orNotCarried(() => fromJsPattern(pattern!)) } : value === undefined ? {} : { value }),
  };
  const read = Assertion.safeParse(made);
  if (read.success) return read.data;
  throw new NotCarried(read.error.issues[0]!.message);
}
