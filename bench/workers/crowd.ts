import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { programArgs } from '../../test/support/compiled.ts';
import { startRedis, type TestRedis } from '../../test/support/workers/start-redis.ts';
import type { Work } from './work.ts';

export type Crowd = {
  readonly work: Work;
  readonly tasks: number;
  /** How many workers, and how many rollouts each makes at a time. None: one process makes them all. */
  readonly workers: number;
  readonly concurrency: number;
  /** Rollouts in flight of the run. By default as many as all workers can make. */
  readonly width?: number;
  /** Passes before the one that is measured: the engine compiles during them. */
  readonly warmUps?: number;
};

export type CrowdFigures = {
  readonly ms: number;
  /** Of the process that trains, of its workers and of the server. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly redisMb: number;
};

type Watch = (crowd: { readonly workers: readonly ChildProcess[]; readonly begun: EventEmitter }) => Promise<void>;

/** Has rollouts made, each by a new process. `watch` may disturb it. */
export async function measureCrowd(crowd: Crowd, watch?: Watch): Promise<CrowdFigures> {
  const { work, tasks, workers: count, concurrency, warmUps = 0 } = crowd;
  const { width = Math.max(1, count) * concurrency } = crowd;
  await using redis = count === 0 ? undefined : await startRedis(() => ['--maxmemory-policy', 'noeviction']);
  const url = redis?.url ?? '';
  const args = [JSON.stringify(work), String(tasks)];
  const workerArgs = [url, ...args, String(concurrency), watch ? 'tells' : ''];
  const children = Array.from({ length: count }, () => start('worker-run.ts', workerArgs));
  try {
    const begun = new EventEmitter();
    for (const worker of children)
      worker.on('message', (message: { begun?: string }) => message.begun && begun.emit('task', message.begun, worker));
    await Promise.all(children.map((worker) => next(worker, 'ready')));
    const run = start('measure-run.ts', [...args, String(width), String(warmUps), url]);
    children.push(run);
    await next(run, 'warm');
    const before = await cpuOf(children.slice(0, count), redis);
    const measured = next(run, 'ms');
    run.send('go');
    const watching = watch?.({ workers: children.slice(0, count), begun });
    const { ms, cpu, maxRssKb } = (await measured) as { ms: number; cpu: NodeJS.CpuUsage; maxRssKb: number };
    await watching;
    const alive = children.slice(0, count).filter(({ signalCode }) => signalCode === null);
    const cpuMs = inMs(cpu) + (await cpuOf(alive, redis)) - before;
    return { ms, cpuMs, rssMb: maxRssKb / 1_000, redisMb: await peakOf(redis) };
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

function start(script: string, args: readonly string[]): ChildProcess {
  const [path = ''] = programArgs(new URL(script, import.meta.url)).slice(-1); // compiled, as users run it
  const child = fork(path, args, { execArgv: [] });
  child.setMaxListeners(0);
  return child;
}

/** The next message with a field, or the end of the process as an error. */
async function next(child: ChildProcess, field: string): Promise<object> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
    throw new Error(`a process of the bench ended with ${code}`);
  });
  try {
    for (;;) {
      const [message] = await Promise.race([once(child, 'message', { signal: over.signal }), ended]);
      if (field in message) return message;
    }
  } finally {
    over.abort();
    ended.catch(() => undefined);
  }
}

const inMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;

async function cpuOf(workers: readonly ChildProcess[], redis: TestRedis | undefined): Promise<number> {
  const each = workers.map(async (worker) => {
    const answer = next(worker, 'cpu');
    worker.send('cpu');
    return inMs(((await answer) as { cpu: NodeJS.CpuUsage }).cpu);
  });
  const server = await infoOf(redis);
  const seconds = (server.get('used_cpu_user') ?? 0) + (server.get('used_cpu_sys') ?? 0);
  return (await Promise.all(each)).reduce((sum, ms) => sum + ms, seconds * 1_000);
}

const peakOf = async (redis: TestRedis | undefined) => ((await infoOf(redis)).get('used_memory_peak') ?? 0) / 1e6;

async function infoOf(redis: TestRedis | undefined): Promise<Map<string, number>> {
  const text = (await redis?.connect().info()) ?? '';
  return new Map(text.split('\r\n').map((line) => [line.split(':')[0]!, Number(line.split(':')[1])]));
}
