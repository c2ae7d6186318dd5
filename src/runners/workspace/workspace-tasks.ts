import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { WORKSPACE_TASK_HINT, WorkspaceTask } from '../../core/judge/index.ts';
import { askedKey, memoize } from '../../core/text/index.ts';
import {
  importWorkFile,
  importWorkFolder,
  type LeftOut,
  loadItems,
  parseRows,
  type Row,
  readText,
  requireOwnRows,
  takeSplits,
  unreadable,
  withTwins,
} from '../../imports/index.ts';
import { manifestHash, openTemplate, type Template } from '../../workspaces/index.ts';
import { type Contents, commandWords } from './verify-workspace.ts';

export type WorkspaceTasks = {
  readonly rows: readonly Row<WorkspaceTask>[];
  /** Where the folders lie that tasks name. */
  readonly folder: string;
  /** What is in them and not among the tasks, and why. */
  readonly leftOut: readonly LeftOut[];
};

/** Tasks of a file, a row each; or of a folder, a folder each. Files and folders of other tools are known by what is in them. */
export async function loadWorkspaceTasks(path: string): Promise<WorkspaceTasks> {
  const there = await stat(path).catch((error) => Promise.reject(unreadable(path, error)));
  const isFolder = there.isDirectory();
  const folder = resolve(isFolder ? path : dirname(path));
  const imported = await (isFolder ? importWorkFolder(path) : importWorkFile(path));
  const leftOut: LeftOut[] = [...(imported?.leftOut ?? [])];
  const rows = imported?.rows ?? (isFolder ? await readFolders(path) : await readRows(path, leftOut));
  const parsed = parseRows(rows, { schema: WorkspaceTask, hint: WORKSPACE_TASK_HINT });
  return { rows: withTwins(parsed, startOf), folder, leftOut };
}

/** What a task starts from. The same prompt about other files is another task. */
const startOf = ({ prompt, files, binaries, from, at, setup }: WorkspaceTask) =>
  JSON.stringify([askedKey(prompt), files, binaries, from, at, setup]);

async function readRows(path: string, told: LeftOut[]): Promise<Row[]> {
  const rows = takeSplits(await loadItems(path, told));
  requireOwnRows(rows, path);
  return rows;
}

/** `NAME/task.yaml`, with what the workspace has in `NAME/files` and what the verifier brings in `NAME/tests`. */
async function readFolders(root: string): Promise<Row[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const rows = await Promise.all(names.sort().map((name) => readTaskFolder(root, name)));
  const found = rows.filter((row) => row !== undefined);
  if (found.length > 0) return found;
  throw new SkillError('TASKS_INVALID', `no folder in ${root} has a task.yaml`, {
    hint: 'A task is a folder with task.yaml (prompt, verify), files/ (the workspace) and tests/ (for the verifier).',
  });
}

async function readTaskFolder(root: string, name: string): Promise<Row | undefined> {
  const files = ['task.yaml', 'task.yml', 'task.json'].map((one) => join(root, name, one));
  const file = files.find(existsSync);
  if (file === undefined) return undefined;
  const { split, ...fields } = (parseYaml(await readText(file)) ?? {}) as Record<string, unknown>;
  const has = (folder: string) => existsSync(join(root, name, folder));
  const value = {
    id: name,
    ...(has('files') ? { from: `${name}/files` } : {}),
    ...fields,
    ...(has('tests') && fields.verify !== undefined ? { verify: withTests(fields.verify, `${name}/tests`) } : {}),
  };
  return { where: file, value, ...(split === undefined ? {} : { split: String(split) }) };
}

const withTests = (verify: unknown, from: string) =>
  typeof verify === 'object' && verify !== null && !Array.isArray(verify)
    ? { from, ...verify }
    : { command: verify, from };

export type TaskTemplates = ReturnType<typeof taskTemplates>;

type TaskFolder = { readonly folder: string; readonly sandbox: Sandbox };

/** The templates of tasks, each made once, and the files of their verifiers. */
export function taskTemplates({ folder, sandbox }: TaskFolder) {
  const templates = new Map<string, Promise<Template>>();
  const tests = new Map<string, Promise<Contents>>();
  const remembered = <T>(known: Map<string, Promise<T>>, id: string, make: () => Promise<T>) => {
    const value = known.get(id) ?? make();
    known.set(id, value);
    return value;
  };
  return {
    known: knownTasks(folder),
    of: (task: WorkspaceTask) => remembered(templates, task.id, () => makeTemplate(task, { folder, sandbox })),
    testsOf: ({ id, verify }: WorkspaceTask) =>
      remembered(tests, id, async () => ({
        ...(verify?.from === undefined ? {} : await contentsOf(below(folder, verify.from))),
        ...verify?.files,
        ...bytesOf(verify?.binaries),
      })),
  };
}

/** A task with a hash of the folders that it names: when their content changes, it is another task. */
export type KnownTask = WorkspaceTask & { readonly contents?: string };

/** Reads what is in the folders that tasks name, each once. Throws `TASKS_INVALID` if one does not exist. */
export function knownTasks(folder: string): (task: WorkspaceTask) => Promise<KnownTask> {
  const contentOf = memoize((key: string) => {
    const [path, keepHistory] = JSON.parse(key) as [string, boolean];
    return hashOf(below(folder, path), path, keepHistory);
  });
  return async (task) => {
    const named = [
      ...(task.from === undefined ? [] : [[task.from, task.keepHistory]]),
      ...(task.verify?.from === undefined ? [] : [[task.verify.from, true]]),
    ];
    const contents = await Promise.all(named.map((one) => contentOf(JSON.stringify(one))));
    return contents.length === 0 ? task : { ...task, contents: contents.join(' ') };
  };
}

async function hashOf(full: string, path: string, keepHistory: boolean): Promise<string> {
  const there = await stat(full).catch(() => undefined);
  if (there?.isDirectory()) return (await manifestHash(full, { keepHistory })).slice(0, 16);
  throw new SkillError('TASKS_INVALID', `a task names the folder ${path}, and ${full} is none`, {
    hint: 'Make it, or correct from: it is read from the folder of the task file.',
  });
}

const SETUP_MS = 1_800_000;

function makeTemplate({ from, files, binaries, setup, keepHistory }: WorkspaceTask, { folder, sandbox }: TaskFolder) {
  return openTemplate({
    source: from === undefined ? undefined : below(folder, from),
    files,
    binaries: binaries && bytesOf(binaries),
    setup: setup === undefined ? undefined : { command: commandWords(setup), timeoutMs: SETUP_MS },
    keepHistory,
    sandbox,
  });
}

/** A task file may name what lies beside it, and nothing else of the machine. */
function below(folder: string, path: string): string {
  const full = resolve(folder, path);
  const inside = relative(resolve(folder), full);
  if (inside !== '..' && !inside.startsWith(`..${sep}`)) return full;
  throw new SkillError('TASKS_INVALID', `${path} lies outside of the folder of the tasks`, {
    hint: `Move it below ${folder}, and name it from there.`,
  });
}

const bytesOf = (binaries: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(binaries).map(([path, text]) => [path, new Uint8Array(Buffer.from(text, 'base64'))]),
  );

async function contentsOf(folder: string): Promise<Contents> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = files.map(async (file) => [relative(folder, file).split(sep).join('/'), await readFile(file)]);
  return Object.fromEntries(await Promise.all(contents));
}
