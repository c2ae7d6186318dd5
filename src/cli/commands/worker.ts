import { createServer } from 'node:http';
import { InvalidArgumentError } from 'commander';
import { type OpenWorker, openWorker } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { jsonLine, plural } from '../../core/text/index.ts';
import type { WorkerEvent } from '../../workers/index.ts';
import { interruptible } from '../errors.ts';
import { configOption, quietOption, setOption } from '../flags/flags.ts';
import { type ProjectFlags, queueOf, queueOption, typedProject } from '../flags/project-flags.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = ProjectFlags &
  OptionalFlags<'queue'> &
  Readonly<{ concurrency?: number; drain: number; health?: number; json?: boolean }>;

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(configOption())
    .addOption(queueOption())
    .option('--concurrency <n>', 'attempts at the same time (default: workers of the project)', readCount)
    .option('--drain <seconds>', 'how long attempts may finish after Ctrl-C or SIGTERM', readSeconds, 30)
    .option('--health <port>', 'answer health checks there, on this machine alone', readPort)
    .addOption(quietOption())
    .option('--json', 'each event as a line of JSON on stdout')
    .addOption(setOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => work(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt worker --queue redis://10.0.0.5:6379', 'attempts for runs of this project, wherever they are'],
  ['skillopt worker --queue rediss://USER:PASSWORD@HOST:6379 --concurrency 4', 'with TLS and an account'],
  ['SKILLOPT_QUEUE=redis://… skillopt worker', 'the address stays out of the list of processes'],
]);

const SAID_EVERY_MS = 10_000;

async function work(flags: Flags, terminal: Terminal): Promise<void> {
  const queue = queueOf(flags, terminal);
  if (queue === undefined) throw noQueue();
  const loaded = await typedProject(flags, terminal);
  const { io } = terminal;
  let worker: OpenWorker | undefined;
  const onStop = () => worker && sayStopping(worker, flags.drain, terminal);
  // Signals are handled before it says that it is ready: it may be ended at once.
  await interruptible({ io, onStop }, async (signal) => {
    const onEvent = (event: WorkerEvent) => tellEvent(event, terminal);
    const options = { queue, concurrency: flags.concurrency, onEvent };
    worker = await openWorker(loaded, { env: io.env, notices: terminal }, options);
    await serveUntil(signal, worker, flags, terminal);
  });
}

function tellEvent(event: WorkerEvent, { isJson, io, warn }: Terminal): void {
  if (isJson) io.stdout.write(`${jsonLine({ ...event, ...('error' in event && { error: event.error.message }) })}\n`);
  if (event.type === 'away') warn(event.message);
  if (event.type === 'lost') warn(`${event.error.message}; this worker still waits for it`);
  if (event.type === 'mismatch')
    warn(
      `this worker takes no attempt of a run on ${event.run}, because it would score differently. Different: ${event.differs.join(', ')}`,
    );
}

async function serveUntil(signal: AbortSignal, worker: OpenWorker, flags: Flags, terminal: Terminal): Promise<void> {
  const isQuiet = flags.quiet || terminal.isJson;
  const health = flags.health === undefined ? undefined : await answerHealth(worker, flags.health);
  const saying = isQuiet ? undefined : sayNowAndThen(worker, terminal);
  try {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await worker.close(flags.drain * 1_000);
  } finally {
    clearInterval(saying);
    health?.close();
  }
  if (!isQuiet) terminal.say(`${plural(worker.state().done, 'attempt')} done`);
}

function sayNowAndThen(worker: OpenWorker, terminal: Terminal): NodeJS.Timeout {
  terminal.say(
    `waiting for attempts of ${worker.project}, ${worker.concurrency} at a time; Ctrl-C lets those under way finish, then ends`,
  );
  let said = '';
  return setInterval(() => {
    const { done, inFlight } = worker.state();
    const line = `${plural(done, 'attempt')} done, ${inFlight} under way`;
    if (line !== said && done + inFlight > 0) terminal.say(line);
    said = line;
  }, SAID_EVERY_MS);
}

function sayStopping(worker: OpenWorker, drain: number, { say }: Terminal): void {
  const { inFlight } = worker.state();
  if (inFlight > 0) say(`stopping after ${plural(inFlight, 'attempt')} under way (≤ ${drain} s); once more quits now`);
}

/** 200 while the queue is connected, else 503. */
async function answerHealth(worker: OpenWorker, port: number) {
  const server = createServer((_, response) => {
    const state = worker.state();
    response.writeHead(state.isConnected ? 200 : 503, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(state)}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new SkillError('USAGE', `--health ${port}: ${cause.message}`, { cause, hint: 'Name a free port.' })),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

const noQueue = () =>
  new SkillError('USAGE', 'expected the address of a queue, got none', {
    hint: 'Name it: --queue redis://127.0.0.1:6379, or in the variable SKILLOPT_QUEUE.',
  });

function readCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 10_000) return value;
  throw new InvalidArgumentError('Expected a whole number from 1 to 10000.');
}

function readPort(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value < 65_536) return value;
  throw new InvalidArgumentError('Expected a port, from 1 to 65535.');
}

function readSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 86_400) return value;
  throw new InvalidArgumentError('Expected seconds, from 0 to 86400.');
}
