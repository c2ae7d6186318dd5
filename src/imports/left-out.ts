import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { WorkspaceTaskInput } from '../core/judge/index.ts';
import { textOf } from '../core/text/index.ts';
import { decodeText } from './decode.ts';
import type { Row } from './rows.ts';

/** Why something in a file of another tool cannot be carried. */
export class NotCarried extends Error {
  override readonly name = 'NotCarried';
}

/** The reason in an error of ours. Any other is thrown on. */
export function reasonOf(error: unknown): string {
  if (error instanceof NotCarried) return error.message;
  throw error;
}

/** What is made, or `NotCarried` with the reason why it cannot be. */
export function orNotCarried<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw new NotCarried((error as Error).message);
  }
}

/** Something in a file that is not carried, or not as it stands there. */
export type LeftOut = {
  /** `task`: a whole task. `check`: its task is weaker for it. `read`: nothing is missing, but people should know how it was read. */
  readonly kind?: 'task' | 'check' | 'read';
  /** Where it stands: a line, or a path in the file such as `tests[2].assert[0]`. */
  readonly where: string;
  readonly what: string;
  readonly why: string;
  /** Of a promptfoo config: the test by its description, and the number of the check among all that hold for it. */
  readonly test?: string;
  readonly check?: string;
  /** Of a copy: the split that it stood in, if the task itself is in another one. */
  readonly leaksInto?: string;
};

/** Larger ones are not written by hand, and a task is a text for a model. */
const MAX_BYTES = 10_000_000;

type Reading = { readonly maxBytes?: number; readonly told?: LeftOut[] };

/** The text of a file below a folder. Says which encoding it has. Throws `NotCarried` for an unknown one and for what is no text. */
export async function readBelow(folder: string, path: string, { maxBytes, told = [] }: Reading = {}) {
  const read = decodeText(await bytesBelow(folder, path, maxBytes));
  if ('problem' in read) throw new NotCarried(`${path} is no text: ${read.problem}`);
  told.push(...encodingOf(read.encoding, path));
  return read.text;
}

/** Which encoding was taken, where nobody would expect it. */
export const encodingOf = (encoding: string | undefined, path: string): LeftOut[] =>
  encoding === undefined ? [] : [{ kind: 'read', where: path, what: encoding, why: 'it is no UTF-8' }];

/** What is in a file below a folder, symbolic links followed. Throws `NotCarried` for any other. */
async function bytesBelow(folder: string, path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  const root = await realpath(folder);
  const file = await realpath(resolve(root, path)).catch(() => {
    throw new NotCarried(`${path} does not exist`);
  });
  const inner = relative(root, file);
  if (inner === '' || inner === '..' || inner.startsWith(`..${sep}`) || resolve(inner) === inner) {
    throw new NotCarried(`${path} lies outside the folder`);
  }
  const found = await stat(file);
  if (!found.isFile()) throw new NotCarried(`${path} is no file`);
  if (found.size > maxBytes) throw new NotCarried(`${path} has ${found.size} bytes, and at most ${maxBytes} are read`);
  return readFile(file);
}

/** Bytes as text, all of them, if they are one. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Files of a task: texts, and in base64 what is none. */
export type FileContents = { readonly files?: Record<string, string>; readonly binaries?: Record<string, string> };

/** A file by the path that it gets, and where it is read from. */
export type SourceFile = { readonly path: string; readonly source: string };

export const asTheyLie = (paths: readonly string[]): SourceFile[] => paths.map((path) => ({ path, source: path }));

/** All files of a task together: they are part of the task, and are kept in memory. */
const MOST_BYTES = 20_000_000;

/** What files below a folder hold. Throws `NotCarried` for one that lies elsewhere, is none, or is too much. */
export async function readContents(folder: string, sources: readonly SourceFile[]): Promise<FileContents> {
  const files: Record<string, string> = {};
  const binaries: Record<string, string> = {};
  let room = MOST_BYTES;
  for (const { path, source } of sources) {
    const bytes = await bytesBelow(folder, source, room);
    room -= bytes.length;
    const text = textIn(bytes);
    if (text === undefined) binaries[path] = bytes.toString('base64');
    else files[path] = text;
  }
  return { ...(isEmpty(files) ? {} : { files }), ...(isEmpty(binaries) ? {} : { binaries }) };
}

const isEmpty = (record: object) => Object.keys(record).length === 0;

/** The paths of all files in a folder, from there, in order. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw new NotCarried(`there is no folder ${folder}`);
  });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')).sort();
}

/** What another tool's files became. */
export type Imported<Value = unknown, Format = 'evals' | 'promptfoo'> = {
  /** Whose files they are. */
  readonly format: Format;
  readonly rows: readonly Row<Value>[];
  readonly leftOut: readonly LeftOut[];
};

/** Tasks for agents. */
export type ImportedWork = Imported<WorkspaceTaskInput, 'evals' | 'promptfoo' | 'harbor' | 'dotnet'>;

/** A file as it was read. */
export type ForeignFile = { readonly text: string; readonly path: string; readonly told: readonly LeftOut[] };

/** Names that are used twice get a number, in the order of the file. */
export function withOwnIds(rows: readonly Row<WorkspaceTaskInput>[]): Row<WorkspaceTaskInput>[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const id = textOf(row.value.id);
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? row : { ...row, value: { ...row.value, id: `${id} (${count})` } };
  });
}

export const unused = (where: string, what: string): LeftOut => ({ where, what, why: 'nothing here does it' });
