import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PythonRandom } from '../../src/core/contracts/index.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { BenchRow } from '../row.ts';

const RUN = resolve('bench/kills/rollouts-run.ts');
const KILLS = 50;

/** Whether a process that does rollouts can be killed at any moment, and the next start leaves nothing of them. */
export const rolloutKill = (kind: 'bubblewrap' | 'none'): BenchRow => ({
  name: 'rollout-kill',
  what: `${KILLS} × kill -9 amid rollouts, four at a time, in ${kind}`,
  goal: 'after the next start 0 processes, 0 mounts, 0 folders, 0 groups; ≥ 100 rollouts',
  async run(say) {
    using folder = tempFolder();
    const mark = `${77_000 + process.pid}.${kind.length}`;
    const random = new PythonRandom(kind.length);
    const killed: number[] = [];
    const seen = { kills: 0, rollouts: 0, atKill: 0, processes: 0, mounts: 0, folders: 0, groups: 0 };
    while (seen.kills < KILLS || seen.rollouts < 100) {
      seen.rollouts += await killAmid({ root: folder.path, kind, mark, waitMs: random.random() * 3_000, killed });
      seen.kills++;
      seen.atKill += processesWith(mark);
      await startRollouts(folder.path, kind, mark, 0).ended;
      for (const [what, count] of Object.entries(leftovers(folder.path, mark, killed))) seen[what as 'mounts'] += count;
      if (seen.kills % 10 === 0) say(JSON.stringify(seen));
    }
    const { kills, rollouts, atKill, processes, mounts, folders, groups } = seen;
    const measured = `${kills} kills, ${rollouts} rollouts done; ${atKill} processes outlived a kill; after the next start ${processes} processes, ${mounts} mounts, ${folders} folders, ${groups} groups`;
    return { measured, holds: processes + mounts + folders + groups === 0, figures: seen };
  },
});

function startRollouts(root: string, kind: string, mark: string, many: number) {
  const args = ['--import', 'tsx', RUN, root, kind, mark, String(many)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const begun = new Promise<void>((done) => child.stdout.once('data', () => done()));
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  return { child, begun, ended, rollouts: () => output.match(/rollout/g)?.length ?? 0 };
}

type Aim = Readonly<Record<'root' | 'kind' | 'mark', string>> & { readonly waitMs: number; readonly killed: number[] };

async function killAmid({ root, kind, mark, waitMs, killed }: Aim): Promise<number> {
  const { child, begun, ended, rollouts } = startRollouts(root, kind, mark, 1_000);
  await begun;
  await delay(waitMs);
  child.kill('SIGKILL');
  killed.push(child.pid!);
  await Promise.race([ended, delay(500)]); // what outlives it may hold its output
  await delay(1_000); // the kernel ends a namespace beside us
  return rollouts();
}

const leftovers = (root: string, mark: string, killed: readonly number[]) => ({
  processes: processesWith(mark),
  mounts: [...processIds()].filter((pid) => textOf(`/proc/${pid}/mountinfo`).includes(root)).length,
  folders: readdirSync(root).filter((name) => name !== 'templates').length,
  groups: ['pids', 'memory'].flatMap((tree) => groupsBelow(join('/sys/fs/cgroup', tree), killed)).length,
});

const processesWith = (mark: string) =>
  processIds().filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(`sleep\0${mark}`)).length;

const processIds = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** Of the processes that were killed; others may run beside this. */
function groupsBelow(folder: string, killed: readonly number[]): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((path) => killed.includes(Number(/(?:^|\/)skillopt-\w+-(\d+)-[^/]*$/.exec(path)?.[1])));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
