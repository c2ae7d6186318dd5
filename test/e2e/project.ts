import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createWorld, type WorldOptions } from 'skillopt/sim';
import { captureIo } from '../support/capture-io.ts';
import { packedCli } from '../support/compiled.ts';

/** The compiled package as a user would install it; `test/support/package.ts` makes it. */
const BIN = resolve('.cache/package/bin/skillopt.mjs');

type Variables = Readonly<Record<string, string>>;

type Finished = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A folder with nothing in it but what a test puts there, and a home that knows nobody. `await using` removes it. */
export async function createProject(files: Readonly<Record<string, string>> = {}, command = [process.execPath, BIN]) {
  const directory = await mkdtemp(join(tmpdir(), 'skillopt-e2e-'));
  const write = (name: string, text: string) => writeFile(join(directory, name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const start = (args: readonly string[], env: Variables = {}) => startCli([...command, ...args], directory, env);
  return {
    directory,
    write,
    start,
    path: (name: string) => join(directory, name),
    read: (name: string) => readFile(join(directory, name), 'utf8'),
    /** As a process of its own. */
    run: (args: readonly string[], env?: Variables) => start(args, env).finished,
    /** The same code in this process. */
    ask: (args: readonly string[], env?: Variables) => askCli(args, directory, env),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function askCli(args: readonly string[], cwd: string, env: Variables = {}) {
  const { PATH = '' } = process.env;
  const runCli = await packedCli();
  const io = captureIo({ cwd, env: { PATH, HOME: cwd, NO_COLOR: '1', ...env } });
  const code = await runCli(args, io);
  return { code, stdout: io.out(), stderr: io.err() };
}

/** Starts the command line as its own process. `finished` never rejects. */
function startCli([program, ...args]: readonly string[], cwd: string, env: Variables) {
  const { PATH = '' } = process.env;
  const child: ChildProcess = spawn(program!, args, {
    cwd,
    env: { PATH, HOME: cwd, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)];
  const finished = new Promise<Finished>((done) => {
    child.on('close', (code, signal) => done({ code, signal, stdout: stdout(), stderr: stderr() }));
  });
  /** Resolves once stderr matches, or the process is over. */
  const until = (pattern: RegExp) =>
    new Promise<void>((done) => {
      child.stderr!.on('data', () => pattern.test(stderr()) && done());
      child.on('close', () => done());
    });
  return { child, finished, until, stdout };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

/** The files of a project whose tasks come from the simulated world. */
export function worldFiles(config: object, world: WorldOptions = {}): Record<string, string> {
  const { items, initialSkill } = createWorld({ train: 24, val: 16, test: 12, ...world });
  const rows = Object.entries(items).flatMap(([split, list]) => list.map((item) => JSON.stringify({ ...item, split })));
  return {
    'tasks.jsonl': `${rows.join('\n')}\n`,
    'SKILL.md': initialSkill,
    'skillopt.config.json': JSON.stringify(
      { name: 'run', tasks: 'tasks.jsonl', skill: 'SKILL.md', ...config },
      null,
      2,
    ),
  };
}
