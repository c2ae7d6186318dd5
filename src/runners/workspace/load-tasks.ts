import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { SkillError } from '../../core/contracts/index.ts';
import { WORKSPACE_TASK_HINT, WorkspaceTask } from '../../core/judge/index.ts';
import {
  importWorkFile,
  importWorkFolder,
  type LeftOut,
  loadItems,
  parseRows,
  type Row,
  requireOwnRows,
  takeSplits,
  unreadable,
} from '../../imports/index.ts';

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
  const rows = imported?.rows ?? (isFolder ? await readFolders(path) : await readRows(path));
  const leftOut = imported?.leftOut ?? [];
  return { rows: parseRows(rows, { schema: WorkspaceTask, hint: WORKSPACE_TASK_HINT }), folder, leftOut };
}

async function readRows(path: string): Promise<Row[]> {
  const rows = takeSplits(await loadItems(path));
  requireOwnRows(rows, path);
  return rows;
}

const TASK_FILES = ['task.yaml', 'task.yml', 'task.json'];

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
  const file = TASK_FILES.map((one) => join(root, name, one)).find(existsSync);
  if (file === undefined) return undefined;
  const { split, ...fields } = (parseYaml(await readFile(file, 'utf8')) ?? {}) as Record<string, unknown>;
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
