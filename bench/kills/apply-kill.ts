import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { PythonRandom } from '../../src/core/contracts/index.ts';
import { worldFiles } from '../../test/e2e/project.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { BenchRow } from '../row.ts';

const BIN = resolve('.cache/package/bin/skillopt.mjs');

/** What can be seen of a process at work from outside; the kill comes a few milliseconds after it. */
const SIGNS: readonly ((folder: string) => boolean)[] = [
  (folder) => existsSync(join(folder, '.state/applied/replace.lock')),
  (folder) => existsSync(join(folder, '.state/applied/pending.json')),
  (folder) => readdirSync(join(folder, 'pdf')).length > 1,
  () => true,
];

/** Whether `apply` can be killed at any moment: the document is the old or the new one, and `--undo` brings the old one back. */
export const applyKill = (kills = 200): BenchRow => ({
  name: 'apply-kill',
  what: `${kills} × kill -9 of compiled apply processes`,
  goal: 'live file old or new; next command recovers; --undo byte for byte',
  async run(say) {
    using project = await trainedProject();
    const { path, seed, learned } = project;
    const random = new PythonRandom(15);
    const seen = { killed: 0, inside: 0, wrong: 0, notRecovered: 0, notUndone: 0, unharmed: 0 };
    for (let turnOf = 0; seen.killed < kills; turnOf++) {
      const aim = { sign: SIGNS[turnOf % SIGNS.length]!, waitMs: random.random() * (turnOf % 4 === 3 ? 400 : 12) };
      seen[(await killAt(path, aim)) ? 'killed' : 'unharmed']++;
      if (existsSync(join(path, '.state/applied/pending.json'))) seen.inside++;
      if (![seed, learned].includes(textIn(path))) seen.wrong++;
      if (!(await isRecovered(path, learned))) seen.notRecovered++;
      if (!(await isUndone(path, seed))) seen.notUndone++;
      if (turnOf % 20 === 0) say(JSON.stringify(seen));
    }
    const measured = `${seen.killed} kills, ${seen.inside} of them inside a change: ${seen.wrong} files neither old nor new, ${seen.notRecovered} not recovered, ${seen.notUndone} not undone`;
    const holds = seen.wrong + seen.notRecovered + seen.notUndone === 0 && seen.inside > 0;
    return { measured, holds, figures: seen };
  },
});

const textIn = (folder: string) => readFileSync(join(folder, 'pdf/SKILL.md'), 'utf8');

async function trainedProject() {
  const config = { numEpochs: 1, batchSize: 12, target: 'simulated', optimizer: 'simulated', skill: 'pdf' };
  const { 'SKILL.md': seed = '', ...files } = worldFiles(config);
  const folder = tempFolder({ ...files, 'pdf/SKILL.md': seed });
  await start(folder.path, 'train', '--quiet').ended;
  return { ...folder, seed, learned: readFileSync(join(folder.path, 'runs/run/best_skill.md'), 'utf8') };
}

function start(cwd: string, ...args: string[]) {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: cwd, SKILLOPT_HOME: join(cwd, '.state') };
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: 'ignore' });
  const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
    child.on('exit', (code, signal) => done({ code, signal }));
  });
  return { child, ended };
}

type Aim = { readonly sign: (folder: string) => boolean; readonly waitMs: number };

async function killAt(folder: string, { sign, waitMs }: Aim): Promise<boolean> {
  const { child, ended } = start(folder, 'apply', 'run', '--yes');
  while (child.exitCode === null && !sign(folder)) await turn();
  await delay(waitMs);
  child.kill('SIGKILL');
  return (await ended).signal === 'SIGKILL';
}

/** By the next command alone: the new bytes, the mode, and nothing left lying about. */
async function isRecovered(folder: string, text: string): Promise<boolean> {
  const { code } = await start(folder, 'apply', 'run', '--yes').ended;
  const { mode } = statSync(join(folder, 'pdf/SKILL.md'));
  return code === 0 && textIn(folder) === text && (mode & 0o777) === 0o644 && isTidy(folder);
}

async function isUndone(folder: string, text: string): Promise<boolean> {
  const { code } = await start(folder, 'apply', 'run', '--undo').ended;
  return code === 0 && textIn(folder) === text && isTidy(folder);
}

const isTidy = (folder: string) =>
  readdirSync(join(folder, 'pdf')).join() === 'SKILL.md' && !existsSync(join(folder, '.state/applied/pending.json'));
