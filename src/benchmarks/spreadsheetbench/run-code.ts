import { constants } from 'node:fs';
import { copyFile, mkdir, open, realpath, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import {
  type Mount,
  type ResourceLimits,
  type Sandbox,
  type SandboxRequest,
  type SandboxResult,
  SkillError,
} from '../../core/contracts/index.ts';
import { plural, strip } from '../../core/text/index.ts';
import { openRolloutFolder } from '../../workspaces/index.ts';
import { type Language, withoutPaths } from './code.ts';
import { notInstalled } from './workbook.ts';

/** What code of a model may use up. */
const LIMITS: ResourceLimits = { processes: 128, memoryMb: 4096, diskMb: 256 };
const MOST_OUTPUT_BYTES = 50_000_000;
const LOGGED_BYTES = 200_000;
const SETUP_MS = 120_000;

export type RunnerOptions = {
  readonly sandbox: Sandbox;
  readonly language: Language;
  /** The program that runs Python code: a name, or a path. */
  readonly python: string;
  readonly timeoutMs: number;
};

/** What the code has written, or why there is nothing. */
export type CodeRun = { readonly output: Uint8Array } | { readonly problem: string };

/** Runs code of models, each time in a folder of its own, apart from the machine. */
export type CodeRunner = {
  /** Throws if code cannot run here. */
  ready(): Promise<void>;
  /** Throws if the sandbox fails. What the code does is data. */
  run(code: string, input: { readonly path: string; readonly signal?: AbortSignal }): Promise<CodeRun>;
};

const [INPUT, OUTPUT] = ['input.xlsx', 'output.xlsx'];

/** Starts the code with the two paths. Absolute ones: the code may change its folder. */
const STARTERS: Readonly<
  Record<Language, { readonly name: string; readonly code: string; readonly solution: string }>
> = {
  python: {
    name: 'start.py',
    solution: 'solution.py',
    code: `import os
paths = {"INPUT_PATH": os.path.abspath("${INPUT}"), "OUTPUT_PATH": os.path.abspath("${OUTPUT}")}
with open("solution.py", encoding="utf-8") as file:
    code = file.read()
exec(compile(code, "solution.py", "exec"), {"__name__": "__main__", **paths})
`,
  },
  javascript: {
    name: 'start.mjs',
    solution: 'solution.mjs',
    code: `import * as fs from 'node:fs';
import { resolve } from 'node:path';
import { set_fs } from 'xlsx';
set_fs(fs);
Object.assign(globalThis, { INPUT_PATH: resolve('${INPUT}'), OUTPUT_PATH: resolve('${OUTPUT}') });
await import('./solution.mjs');
`,
  },
};

const PROBES: Readonly<Record<Language, string>> = { python: 'import openpyxl', javascript: "import 'xlsx';" };

export function codeRunner(options: RunnerOptions): CodeRunner {
  const { sandbox, language, timeoutMs } = options;
  const { name, code: starter, solution } = STARTERS[language];
  const start = async (folder: string, code: string, request: Partial<SandboxRequest>) => {
    const { command, mounts } = await interpreter(options, folder);
    const files = { [name]: starter, [solution]: code };
    return sandbox.run({
      ...{ command: [...command, name], mounts, files, cwd: folder, limits: LIMITS, timeoutMs },
      ...{ env: ENVIRONMENT, maxOutputBytes: LOGGED_BYTES },
      ...request,
    });
  };
  return {
    async ready() {
      await sandbox.ready();
      await using folder = await openRolloutFolder();
      const tried = await start(folder.path, PROBES[language], { timeoutMs: SETUP_MS }).catch(notStarted);
      if (tried.exitCode !== 0) throw unusable(options, tried);
    },
    async run(code, { path, signal }) {
      await using folder = await openRolloutFolder();
      await copyFile(path, join(folder.path, INPUT));
      const result = await start(folder.path, withoutPaths(code, language), { signal });
      const problem = problemOf(result, { ...options, folder: folder.path });
      return problem === undefined ? await readOutput(join(folder.path, OUTPUT)) : { problem };
    },
  };
}

/** The order of Python's sets is a part of what code computes. */
const ENVIRONMENT = { PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' };

async function interpreter({ sandbox, language, python }: RunnerOptions, folder: string) {
  if (language === 'python') return { command: [python], mounts: await pythonMounts(python, sandbox) };
  const sheetJs = await sheetJsFolder();
  if (sandbox.hasOwnNames) {
    const mounts = [
      { from: process.execPath, to: NODE },
      { from: sheetJs, to: '/node_modules/xlsx' },
    ];
    return { command: [NODE], mounts };
  }
  await mkdir(join(folder, 'node_modules'));
  await symlink(sheetJs, join(folder, 'node_modules/xlsx'));
  return { command: [process.execPath], mounts: [] };
}

const NODE = '/node/bin/node';

const sheetJsFolder = async (): Promise<string> => {
  try {
    return dirname(await realpath(createRequire(import.meta.url).resolve('@e965/xlsx')));
  } catch (cause) {
    return notInstalled(cause);
  }
};

/** What sandboxes show anyway. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/opt', '/nix'];

/** The folder of a virtual environment, and that of the Python that it stands for. Never one that contains the user's home. */
async function pythonMounts(python: string, { hasOwnNames }: Sandbox): Promise<Mount[]> {
  if (!hasOwnNames || !isAbsolute(python)) return [];
  const real = await realpath(python).catch(() => python);
  const folders = new Set([python, real].map((path) => dirname(dirname(path))));
  const isApart = (folder: string) =>
    !`${homedir()}${sep}`.startsWith(folder === sep ? sep : `${folder}${sep}`) &&
    !SYSTEM.some((one) => folder === one || folder.startsWith(`${one}/`));
  return [...folders].filter(isApart).map((folder) => ({ from: folder, to: folder }));
}

type WhatRan = { readonly folder: string; readonly timeoutMs: number };

function problemOf(result: SandboxResult, { folder, timeoutMs }: WhatRan): string | undefined {
  const { exitCode, signal, timedOut, exceeded } = result;
  if (timedOut) return `it was stopped after ${plural(timeoutMs / 1000, 'second')}`;
  if (exceeded !== undefined) return `it was stopped: it used too much (${WORDS[exceeded]})`;
  if (exitCode === 0) return undefined;
  const printed = strip([result.stdout, result.stderr].filter(Boolean).join('\n')).replaceAll(folder, '.');
  const end = exitCode === undefined ? `it was ended by ${signal}` : `it ended with exit code ${exitCode}`;
  return printed === '' ? end : `${end}\n${printed}`;
}

const WORDS: Readonly<Record<keyof ResourceLimits, string>> = {
  processes: `more than ${LIMITS.processes} processes`,
  memoryMb: `more than ${LIMITS.memoryMb} MB of memory`,
  diskMb: `more than ${LIMITS.diskMb} MB on disk`,
};

/** A link could lead to any file of this machine, and a pipe would never end. */
async function readOutput(path: string): Promise<CodeRun> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== undefined && AT_PATH.has(error.code)) return error.code;
    throw error;
  });
  if (file === 'ENOENT') return { problem: 'it ended without an error, and there is no file at OUTPUT_PATH' };
  if (typeof file === 'string') return { problem: NO_FILE };
  try {
    const about = await file.stat();
    if (!about.isFile()) return { problem: NO_FILE };
    if (about.size > MOST_OUTPUT_BYTES) return { problem: `the file at OUTPUT_PATH has ${about.size} bytes` };
    return { output: await file.readFile() };
  } finally {
    await file.close();
  }
}

/** The errors of opening a link, a pipe, a folder, a file without rights, or one that is not there. */
const AT_PATH = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO', 'EACCES', 'EISDIR']);

const NO_FILE = 'what is at OUTPUT_PATH is no plain file';

/** Without a sandbox, a missing program is an error that is thrown, and not a result. */
const notStarted = (error: unknown): Pick<SandboxResult, 'exitCode' | 'stderr'> => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return { exitCode: 127, stderr: 'there is no such program' };
};

function unusable(
  { language, python, sandbox }: RunnerOptions,
  { stderr }: Pick<SandboxResult, 'exitCode' | 'stderr'>,
): SkillError {
  const last = strip(stderr).split('\n').at(-1) ?? '';
  const where = sandbox.id === 'none' ? 'here' : `in the sandbox (${sandbox.id})`;
  if (language === 'javascript')
    return new SkillError('ENV_INVALID', `spreadsheetbench cannot run Node ${where}: ${last}`, {
      hint: 'Choose another sandbox, or Python: extras: { language: python }.',
    });
  return new SkillError('ENV_INVALID', `spreadsheetbench needs openpyxl in ${python} ${where}: ${last}`, {
    hint: 'Install it, such as by apt-get install python3-openpyxl, or name the Python of a virtual environment that has it: extras: { python: /path/to/venv/bin/python }. Without Python, and not comparable with published scores: extras: { language: javascript }.',
  });
}
