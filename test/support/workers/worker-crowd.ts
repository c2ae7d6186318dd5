import { setTimeout as sleep } from 'node:timers/promises';
import { PythonRandom } from 'skillopt';
import { startClone } from '../../unit/cli/clone-cli.ts';

type CrowdOptions = {
  readonly queue: string;
  readonly cwd: string;
  readonly count: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** A worker as users start it. What it says in JSON is in `events`. */
export function startWorker({ queue, cwd, args = [], env = {} }: Omit<CrowdOptions, 'count'>) {
  const { child, finished } = startClone(['worker', '--json', ...args], {
    cwd,
    env: { ...env, SKILLOPT_QUEUE: queue },
  });
  const events: { readonly type: string; readonly differs?: readonly string[] }[] = [];
  const printed = { stdout: '', stderr: '' };
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: string) => {
      const lines = (printed.stdout + text).split('\n');
      printed.stdout = lines.pop()!;
      events.push(...lines.filter((line) => line.startsWith('{"type"')).map((line) => JSON.parse(line)));
      if (events.some(({ type }) => type === 'ready')) resolve();
    });
    child.stderr.on('data', (text: string) => {
      printed.stderr += text;
    });
    child.on('exit', (code) => reject(new Error(`the worker ended with ${code}: ${printed.stderr}`)));
  });
  ready.catch(() => undefined); // a killed one is never ready
  return {
    ...{ child, finished, events, ready },
    stderr: () => printed.stderr,
    /** How many attempts it has taken. */
    begun: () => events.filter(({ type }) => type === 'begin').length,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await finished;
    },
  };
}

/** This many workers, of which any may be killed: another one takes its place. `await using` ends them. */
export async function startCrowd({ count, ...options }: CrowdOptions) {
  const workers = Array.from({ length: count }, () => startWorker(options));
  await Promise.all(workers.map(({ ready }) => ready));
  let kills = 0;
  return {
    workers,
    kills: () => kills,
    /** Kills workers at moments that `seed` chooses, only such as are at work, and begins another for each. */
    async killSome(most: number, { seed, until }: { readonly seed: number; readonly until: Promise<unknown> }) {
      const random = new PythonRandom(seed);
      let isOver = false;
      void until.finally(() => {
        isOver = true;
      });
      while (kills < most) {
        await sleep(50 + random.random() * 400);
        if (isOver) return;
        const index = Math.floor(random.random() * count);
        const worker = workers[index]!;
        if (worker.begun() === 0) continue;
        worker.child.kill('SIGKILL');
        kills += 1;
        workers[index] = startWorker(options);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    },
  };
}
