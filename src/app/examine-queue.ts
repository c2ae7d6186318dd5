import { parseConfig, SkillError } from '../core/contracts/index.ts';
import { plural } from '../core/text/index.ts';
import { type Environment, type LoadedProject, resolveAgent } from '../project/index.ts';
import { withEnv } from '../train/index.ts';
import type { QueueFacts, WorkerFacts } from '../workers/index.ts';
import { type Check, check } from './examine-agents.ts';
import type { Wiring } from './wire-run.ts';
import { fingerprintOf } from './work-elsewhere.ts';

type QueueUse = { readonly env: Environment; readonly queue: string };

/** Whether the server of a queue fits, and which workers are there for this project. Without wiring nobody knows what they should have. */
export async function* queueChecks(
  loaded: LoadedProject,
  wiring: Wiring | undefined,
  { env, queue }: QueueUse,
): AsyncGenerator<Check> {
  const { examineQueue } = await import('../workers/index.ts');
  let examined: Awaited<ReturnType<typeof examineQueue>> | undefined;
  yield await check('queue', async () => {
    examined = await examineQueue(queue);
    return describeQueue(examined.facts);
  });
  if (examined === undefined) return;
  const { workersFor, close } = examined;
  try {
    if (wiring === undefined) return;
    yield await check('workers', async () => {
      const agent = await resolveAgent(loaded, { env });
      const fingerprint = () => fingerprintOf(loaded, wiring, agent);
      return describeWorkers(await workersFor(await withEnv(wiring.env, parseConfig(wiring.config), fingerprint)));
    });
  } finally {
    close();
  }
}

function describeQueue({ shown, answerMs, product, ...facts }: QueueFacts): string {
  const unfit = (message: string, hint: string) =>
    new SkillError('QUEUE_UNREACHABLE', `${shown}: ${message}`, { hint });
  if (facts.isTooOld) throw unfit(`expected Redis 6.2 or newer, or Valkey, got ${product}`, 'Update the server.');
  if (facts.evictionPolicy !== 'noeviction')
    throw unfit(
      `it may forget attempts when its memory is full: maxmemory-policy is ${facts.evictionPolicy}`,
      'Set it: CONFIG SET maxmemory-policy noeviction, and in the file of the server.',
    );
  return [
    `${shown} answered in ${Math.round(answerMs)} ms: ${product}`,
    ...(facts.isOpenToReaders
      ? ['without TLS: others on the network can read tasks, prompts and replies; use rediss://']
      : []),
    ...(facts.keepsLog
      ? []
      : ['it writes no log (appendonly no): attempts under way are begun again after it restarts']),
  ].join('\n');
}

function describeWorkers(workers: readonly WorkerFacts[]): string {
  if (workers.length === 0) return 'no worker for this project yet: start one with skillopt worker in a copy of it';
  const lines = workers.map(describeWorker);
  const others = workers.filter(({ differs }) => differs.length > 0);
  if (others.length === 0) return [`${plural(workers.length, 'worker')} ready for this project`, ...lines].join('\n');
  const message = `${others.length} of ${plural(workers.length, 'worker')} would score differently: no attempt goes there`;
  throw new SkillError('WORKER_MISMATCH', [message, ...lines].join('\n'), {
    hint: 'Give all machines the same copy of the project and the same versions.',
  });
}

function describeWorker({ host, pid, concurrency = 1, inFlight = 0, differs }: WorkerFacts): string {
  const what = differs.length > 0 ? `different: ${differs.join(', ')}` : `${inFlight} of ${concurrency} places at work`;
  return `${host} (process ${pid}): ${what}`;
}
