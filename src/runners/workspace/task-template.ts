import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { type Sandbox, SkillError } from '../../core/contracts/index.ts';
import type { WorkspaceTask } from '../../core/judge/index.ts';
import { memoize } from '../../core/text/index.ts';
import { manifestHash, openTemplate, type Template } from '../../workspaces/index.ts';
import { type Contents, commandWords } from './site.ts';

export type TaskTemplates = ReturnType<typeof taskTemplates>;

type Options = { readonly folder: string; readonly sandbox: Sandbox };

/** A task with a word for what is in the folders that it names: where that changes, it is another task. */
export type KnownTask = WorkspaceTask & { readonly contents?: string };

/** What tasks begin with, made once each, and what their verifiers bring along. */
export function taskTemplates({ folder, sandbox }: Options) {
  const made = new Map<string, Promise<Template>>();
  const tests = new Map<string, Promise<Contents>>();
  const remembered = <T>(known: Map<string, Promise<T>>, id: string, make: () => Promise<T>) => {
    const value = known.get(id) ?? make();
    known.set(id, value);
    return value;
  };
  return {
    known: knownTasks(folder),
    of: (task: WorkspaceTask) => remembered(made, task.id, () => makeTemplate(task, { folder, sandbox })),
    testsOf: ({ id, verify }: WorkspaceTask) =>
      remembered(tests, id, async () => ({
        ...(verify?.from === undefined ? {} : await filesIn(below(folder, verify.from))),
        ...verify?.files,
        ...bytesOf(verify?.binaries),
      })),
  };
}

/** Reads what is in the folders that tasks name, each once. Throws `TASKS_INVALID` for one that is not there. */
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

function makeTemplate({ from, files, binaries, setup, keepHistory }: WorkspaceTask, { folder, sandbox }: Options) {
  return openTemplate({
    ...(from === undefined ? {} : { source: below(folder, from) }),
    ...(files === undefined ? {} : { files }),
    ...(binaries === undefined ? {} : { binaries: bytesOf(binaries) }),
    ...(setup === undefined ? {} : { setup: { command: commandWords(setup), timeoutMs: SETUP_MS } }),
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

async function filesIn(folder: string): Promise<Contents> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = files.map(async (file) => [relative(folder, file).split(sep).join('/'), await readFile(file)]);
  return Object.fromEntries(await Promise.all(contents));
}
