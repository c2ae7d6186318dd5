import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../capture-io.ts';

const FOLDER = 'test/fixtures/json-outputs';

/** A line of a recording. */
type Recorded = {
  /** What is special about it. */
  readonly label: string;
  readonly command: string;
  readonly exit: number;
  readonly answer: unknown;
};

export type Place = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets what the command will write to, and can interrupt it. */
  readonly onIo?: (io: ReturnType<typeof captureIo>) => void;
};

/** Every command that is recorded. */
export const recordedCommands = (): string[] =>
  readdirSync(FOLDER).flatMap((name) => readLines(join(FOLDER, name)).map(({ command }) => command));

/** What commands answer with `--json`, compared with what was recorded. `RECORD=1` records again. */
export function openRecording(name: string) {
  const file = join(FOLDER, `${name}.jsonl`);
  const answers: Recorded[] = [];
  /** Runs a command, and keeps its exit code and its answer. */
  async function keep(label: string, typed: string | readonly string[], { cwd, env: own, onIo }: Place) {
    const env = { HOME: cwd, SKILLOPT_HOME: join(cwd, '.state'), PATH: '', ...own };
    const io = captureIo({ cwd, env });
    onIo?.(io);
    const argv = typeof typed === 'string' ? typed.split(' ') : typed;
    const exit = await runCli([...argv, '--json'], io);
    // One object, but for `watch`.
    const all = io
      .out()
      .trimEnd()
      .split(/\n(?=\{)/)
      .map(parsed);
    const answer = all.length === 1 ? all[0] : all;
    const folders = foldersOf(cwd, env);
    const command = argv.map((word) => steadyText(word, folders)).join(' ');
    answers.push({ label, command, exit, answer: steady(answer, '', folders) });
    return answer;
  }
  /** Commands by their labels, one after another. */
  async function keepAll(place: Place, commands: Readonly<Record<string, string>>) {
    for (const [label, command] of Object.entries(commands)) await keep(label, command, place);
  }
  /** Every command by itself, so that all that differ are shown. */
  function compare() {
    if (process.env.RECORD === '1') {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, answers.map((one) => `${JSON.stringify(one)}\n`).join(''));
    }
    const recorded = existsSync(file) ? readLines(file) : [];
    const labels = answers.map(({ label }) => label);
    expect.soft(recorded.map(({ label }) => label).sort(), `the labels of ${name}`).toEqual([...labels].sort());
    for (const answer of answers)
      expect.soft(answer, `${name}: ${answer.label}`).toEqual(recorded.find(({ label }) => label === answer.label));
  }
  return { keep, keepAll, compare };
}

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`expected JSON, got ${text}`, { cause });
  }
}

const readLines = (file: string): Recorded[] => readFileSync(file, 'utf8').trimEnd().split('\n').map(parsed);

type Folders = readonly (readonly [path: string, label: string])[];

/** What paths begin with here, the longest first. */
const foldersOf = (cwd: string, env: NonNullable<Place['env']>): Folders =>
  [
    [cwd, '<folder>'] as const,
    [env.SKILLOPT_HOME!, '<state>'] as const,
    [env.HOME!, '<home>'] as const,
    [process.execPath, '<node>'] as const,
    [resolve('.'), '<repository>'] as const,
    [tmpdir(), '<temp>'] as const,
  ].sort(([a], [b]) => b.length - a.length);

/** Keys of what a clock, a machine, a version or dice decide. */
const UNSTEADY = new Set([
  'PATH',
  'bytes',
  'freedBytes',
  'hash',
  'listedVersion',
  'ms',
  'receipt',
  'runningVersion',
  'totalWallTimeS',
  'version',
  'waitMs',
]);

/** A value without what differs from one place and moment to another, and without sentences. */
function steady(value: unknown, key: string, folders: Folders): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (UNSTEADY.has(key) && typeof value !== 'object') return `<${key}>`;
  if (typeof value === 'string') return steadyText(value, folders);
  if (typeof value === 'number') return Number(value.toPrecision(10)); // the last digits may be another machine's
  if (Array.isArray(value)) return value.map((each) => steady(each, key, folders));
  const entries = Object.entries(value as object).map(([name, each]) => [
    name.includes('/') ? steadyText(name, folders) : name,
    steady(each, name, folders),
  ]);
  return Object.fromEntries(entries);
}

function steadyText(text: string, folders: Folders): string {
  const placed = folders.reduce((words, [path, label]) => words.replaceAll(path, label), text.replaceAll('\\', '/'));
  if (/\s/.test(placed)) return '<text>';
  return placed
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '<time>')
    .replace(/\d{4}-\d\d-\d\d/, '<date>')
    .replace(/(?<=\/plugins\/)\d[^/]*/, '<version>')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:<port>')
    .replace(process.versions.node, '<version>')
    .replace(/(?<=^<.*)[0-9a-f@-]{8,}|(?<=-)[0-9a-f]{20}$/, '<hash>'); // of a folder that is another each time
}
