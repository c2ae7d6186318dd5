import { basename, dirname, resolve } from 'node:path';
import { WorkspaceTask, type WorkspaceTaskInput } from '../core/judge/index.ts';
import { defined, isObject, strip } from '../core/text/index.ts';
import {
  type FileContents,
  type ForeignFile,
  type Imported,
  type ImportedWork,
  type LeftOut,
  NotCarried,
  readBelow,
  readContents,
  reasonOf,
  unused,
  withOwnIds,
} from './left-out.ts';
import { elementLines, isFilled, type Row } from './rows.ts';

/** One eval of a skill: what is asked, what should come out, and statements about it. */
type EvalItem = {
  readonly id?: string;
  readonly prompt: string;
  readonly expectedOutput?: string;
  readonly criteria?: readonly string[];
  /** Paths below the folder of the skill. */
  readonly files?: readonly string[];
  /** Its place in the list. */
  readonly index: number;
};

type Fields = Readonly<Record<string, unknown>>;

/** Whether a file is one of skill-creator's, by what is in it. Lists of prompts and outputs alone are plain rows. */
export function isEvals(root: unknown): boolean {
  if (Array.isArray(root)) return root.some((entry) => isObject(entry) && KNOWN_IN_LIST.some((key) => key in entry));
  if (!isObject(root)) return false;
  return 'evals' in root || 'skill_name' in root || isGrading(root) || isBenchmark(root);
}

const KNOWN_IN_LIST = ['expectations', 'assertions', 'should_trigger'];
const isGrading = (root: Fields) => 'expectations' in root && 'summary' in root;
const isBenchmark = (root: Fields) => 'runs' in root && isObject(root.metadata) && 'evals_run' in root.metadata;

/** What a file of evals holds. Throws `NotCarried` for one that is something else. */
export function readEvals(root: unknown): { items: readonly EvalItem[]; leftOut: readonly LeftOut[] } {
  const list = listOf(root);
  const { skill_name: _, evals: _list, ...rest } = isObject(root) ? root : ({} as Fields);
  const at = isObject(root) ? 'evals' : '';
  const leftOut: LeftOut[] = Object.keys(rest).map((key) => unused(key, key));
  const ids = new Set<string>();
  const items = list.flatMap((entry, index) => readEval(entry, { where: `${at}[${index}]`, index, ids, leftOut }));
  return { items, leftOut };
}

function listOf(root: unknown): readonly unknown[] {
  if (Array.isArray(root)) return root;
  if (!isObject(root)) throw new NotCarried('expected an object with `evals`');
  if (Array.isArray(root.evals)) return root.evals;
  if ('evals' in root) throw new NotCarried('`evals` must be a list');
  if (isGrading(root)) throw new NotCarried('this is the result of a grading, not a list of evals');
  if (isBenchmark(root)) throw new NotCarried('this is the result of a benchmark, not a list of evals');
  throw new NotCarried('there is no `evals`');
}

type EvalPlace = {
  readonly where: string;
  readonly index: number;
  readonly ids: Set<string>;
  /** What is added to it is named. */
  readonly leftOut: LeftOut[];
};

const KEYS = ['id', 'prompt', 'expected_output', 'expectations', 'assertions', 'files'];

function readEval(entry: unknown, place: EvalPlace): EvalItem[] {
  const { where, index, leftOut } = place;
  const drop = (what: string, why: string) => void leftOut.push({ kind: 'task', where, what, why });
  if (!isObject(entry)) return drop('an eval', 'an eval is an object') ?? [];
  const { prompt } = entry;
  if (typeof prompt !== 'string' || !isFilled(prompt)) return drop('an eval', 'it has no prompt that is text') ?? [];
  const criteria = readCriteria(entry, place);
  const expectedOutput = readExpected(entry, place);
  if (criteria.length === 0 && expectedOutput === undefined) {
    return drop('an eval', 'it has neither statements nor an expected output to be judged by') ?? [];
  }
  const files = readFiles(entry, place);
  const id = readId(entry, place);
  for (const key of Object.keys(entry).filter((name) => !KEYS.includes(name))) {
    leftOut.push(unused(`${where}.${key}`, key));
  }
  const lists = { criteria: unlessEmpty(criteria), files: unlessEmpty(files) };
  return [{ index, prompt, ...defined({ id, expectedOutput, ...lists }) }];
}

const unlessEmpty = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list);

function readId({ id }: Fields, { where, ids, leftOut }: EvalPlace): string | undefined {
  if (id == null) return undefined;
  const text = typeof id === 'number' || (typeof id === 'string' && isFilled(id)) ? String(id) : undefined;
  if (text !== undefined && !ids.has(text)) {
    ids.add(text);
    return text;
  }
  const why = text === undefined ? 'an id is a number or a text' : `another eval is called ${text} too`;
  leftOut.push({ where: `${where}.id`, what: 'id', why });
  return undefined;
}

function readExpected({ expected_output: value }: Fields, { where, leftOut }: EvalPlace): string | undefined {
  if (value == null || (typeof value === 'string' && !isFilled(value))) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  leftOut.push({ where: `${where}.expected_output`, what: 'expected_output', why: 'it is no text' });
  return undefined;
}

/** Each statement once, under either name, in the order of the file. */
function readCriteria(entry: Fields, { where, leftOut }: EvalPlace): string[] {
  const found = new Set<string>();
  for (const key of Object.keys(entry).filter((name) => name === 'expectations' || name === 'assertions')) {
    const list = Array.isArray(entry[key]) ? entry[key] : [entry[key]];
    for (const [index, statement] of list.entries()) {
      const at = `${where}.${key}[${index}]`;
      const text = isObject(statement) ? statement.text : statement;
      if (typeof text !== 'string' || !isFilled(text)) leftOut.push({ where: at, what: 'a statement', why: 'no text' });
      else found.add(strip(text));
      const others = isObject(statement) && typeof text === 'string' ? Object.keys(statement) : [];
      leftOut.push(...others.filter((name) => name !== 'text').map((name) => unused(`${at}.${name}`, name)));
    }
  }
  return [...found];
}

function readFiles({ files = [] }: Fields, { where, leftOut }: EvalPlace): string[] {
  const list = Array.isArray(files) ? files : [files];
  return list.flatMap((file, index) => {
    if (typeof file === 'string' && isBelow(file)) return [file];
    const why = typeof file === 'string' ? `${file} does not lie below the folder of the skill` : 'a file is a path';
    leftOut.push({ kind: 'check', where: `${where}.files[${index}]`, what: 'a file', why });
    return [];
  });
}

/** A path that stays where it begins, on every system. */
const isBelow = (path: string) =>
  isFilled(path) && !/^[/~]|\\|^[A-Za-z]:/.test(path) && !path.split('/').some((part) => part === '..');

/** The evals of a file, and where each of them stands. */
function evalsIn(root: unknown, { text, path }: ForeignFile) {
  if (Array.isArray(root) && root.some((entry) => isObject(entry) && 'should_trigger' in entry))
    throw new NotCarried('these queries say when a skill is used, which is for its description; tasks were expected');
  const at = Array.isArray(root) ? '' : 'evals';
  const lines = elementLines(text, at === '' ? undefined : at);
  const whereOf = ({ index }: EvalItem) => `${path}:${lines[index]}`;
  return { ...readEvals(root), whereOf, placeOf: ({ index }: EvalItem) => `${at}[${index}]` };
}

/** Paths in an eval begin at the skill. */
function skillFolderOf(path: string): string {
  const folder = dirname(resolve(path));
  return basename(folder) === 'evals' ? dirname(folder) : folder;
}

/** skill-creator's evals for a chat model: it reads the files that are texts, and a model judges. */
export async function importEvalQuestions(root: unknown, file: ForeignFile): Promise<Imported> {
  const { items, leftOut, whereOf, placeOf } = evalsIn(root, file);
  const told: LeftOut[] = [...leftOut];
  const rows: Row[] = [];
  for (const item of items) {
    const place = placeOf(item);
    const { context, lost } = await readInputs(item, skillFolderOf(file.path), told);
    const unread = [...lost, ...whyLost(leftOut, place)];
    if (context === undefined && unread[0] !== undefined) told.push(withoutInput(item, place, unread[0]));
    else {
      told.push(...lost.map((why): LeftOut => ({ kind: 'check', where: `${place}.files`, what: 'a file', why })));
      rows.push({ value: toQuestion(item, context), where: whereOf(item) });
    }
  }
  return { format: 'evals', rows, leftOut: told };
}

/** Why files of an eval were not taken for files at all. */
const whyLost = (leftOut: readonly LeftOut[], place: string) =>
  leftOut.filter(({ where }) => where.startsWith(`${place}.files[`)).map(({ why }) => why);

/** An eval that is about a file asks about nothing without it. */
const withoutInput = ({ id }: EvalItem, where: string, why: string): LeftOut => ({
  kind: 'task',
  where,
  what: `the eval ${id ?? where}`,
  why,
});

function toQuestion({ id, prompt, criteria, expectedOutput }: EvalItem, context: string | undefined) {
  const rubric = `The answer fits this description of what should come out:\n${expectedOutput}`;
  const judge = criteria ? { kind: 'rubric', criteria } : { kind: 'rubric', rubric };
  return { ...defined({ id }), question: prompt, judge, ...(context ? { context } : {}) };
}

/** What a chat can take of all files of one eval. */
const MAX_INPUT_BYTES = 48_000;

/** Texts that an eval is about, for a model that cannot open files, and why others are none. */
async function readInputs({ files = [] }: EvalItem, folder: string, told: LeftOut[]) {
  const lost: string[] = [];
  const parts: string[] = [];
  for (const file of files) {
    try {
      const maxBytes = MAX_INPUT_BYTES - parts.join('').length;
      parts.push(`${file}:\n${await readBelow(folder, file, { maxBytes, told })}`);
    } catch (error) {
      lost.push(reasonOf(error));
    }
  }
  return { context: parts.length === 0 ? undefined : parts.join('\n\n'), lost };
}

/** skill-creator's evals for an agent: the workspace has the files under the paths that they have from the skill, and a model judges. */
export async function importEvalWork(root: unknown, file: ForeignFile): Promise<ImportedWork> {
  const { items, leftOut: lost, whereOf, placeOf } = evalsIn(root, file);
  const leftOut: LeftOut[] = [...lost];
  const rows: Row<WorkspaceTaskInput>[] = [];
  for (const item of items) {
    try {
      const [lost] = item.files === undefined ? whyLost(leftOut, placeOf(item)) : [];
      if (lost !== undefined) throw new NotCarried(lost);
      const files = (item.files ?? []).map((source) => ({ path: plain(source), source }));
      const contents = await readContents(skillFolderOf(file.path), files);
      rows.push({ value: toWork(item, contents), where: whereOf(item) });
    } catch (error) {
      leftOut.push(withoutInput(item, placeOf(item), reasonOf(error)));
    }
  }
  return { format: 'evals', rows: withOwnIds(rows), leftOut };
}

const plain = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');

/** Begins the statement that holds what an eval expects, so that it can be found again. */
const EXPECTED = 'What came out fits this description: ';

function toWork({ id, index, prompt, expectedOutput, criteria = [] }: EvalItem, contents: FileContents) {
  const rubric = [...(expectedOutput === undefined ? [] : [`${EXPECTED}${expectedOutput}`]), ...criteria];
  return { id: id ?? `eval-${index + 1}`, prompt, rubric, ...contents };
}

export type WrittenEvals = {
  /** What goes into `evals/evals.json`. */
  readonly evals: { readonly skill_name: string; readonly evals: readonly object[] };
  /** What goes into the folder of the skill beside it. */
  readonly contents: FileContents;
  readonly leftOut: readonly LeftOut[];
};

/** Tasks as skill-creator's evals. Read again they are the same tasks, but for what evals cannot say, which is named. */
export function toEvals(tasks: readonly WorkspaceTaskInput[], skillName: string): WrittenEvals {
  const read = tasks.map((task) => WorkspaceTask.parse(task));
  const files = Object.assign({}, ...read.map((task) => task.files)) as Record<string, string>;
  const binaries = Object.assign({}, ...read.map((task) => task.binaries)) as Record<string, string>;
  return {
    evals: { skill_name: skillName, evals: read.filter(({ rubric }) => rubric !== undefined).map(toEval) },
    contents: { files, binaries },
    leftOut: read.flatMap((task) => [...unsaid(task), ...clashes(task, { files, binaries })]),
  };
}

function toEval({ id, prompt, rubric = [], files, binaries }: WorkspaceTask): object {
  const isExpected = rubric[0]?.startsWith(EXPECTED) ?? false;
  const paths = [...Object.keys(files ?? {}), ...Object.keys(binaries ?? {})];
  const statements = isExpected ? rubric.slice(1) : rubric;
  return {
    id: /^(?:0|[1-9]\d{0,14})$/.test(id) ? Number(id) : id,
    prompt,
    ...(isExpected ? { expected_output: rubric[0]!.slice(EXPECTED.length) } : {}),
    ...defined({ files: unlessEmpty(paths), expectations: unlessEmpty(statements) }),
  };
}

const UNSAID = ['from', 'at', 'setup', 'verify', 'limits', 'taskType', 'keepHistory'] as const;

function unsaid(task: WorkspaceTask): LeftOut[] {
  const name = (what: string, why: string) => ({ where: task.id, what, why });
  if (task.rubric === undefined) return [name('the task', 'an eval is judged by statements, and it has none')];
  return [
    ...UNSAID.filter((key) => (task[key] ?? false) !== false).map((key) => name(key, 'an eval has no place for it')),
    ...(task.assertions.length > 0 ? [name('assertions', 'those of an eval are statements for a model')] : []),
  ];
}

/** All evals share one folder. */
function clashes(task: WorkspaceTask, all: Required<FileContents>): LeftOut[] {
  const own = { ...task.files, ...task.binaries };
  const shared = { ...all.files, ...all.binaries };
  const others = Object.keys(own).filter((path) => own[path] !== shared[path]);
  return others.map((what) => ({ where: task.id, what, why: 'another task has another file of this name' }));
}
