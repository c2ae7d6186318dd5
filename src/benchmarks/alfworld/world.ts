import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { oneLine, withoutEscapes } from '../../core/text/index.ts';
import { onAbort } from '../../models/index.ts';
import { atExit, MARKER, markedTree, newRolloutId, OWN_GROUP } from '../../workspaces/index.ts';
import { keepTail, readLines } from './lines.ts';

const First = z.object({
  observation: z.string(),
  admissible: z.array(z.string()),
  done: z.boolean().default(false),
  won: z.boolean().default(false),
});
const Next = First.extend({ done: z.boolean(), won: z.boolean() });

/** What a world shows after a reset or a step. */
export type Scene = Readonly<z.output<typeof First>>;

/** A world gave no answer, or none that can be read. That is an outage: it says nothing about the skill. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure';
}

export type WorldOptions = {
  /** The program and its arguments. It runs with the user's rights: it is the user's own. */
  readonly command: readonly string[];
  /** Silence after which a world counts as dead. */
  readonly answerMs: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * A game in a process of its own. Requests and answers are lines of JSON, one at a time. Both methods throw `WorldFailure`, and
 * the reason of the signal once it is aborted.
 */
export interface World extends AsyncDisposable {
  /** Begins a game, from its first scene. */
  reset(game: string): Promise<Scene>;
  step(action: string): Promise<Scene>;
}

/** More than any scene. */
const MOST_LINE_BYTES = 1_000_000;
const MOST_ERROR_BYTES = 2_000;
/** How long a world may clean up once it is asked to close. */
const GRACE_MS = 1_000;
/** What an ended process has printed arrives within this time, unless others hold its output open. */
const DRAIN_MS = 200;

export async function openWorld(options: WorldOptions): Promise<World> {
  const process = await startWorld(options);
  const ask = async (request: object, schema: typeof First | typeof Next) => {
    const line = await process.ask(JSON.stringify(request));
    const answer = schema.safeParse(readJson(line));
    if (answer.success) return answer.data;
    throw new WorldFailure(
      `the world answered ${JSON.stringify(oneLine(line.slice(0, 200)))}: ${problemOf(answer.error)}`,
    );
  };
  return {
    reset: (game) => ask({ op: 'reset', game }, First),
    step: (action) => ask({ op: 'step', action }, Next),
    [Symbol.asyncDispose]: () => process.end(),
  };
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new WorldFailure(`the world answered no JSON: ${JSON.stringify(oneLine(line.slice(0, 200)))}`);
  }
}

const problemOf = (error: z.ZodError) => oneLine(z.prettifyError(error));

async function startWorld({ command, answerMs, signal }: WorldOptions) {
  signal?.throwIfAborted();
  const child = await spawn(command);
  const tree = markedTree(child.id, child.pid);
  const hook = atExit(() => tree.kill());
  const errors = keepTail(child.stderr, MOST_ERROR_BYTES);
  const talk = talkThrough(child);
  const ended = child.exit.then((how) => talk.fail(`the world ended ${how}${reasonIn(errors.text())}`));
  const finish = async () => {
    if (talk.isWell()) {
      talk.say('{"op":"close"}');
      child.stdin.end();
      await Promise.race([ended, delay(GRACE_MS, undefined, { ref: false })]);
    }
    await tree.gone();
    child.release();
    hook[Symbol.dispose]();
    stopListening();
  };
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= finish());
  const stopListening = onAbort(signal, () => {
    talk.fail('the attempt was aborted');
    void end();
  });
  const ask = async (request: string): Promise<string> => {
    const silent = () => talk.fail(`the world was silent for ${answerMs / 1000} s${reasonIn(errors.text())}`);
    const timer = setTimeout(silent, answerMs);
    try {
      return await talk.ask(request);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  return { ask, end };
}

/** The last line first: it says why, and messages are cut. */
function reasonIn(errors: string): string {
  const lines = withoutEscapes(errors).split('\n');
  const last = lines.at(-1)!;
  return last === '' ? '' : `: ${last}${lines.length > 1 ? `\n${lines.join('\n')}` : ''}`;
}

type Child = Awaited<ReturnType<typeof spawn>>;

async function spawn([file = '', ...args]: readonly string[]) {
  const { execa } = await import('execa');
  const id = newRolloutId();
  const child = execa(file, args, {
    ...OWN_GROUP,
    stdio: 'pipe',
    env: worldEnvironment(id),
  });
  const { pid } = child;
  if (pid === undefined)
    throw new WorldFailure(`the world cannot be started: ${oneLine(String((await child).shortMessage))}`);
  for (const stream of child.stdio) stream?.on('error', () => {}); // it may end without reading, or be ended
  return {
    id,
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    /** How it ended, once all that it printed is here. */
    exit: new Promise<string>((resolve) => {
      child.once('exit', (code, endedBy) => {
        const report = () => resolve(endedBy === null ? `with exit code ${code}` : `by ${endedBy}`);
        const timer = setTimeout(report, DRAIN_MS);
        child.once('close', () => {
          clearTimeout(timer);
          report();
        });
      });
    }),
    release: () => child.stdio.forEach((stream) => void stream?.destroy()),
  };
}

/** What the user's shell has, apart from keys: a game needs none. Python's sets have a fixed order, so that a game prints the same each time. */
function worldEnvironment(id: string): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !/KEY|TOKEN|SECRET|PASSWORD/i.test(name));
  return { PYTHONHASHSEED: '0', ...(Object.fromEntries(own) as Record<string, string>), [MARKER]: id };
}

/** A line out, a line in. After a failure nothing is asked any more. */
function talkThrough({ stdin, stdout }: Pick<Child, 'stdin' | 'stdout'>) {
  type Waiting = { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void };
  let waiting: Waiting | undefined;
  let failure: WorldFailure | undefined;
  const fail = (reason: string) => {
    failure ??= new WorldFailure(reason);
    waiting?.reject(failure);
    waiting = undefined;
  };
  const say = (line: string) => void stdin.write(`${line}\n`);
  readLines(stdout, {
    maxBytes: MOST_LINE_BYTES,
    onLine(line) {
      if (waiting === undefined)
        return fail(`the world printed without being asked: ${JSON.stringify(oneLine(line.slice(0, 200)))}`);
      waiting.resolve(line);
      waiting = undefined;
    },
    onTooLong: () => fail(`the world printed a line of more than ${MOST_LINE_BYTES} bytes`),
  });
  return {
    fail,
    say,
    isWell: () => failure === undefined,
    ask: (request: string) =>
      new Promise<string>((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        waiting = { resolve, reject };
        say(request);
      }),
  };
}
