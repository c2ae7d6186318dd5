import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { createWorld } from 'skillopt/sim';
import { startFakeLLM } from 'skillopt/testing';
import { runCli } from '../../../src/cli/index.ts';
import { tasksFileText } from '../../../src/sleep/index.ts';
import { nightAnswer } from '../../unit/cli/sleep/night-over-http.ts';
import { doneTasks } from '../../unit/sleep/night/night-world.ts';
import { captureIo } from '../capture-io.ts';
import { SETTINGS } from '../plugins/plugin-home.ts';
import { claudeSession, USUAL_TURNS } from '../sleep/sleep-home.ts';
import { tempFolder } from '../temp-folder.ts';

const FOLDER = fileURLToPath(new URL('../../fixtures/versions/', import.meta.url));
export const VERSION: string = JSON.parse(readFileSync('package.json', 'utf8')).version;

/** Those that have a folder. */
export const versions = () => readdirSync(FOLDER).filter((name) => /^\d/.test(name));

/**
 * Stands in fixtures for the folder in which a version wrote. A copy lies in a folder whose path has the same length: receipts of
 * plugins and indexes of attempts count characters.
 */
const NEUTRAL = `/neutral${'/place'.repeat(14)}`;

/** When the transcripts of a fixture were last changed, which the index of sessions knows: git does not keep it. */
const SAID_AT = Date.UTC(2026, 0, 31);

type Move = readonly [from: string, to: string];
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

/** A person's home with a project for nights, the state, and a project with runs; the command line runs there. Gone after the test. */
function openPlace() {
  const temp = tempFolder();
  const real = realpathSync(temp.path);
  const path = join(real, 'p'.repeat(NEUTRAL.length - real.length - 1));
  const at = (...names: readonly string[]) => join(path, ...names);
  for (const name of ['person/shop', 'project', 'bin']) mkdirSync(at(name), { recursive: true });
  const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve('test/support/plugins/agent-stand-in.mjs')}' opencode "$@"\n`;
  writeFileSync(at('bin/opencode'), program);
  chmodSync(at('bin/opencode'), 0o755);
  const env = { HOME: at('person'), SKILLOPT_HOME: at('state'), PATH: `${at('bin')}:/usr/bin:/bin` };
  return {
    ...{ path, at, env },
    /** What a command answers in one of the projects. */
    async ask(folder: 'project' | 'person/shop', command: string) {
      const io = captureIo({ cwd: at(folder), env });
      const code = await runCli([...command.split(' '), '--json'], io);
      if (code !== 0) throw new Error(`${command}: ${io.err()}${io.out()}`);
      return JSON.parse(io.out());
    },
    read: (name: string) => readFileSync(at(name), 'utf8'),
    write(name: string, text: string) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    },
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}
type Place = ReturnType<typeof openPlace>;

/** A copy of what a version wrote, as if it had written it here. */
export async function openVersion(version: string) {
  const place = openPlace();
  cpSync(join(FOLDER, version), place.path, { recursive: true });
  await moveTo(place.path, [[NEUTRAL, place.path]]);
  setHost(place, hostname());
  setTimes(place);
  return Object.assign(place, { expected: JSON.parse(place.read('expected.json')) });
}

/** Makes what was written in one folder right in another: paths, and hashes of what a path is a part of. */
async function moveTo(folder: string, moves: readonly [place: Move, ...others: Move[]]): Promise<void> {
  const [from, to] = moves[0].map((place) => `shop-${sha256(`${place}/person/shop`).slice(0, 8)}`) as [string, string];
  const all = [...moves, [from, to]] as const;
  const moved = (text: string) => all.reduce((words, [before, after]) => words.replaceAll(before, after), text);
  const nights = join(folder, 'state/nights');
  if (existsSync(join(nights, from))) renameSync(join(nights, from), join(nights, to));
  const digests = new Map<string, string>();
  for (const path of textsIn(folder)) {
    const before = readFileSync(path, 'latin1');
    const after = moved(before);
    if (after === before) continue;
    writeFileSync(path, after, 'latin1');
    digests.set(sha256(Buffer.from(before, 'latin1')), sha256(Buffer.from(after, 'latin1')));
  }
  for (const path of textsIn(folder)) {
    const before = readFileSync(path, 'latin1');
    const after = before.replaceAll(/\b[0-9a-f]{64}\b/g, (digest) => digests.get(digest) ?? digest);
    if (after !== before) writeFileSync(path, after, 'latin1');
  }
  // The index knows a short transcript by the beginning of its digest.
  const prints = [...digests].map((pair) => pair.map((digest) => digest.slice(0, 16)) as [string, string]);
  const printed = (text: string) => prints.reduce((words, [before, after]) => words.replaceAll(before, after), text);
  moveIndex(join(folder, 'state/index.db'), (text) => printed(moved(text)));
}

const isDatabase = (path: string) => /\.db(-wal|-shm)?$/.test(path);
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const textsIn = (folder: string) => filesIn(folder).filter((path) => !isDatabase(path));

/** Files of a version in which a home or a temporary folder is named. */
export const foreignFiles = (version: string) => filesNaming(join(FOLDER, version), []);

function filesNaming(folder: string, words: readonly string[]): string[] {
  return filesIn(folder).filter((path) => {
    const text = readFileSync(path, 'latin1').replaceAll(NEUTRAL, '');
    return (
      /\/(?:home|Users|root|tmp|private|shm|var\/folders)\//.test(text) || words.some((word) => text.includes(word))
    );
  });
}

/** Its rows have a sum of their texts. Nothing of the old texts stays in free pages. */
function moveIndex(path: string, moved: (text: string) => string): void {
  const database = new Database(path);
  const rows = database.prepare('SELECT id, key, facts FROM files').raw().all() as [number, string, string][];
  for (const [id, ...texts] of rows) {
    const [key, text] = texts.map(moved) as [string, string];
    const { dev = 0, ino = 0 } = statSync(JSON.parse(text).path, { throwIfNoEntry: false }) ?? {};
    const facts = text.replace(/"identity":"[\d:]+"/, `"identity":"${dev}:${ino}"`); // a copy is another file
    const sum = sha256(`${key}\n${facts}`).slice(0, 16);
    database.prepare('UPDATE files SET key = ?, facts = ?, facts_sum = ? WHERE id = ?').run(key, facts, sum, id);
  }
  database.exec('VACUUM');
  database.close();
  emptyLog(path);
}

/** The log of a database into its file, which is many times smaller. */
function emptyLog(path: string): void {
  const database = new Database(path);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
}

/** A killed process leaves its lock, which says on which machine it ran. */
function setHost({ at, read, write }: Place, host: string): void {
  const lock = 'project/runs/killed/run.lock';
  if (existsSync(at(lock))) write(lock, read(lock).replace(/"host":"[^"]*"/, `"host":${JSON.stringify(host)}`));
}

function setTimes({ at }: Place): void {
  for (const path of filesIn(at('person/.claude'))) utimesSync(path, SAID_AT / 1000, SAID_AT / 1000);
}

/** Writes the folder of this version, if it has none. One that is there stays: what a version wrote cannot be written again. */
export async function writeMissing(): Promise<void> {
  if (versions().includes(VERSION) || process.env.WRITE_FIXTURES !== '1') return;
  using place = openPlace();
  await using llm = await startFakeLLM(nightAnswer);
  await writeRuns(place);
  await writeNights(place, `compatible:m@${llm.baseURL}`);
  place.write(`person/${SETTINGS.opencode[0]}`, SETTINGS.opencode[1]);
  await place.ask('person/shop', 'plugin install opencode');
  const [show, diff] = [await place.ask('project', 'show finished'), await place.ask('project', 'diff finished')];
  const { runs } = await place.ask('project', 'runs');
  const { modifiedAt: _, path: __, ...listed } = runs.find(({ name }: { name: string }) => name === 'finished');
  const status = await place.ask('person/shop', 'sleep status');
  const expected = { listed, verdict: show.verdict, bestSkill: show.bestSkill, diff, pending: status.pending };
  place.write('expected.json', `${JSON.stringify(expected, null, 1)}\n`);
  setHost(place, 'neutral');
  for (const path of filesIn(place.at('project')).filter((name) => name.endsWith('.db'))) emptyLog(path);
  for (const path of filesIn(place.path).filter((name) => isUnneeded(name.slice(place.path.length)))) rmSync(path);
  await moveTo(place.path, [
    [place.path, NEUTRAL],
    [resolve('.'), '/neutral/package'],
    [process.execPath, '/neutral/node'],
  ]);
  rmSync(place.at('bin'), { recursive: true });
  const foreign = filesNaming(place.path, [hostname(), homedir(), tmpdir(), resolve('.')]);
  if (foreign.length > 0) throw new Error(`these files name this machine: ${foreign.join(', ')}`);
  cpSync(place.path, join(FOLDER, VERSION), { recursive: true });
}

/** What is ours here, and caches of nights that are over: they only cost money. */
const isUnneeded = (path: string) => /calls\.jsonl$|\.lock$(?<!run\.lock)|^\/state\/nights\/.*\/cache\//.test(path);

/** With models that are often wrong, so that candidates lose too, and slow enough to be killed at work. */
const SETTINGS_OF_RUNS = `tasks: tasks.jsonl
skill: SKILL.md
numEpochs: 1
batchSize: 4
workers: 2
target: { provider: simulated, latencyMs: 10, noise: 0.1 }
optimizer: { provider: simulated, latencyMs: 10, precision: 0.3, harmfulRate: 0.5 }
`;

async function writeRuns(place: Place): Promise<void> {
  const { items, initialSkill } = createWorld({ train: 3, val: 4, test: 1, topics: 3 });
  const rows = Object.entries(items).flatMap(([split, list]) => list.map((item) => JSON.stringify({ ...item, split })));
  place.write('project/tasks.jsonl', `${rows.join('\n')}\n`);
  place.write('project/SKILL.md', initialSkill);
  place.write('project/skillopt.config.yaml', SETTINGS_OF_RUNS);
  await place.ask('project', 'train --run runs/finished --force');
  const command = [resolve('bin/skillopt.mjs'), 'train', '--run', 'runs/killed', '--quiet', '--force'];
  const child = spawn(process.execPath, command, { cwd: place.at('project'), env: place.env, stdio: 'inherit' });
  const closed = once(child, 'close');
  const journal = 'project/runs/killed/events.jsonl';
  const isAtWork = () =>
    existsSync(place.at(journal)) && /"stage":"reflect","step":2|"step":2,"stage":"reflect"/.test(place.read(journal));
  while (child.exitCode === null && !isAtWork()) await sleep(1);
  child.kill('SIGKILL');
  await closed;
  if (!isAtWork() || place.read(journal).includes('run-end')) throw new Error('the run was not killed in its middle');
}

async function writeNights(place: Place, model: string): Promise<void> {
  const { at, ask, write } = place;
  const turns = USUAL_TURNS.slice(0, 2); // below a kilobyte
  const endedHoursAgo = (Date.now() - SAID_AT) / 3_600_000;
  for (const id of ['a', 'b'])
    write(`person/.claude/projects/p/${id}.jsonl`, claudeSession({ cwd: at('person/shop'), id, endedHoursAgo, turns }));
  setTimes(place);
  const about = { project: at('person/shop'), transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' };
  const tasks = tasksFileText({ ...about, tasks: doneTasks('t', { train: 2, val: 6 }) });
  write('person/shop/tasks.json', tasks.replace('"reviewed": false', '"reviewed": true'));
  await ask('person/shop', 'sleep');
  write('state/config.yaml', 'evolveMemory: false\n');
  await ask('person/shop', `sleep run --tasks tasks.json --target ${model}`);
}
