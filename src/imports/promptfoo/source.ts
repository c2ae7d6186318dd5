import { dirname } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse } from 'yaml';
import { whyTooMuch } from '../../core/contracts/index.ts';
import { isObject, textOf } from '../../core/text/index.ts';
import { type LeftOut, NotCarried, readBelow, reasonOf } from '../left-out.ts';
import { requireShallow } from '../readers.ts';
import { type Assertion, isKnownType } from './assertion.ts';

export type Fields = Readonly<Record<string, unknown>>;
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|go|sh)(?::[\w.$]+)?$/i;

/** A config with the files that it refers to. They are read, below its folder, and never run. */
export class Source {
  readonly path: string;
  readonly folder: string;
  readonly #leftOut = new Map<string, LeftOut>();

  constructor(path: string) {
    this.path = path;
    this.folder = dirname(path);
  }

  /** Each thing once, however many tests come of the place where it stands. */
  leaveOut(leftOut: LeftOut): void {
    const { where, what, check = '' } = leftOut;
    const key = JSON.stringify([where, what, check]);
    if (!this.#leftOut.has(key)) this.#leftOut.set(key, leftOut);
  }

  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut.values()];
  }

  async #read(path: string): Promise<string> {
    const told: LeftOut[] = [];
    const text = await readBelow(this.folder, path, { told });
    for (const one of told) this.leaveOut(one);
    return text;
  }

  /** What a `file://` reference stands for: text, or what a file of data holds. Any other value is itself. */
  async resolve(value: unknown, made = 'the value is made by code'): Promise<unknown> {
    if (typeof value !== 'string' || !value.startsWith('file://')) return value;
    const path = value.slice('file://'.length);
    if (CODE.test(path)) throw new NotCarried(made);
    if (/[*?]/.test(path)) throw new NotCarried('a pattern of file names is not carried');
    const text = await this.#read(path);
    return /\.(?:ya?ml|json)$/i.test(path) ? parseData(text, path) : text;
  }

  /** Tests that a reference stands for, or a test itself, each with its place. */
  async tests(value: unknown, where: string): Promise<readonly { readonly test: Fields; readonly where: string }[]> {
    if (Array.isArray(value)) {
      const lists = await Promise.all(value.map((entry, index) => this.tests(entry, `${where}[${index}]`)));
      return lists.flat();
    }
    try {
      if (typeof value === 'string') return await this.#testsInFile(value);
      if (isObject(value) && !('path' in value)) return [{ test: value, where }];
      throw new NotCarried(isObject(value) ? 'tests that are made by code' : 'a test is an object');
    } catch (error) {
      this.leaveOut({ where, what: textOf(isObject(value) ? value.path : value), why: reasonOf(error) });
      return [];
    }
  }

  async #testsInFile(reference: string): Promise<readonly { readonly test: Fields; readonly where: string }[]> {
    const path = reference.replace(/^file:\/\//, '');
    if (/^[a-z]+:\/\//i.test(path)) throw new NotCarried('tests that are fetched from elsewhere');
    if (CODE.test(path)) throw new NotCarried('tests that are made by code');
    if (/[*?]/.test(path)) throw new NotCarried('a pattern of file names is not carried');
    const text = await this.#read(path);
    if (/\.csv$/i.test(path)) return testsInTable(text).map((test, index) => ({ test, where: `${path}[${index}]` }));
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const data = /\.jsonl$/i.test(path) ? lines.map((line) => parseData(line, path)) : parseData(text, path);
    return this.tests(Array.isArray(data) ? data : [data], path);
  }
}

/** YAML, of which JSON is a part. */
export function parseData(text: string, path: string): unknown {
  try {
    requireShallow(text, path);
    const value: unknown = parse(text, { merge: true, logLevel: 'error' });
    if (whyTooMuch(value) === undefined) return value;
  } catch (error) {
    throw new NotCarried(`${path} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
  throw new NotCarried(`${path} is nested too deeply, or too large`);
}

type Cells = Readonly<Record<string, string>>;

const SHORT_NAMES: Readonly<Record<string, string>> = { grade: 'llm-rubric', fn: 'javascript', eval: 'javascript' };

/** The tests in a table: columns are variables, those with two strokes are checks and what else a test has. */
function testsInTable(text: string): Record<string, unknown>[] {
  // Spaces count: a suffix begins with one.
  const rows = parseCsv(text, { columns: true, bom: true, skipEmptyLines: true, relaxColumnCount: true }) as Cells[];
  return rows.map((cells) => {
    const own = Object.entries(cells).filter(([name]) => !name.startsWith('__'));
    const expected = Object.entries(cells).filter(([name, cell]) => /^__expected\d*$/.test(name) && cell.trim() !== '');
    const { __description: description, __threshold: threshold, __prefix: prefix, __suffix: suffix } = cells;
    return {
      vars: Object.fromEntries(own),
      assert: expected.map(([, cell]) => toAssertion(cell)),
      options: { ...(prefix ? { prefix } : {}), ...(suffix ? { suffix } : {}) },
      ...(description ? { description } : {}),
      ...(threshold ? { threshold: Number(threshold) } : {}),
    };
  });
}

/** `type:value`, `type(threshold):value` or a type that needs no value; any other text is what the answer must be. */
function toAssertion(cell: string): Assertion {
  const [, written, bar, value] = /^\s*([\w:-]+?)\s*(?:\((-?[\d.]+)\))?\s*(?::([\s\S]*))?$/.exec(cell) ?? [];
  const name = (written ?? '').replace(/^not-/, '');
  const type = Object.hasOwn(SHORT_NAMES, name) ? SHORT_NAMES[name]! : name;
  if (!isKnownType(type)) return { type: 'equals', value: cell };
  return {
    type: written!.startsWith('not-') ? `not-${type}` : type,
    ...(value === undefined || value.trim() === '' ? {} : { value: value.trim() }),
    ...(bar === undefined ? {} : { threshold: Number(bar) }),
  };
}
