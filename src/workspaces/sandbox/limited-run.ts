import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxRequest, type SandboxResult, SkillError } from '../../core/contracts/index.ts';
import { layFiles, requirePlainPath } from '../folders/folder-files.ts';
import { openRolloutFolder, type RolloutFolder } from '../folders/rollout-folder.ts';
import { openGroups } from '../limits/groups.ts';
import { diskMbOf, mostThreads, watchLimits } from '../limits/watch-limits.ts';
import { type Launch, quoted } from './launcher.ts';
import { type CommandOptions, runCommand } from './run-command.ts';

/** How one kind of sandbox runs a command. */
export type SandboxKind = {
  readonly root?: string | undefined;
  /** Where the command sees the tools' log. */
  readonly logInside?: string;
  /** Whether it keeps limits of processes and memory by itself. */
  readonly keepsLimits?: boolean;
  /** Turns a request into the program that is really started. */
  readonly prepare: (
    folder: WorkFolder,
    launch: Launch,
  ) => Pick<CommandOptions, 'command' | 'env' | 'treeOf' | 'hasFourthStream'> & {
    /** The exit code of the command. Throws if the program that should start it ended without having done so. */
    readonly exitCodeOf: (ended: OwnEnd) => number;
  };
};

/** How a program ended by itself, and what it wrote to its fourth stream, `told`. */
export type OwnEnd = { readonly exitCode: number; readonly stderr: string; readonly told: string };

/** What every sandbox does around a command: makes its folder and tools, keeps its limits, and removes all of that. */
export async function runLimited(request: SandboxRequest, kind: SandboxKind): Promise<SandboxResult> {
  const { tools = [], workspace } = request;
  const limits = kind.keepsLimits ? { diskMb: request.limits?.diskMb } : (request.limits ?? {});
  await using folder = await openWorkFolder(request, kind.root);
  if (tools.length > 0) await writeToolShims(tools, folder.shims, kind.logInside ?? folder.shims.log);
  const writable = writableOf(request, folder);
  const groups = openGroups(limits, folder.id, (paths) => {
    for (const group of paths) folder.note({ group });
  });
  try {
    const diskMbBefore = limits.diskMb === undefined ? 0 : await diskMbOf(writable);
    const watched = { limits, groups, writable, diskMbBefore };
    const userThreads = groups.kept.includes('processes') ? undefined : mostThreads(limits);
    const launch = { groups: groups.folders, diskMb: limits.diskMb, userThreads, workspace };
    const { exitCodeOf, ...prepared } = kind.prepare(folder, launch);
    const { told, ...ended } = await runCommand({
      ...request,
      ...prepared,
      cwd: workspace?.overlay ? folder.path : folder.work,
      ...(Object.values(limits).every((limit) => limit === undefined)
        ? {}
        : { watch: (tree, exceeded) => watchLimits(watched, tree, exceeded) }),
    });
    const { exitCode, stderr } = ended;
    return {
      ...ended,
      exitCode: exitCode === undefined ? undefined : exitCodeOf({ exitCode, stderr, told }),
      toolsCalled: await readToolCalls(tools, folder.shims),
    };
  } finally {
    await groups.remove();
  }
}

function writableOf(
  { workspace, mounts = [] }: SandboxRequest,
  { work, home, temporary, memory }: WorkFolder,
): string[] {
  const shared = mounts.filter(({ isWritable }) => isWritable).map(({ from }) => from);
  return [workspace?.overlay?.upper ?? work, home, temporary, memory, ...shared];
}

/** What a command gets on disk: the folder that it works in, its tools, an empty home, and folders for temporary files. */
export type WorkFolder = RolloutFolder & {
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  readonly memory: string;
  readonly shims: ToolShims;
};

/** Checks everything before it writes anything. */
async function openWorkFolder(request: SandboxRequest, root?: string): Promise<WorkFolder> {
  const { cwd, workspace, files = {}, tools = [] } = request;
  requireToolNames(tools);
  for (const path of Object.keys(files)) requirePlainPath(path);
  const rollout = await openRolloutFolder(root);
  const below = (name: string) => join(rollout.path, name);
  await Promise.all(['work', 'home', 'tools', 'log', 'tmp', 'shm'].map((name) => mkdir(below(name))));
  await Promise.all(['tmp', 'shm'].map((name) => chmod(below(name), 0o1777)));
  const work = workspace?.path ?? cwd ?? below('work');
  const { upper, lower } = workspace?.overlay ?? {};
  await layFiles({ folder: upper ?? work, lower }, files);
  return {
    ...rollout,
    work,
    home: below('home'),
    temporary: below('tmp'),
    memory: below('shm'),
    shims: { folder: below('tools'), log: join(below('log'), 'called') },
  };
}

/** A plain file name in our own folder: no shell and no path reads it differently. */
const TOOL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

function requireToolNames(names: readonly string[]): void {
  const bad = names.find((name) => !TOOL_NAME.test(name));
  if (bad === undefined) return;
  const expected = 'letters, digits, "_", "." and "-", at most 64, with neither "." nor "-" at the beginning';
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(bad)} cannot be the name of a tool: expected ${expected}`, {
    hint: 'Name the tool as it is called, without its path and arguments.',
  });
}

type ToolShims = {
  /** Is put on the PATH. */
  readonly folder: string;
  readonly log: string;
};

/** Programs of these names that log their calls and succeed. `logInside` is where the command sees the log. */
async function writeToolShims(names: readonly string[], { folder, log }: ToolShims, logInside: string): Promise<void> {
  await writeFile(log, '');
  for (const name of new Set(names)) {
    const script = `#!/bin/sh\nprintf '%s\\n' '${name}' >> ${quoted(logInside)}\n`;
    await writeFile(join(folder, name), script, { mode: 0o755 });
  }
}

/** The calls in order. A line that is none of the names was not written by a shim. */
async function readToolCalls(names: readonly string[], { log }: ToolShims): Promise<string[]> {
  if (names.length === 0) return [];
  const lines = (await readFile(log, 'utf8').catch(() => '')).split('\n');
  return lines.filter((line) => names.includes(line));
}
