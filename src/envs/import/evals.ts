import { isObject, strip } from '../../core/text/index.ts';
import { isFilled } from '../read/parse-rows.ts';
import { type LeftOut, NotCarried } from './left-out.ts';

/** One eval of a skill: what is asked, what should come out, and statements about it. */
export type EvalItem = {
  readonly id?: string;
  readonly prompt: string;
  readonly expectedOutput?: string;
  readonly criteria?: readonly string[];
  /** Paths below the folder of the skill. */
  readonly files?: readonly string[];
  /** Its place in the list. */
  readonly index: number;
};

export type Evals = {
  readonly skillName: string;
  readonly items: readonly EvalItem[];
  readonly leftOut: readonly LeftOut[];
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
export function readEvals(root: unknown): Evals {
  const list = listOf(root);
  const { skill_name: skillName, evals: _, ...rest } = isObject(root) ? root : ({} as Fields);
  const at = isObject(root) ? 'evals' : '';
  const leftOut: LeftOut[] = Object.keys(rest).map((key) => unknownKey(key, key));
  const ids = new Set<string>();
  const items = list.flatMap((entry, index) => readEval(entry, { where: `${at}[${index}]`, index, ids, leftOut }));
  return { skillName: typeof skillName === 'string' ? skillName : '', items, leftOut };
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

const unknownKey = (where: string, what: string): LeftOut => ({ where, what, why: 'nothing here does it' });

type Place = {
  readonly where: string;
  readonly index: number;
  readonly ids: Set<string>;
  /** What is added to it is named. */
  readonly leftOut: LeftOut[];
};

const KEYS = ['id', 'prompt', 'expected_output', 'expectations', 'assertions', 'files'];

function readEval(entry: unknown, place: Place): EvalItem[] {
  const { where, index, leftOut } = place;
  const drop = (what: string, why: string) => void leftOut.push({ where, what, why });
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
    leftOut.push(unknownKey(`${where}.${key}`, key));
  }
  return [
    {
      index,
      prompt,
      ...(id === undefined ? {} : { id }),
      ...(expectedOutput === undefined ? {} : { expectedOutput }),
      ...(criteria.length === 0 ? {} : { criteria }),
      ...(files.length === 0 ? {} : { files }),
    },
  ];
}

function readId({ id }: Fields, { where, ids, leftOut }: Place): string | undefined {
  if (id == null) return undefined;
  const text = typeof id === 'number' || (typeof id === 'string' && isFilled(id)) ? String(id) : undefined;
  if (text !== undefined && !ids.has(text)) {
    ids.add(text);
    return text;
  }
  const why = text === undefined ? 'an id is a number or a text' : 'another eval has it too';
  leftOut.push({ where: `${where}.id`, what: 'id', why });
  return undefined;
}

function readExpected({ expected_output: value }: Fields, { where, leftOut }: Place): string | undefined {
  if (value == null || (typeof value === 'string' && !isFilled(value))) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  leftOut.push({ where: `${where}.expected_output`, what: 'expected_output', why: 'it is no text' });
  return undefined;
}

/** Each statement once, under either name, in the order of the file. */
function readCriteria(entry: Fields, { where, leftOut }: Place): string[] {
  const found = new Set<string>();
  for (const key of Object.keys(entry).filter((name) => name === 'expectations' || name === 'assertions')) {
    const list = Array.isArray(entry[key]) ? entry[key] : [entry[key]];
    for (const [index, statement] of list.entries()) {
      const at = `${where}.${key}[${index}]`;
      const text = isObject(statement) ? statement.text : statement;
      if (typeof text !== 'string' || !isFilled(text)) leftOut.push({ where: at, what: 'a statement', why: 'no text' });
      else found.add(strip(text));
      const others = isObject(statement) && typeof text === 'string' ? Object.keys(statement) : [];
      leftOut.push(...others.filter((name) => name !== 'text').map((name) => unknownKey(`${at}.${name}`, name)));
    }
  }
  return [...found];
}

function readFiles({ files = [] }: Fields, { where, leftOut }: Place): string[] {
  const list = Array.isArray(files) ? files : [files];
  return list.flatMap((file, index) => {
    if (typeof file === 'string' && isBelow(file)) return [file];
    const why = typeof file === 'string' ? 'it does not lie below the folder of the skill' : 'a file is a path';
    leftOut.push({ where: `${where}.files[${index}]`, what: 'a file', why });
    return [];
  });
}

/** A path that stays where it begins, on every system. */
const isBelow = (path: string) =>
  isFilled(path) && !/^[/~]|\\|^[A-Za-z]:/.test(path) && !path.split('/').some((part) => part === '..');

export type Trigger = { readonly query: string; readonly shouldTrigger: boolean };

/** Whether a list says when a skill should be used, which is the business of its description. */
export const isTriggerSet = (root: unknown): root is readonly unknown[] =>
  Array.isArray(root) && root.some((entry) => isObject(entry) && 'should_trigger' in entry);

export function readTriggers(root: readonly unknown[]): { triggers: Trigger[]; leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const triggers = root.flatMap((entry, index) => {
    const { query, should_trigger: shouldTrigger, ...rest } = isObject(entry) ? entry : ({} as Fields);
    if (typeof query !== 'string' || !isFilled(query) || typeof shouldTrigger !== 'boolean') {
      leftOut.push({ where: `[${index}]`, what: 'a query', why: 'it needs a text and true or false' });
      return [];
    }
    leftOut.push(...Object.keys(rest).map((key) => unknownKey(`[${index}].${key}`, key)));
    return [{ query, shouldTrigger }];
  });
  return { triggers, leftOut };
}
