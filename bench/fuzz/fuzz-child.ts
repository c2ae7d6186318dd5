// Calls one function after the other that is named to it, with texts that it likes less and less. Nothing is written, started
// or sent: whatever would do that throws.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { createContext, Script } from 'node:vm';
import { SHORTER } from './exceptions.ts';
import type { Answer } from './fuzz.ts';
import { dice, firstRecipes, mutate, type Recipe, textOf } from './recipe.ts';
import { make, textsIn } from './shape.ts';
import type { Step, TextFunction } from './text-functions.ts';

const require = createRequire(import.meta.url);
const forbidden = () => {
  throw Object.assign(new Error('not in a fuzzer'), { code: 'EPERM' });
};
const WRITES =
  /^(?:write|append|mkdir|rm|unlink|rename|copyFile|cp|symlink|link|chmod|chown|truncate|utimes|mkdtemp|open(?!dir))/;
for (const name of ['fs', 'fs/promises']) {
  const module = require(`node:${name}`);
  for (const key of Object.keys(module)) if (WRITES.test(key)) module[key] = forbidden;
}
const processes = require('node:child_process');
for (const key of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'])
  processes[key] = forbidden;
const net = require('node:net');
net.Server.prototype.listen = forbidden;
net.Socket.prototype.connect = forbidden;
syncBuiltinESMExports();
process.kill = forbidden as never;
process.exitCode = 0;
process.on('unhandledRejection', () => undefined);

const PLAIN = 'A plain text.';
const doors = new Map<string, Record<string, unknown>>();

type Callable = (...args: unknown[]) => unknown;

/** Which of the texts of the last call is hostile. `all` are, and share the bytes. */
type Slot = number | 'all';

async function prepare({ door, steps }: TextFunction) {
  if (!doors.has(door)) doors.set(door, await import(new URL(`../../${door}`, import.meta.url).href));
  let value: unknown = doors.get(door);
  for (const step of steps.slice(0, -1)) value = await call(follow(value, step), step, () => PLAIN);
  const last = steps.at(-1)!;
  return { target: follow(value, last), last };
}

function follow(value: unknown, { names }: Step): Callable {
  let [owner, found] = [undefined as unknown, value];
  for (const name of names) [owner, found] = [found, (found as Record<string, unknown> | undefined)?.[name]];
  if (typeof found !== 'function') throw new Error(`there is no function ${names.join('.')}`);
  return found.bind(owner) as Callable;
}

function call(target: Callable, { parameters, isNew }: Step, text: () => string): unknown {
  const args = parameters.map((shape) => make(shape, text));
  return isNew ? Reflect.construct(target, args) : target(...args);
}

const context = createContext({ work: () => undefined });
const script = new Script('work()');

/** A busy machine gives a process a part of its time. */
const WALL_PER_CPU = 8;

/** Milliseconds of CPU until it returns, throws or waits for something. What takes far longer than `most` is ended. */
async function timed(work: () => unknown, most: number): Promise<number> {
  const before = process.cpuUsage();
  try {
    context.work = work;
    const answer: unknown = script.runInContext(context, { timeout: most * WALL_PER_CPU });
    if (answer instanceof Promise) await Promise.race([answer, turns()]);
  } catch {
    // A refusal is an answer, and what was ended has taken its time.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** What needs no file, no process and no network is done by then. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

type Tried = { readonly recipe: Recipe; readonly ms: number };

const [SHORT, LONGER, BYTES] = [2_000, 16_000, 1_000_000];
const [MUTATIONS, MOST_SLOTS, MOST_MS, MOST_AGAIN] = [24, 2, 3_000, 3];
/** For each of the three stages of a search. There are hundreds of functions. */
const STAGE_MS = 60;

/** The slowest text that a search with time as its guide has found, and its time at full length. */
export async function search(subject: TextFunction) {
  const { target, last } = await prepare(subject);
  const most = Object.hasOwn(SHORTER, subject.name) ? SHORTER[subject.name]! : BYTES;
  const count = last.parameters.reduce((sum, shape) => sum + textsIn(shape), 0);
  const slots: Slot[] = [...Array(Math.min(count, MOST_SLOTS)).keys(), ...(count > 1 ? (['all'] as const) : [])];
  let worst = { slot: 0 as Slot, ms: 0, text: '' };
  for (const slot of slots) {
    const run = (recipe: Recipe, bytes: number, mostMs: number) => {
      const hostile = textOf(recipe, Math.min(most, slot === 'all' ? bytes / count : bytes));
      let at = 0;
      return timed(() => call(target, last, () => (slot === 'all' || at++ === slot ? hostile : PLAIN)), mostMs);
    };
    const { recipe, ms } = await slowest(run, subject.words);
    if (ms > worst.ms) worst = { slot, ms, text: JSON.stringify(recipe) };
  }
  return worst;
}

type Run = (recipe: Recipe, bytes: number, most: number) => Promise<number>;

async function slowest(run: Run, words: readonly string[]): Promise<Tried> {
  const random = dice(7);
  const tryAt = (bytes: number) => (recipe: Recipe) => run(recipe, bytes, MOST_MS / 4);
  await run(firstRecipes([])[0]!, SHORT, MOST_MS); // compiles
  const first = await ranked(random.shuffled(firstRecipes(words)), tryAt(SHORT));
  const second = await ranked(first.slice(0, 10), tryAt(LONGER));
  const mutants = Array.from({ length: MUTATIONS }, () => mutate(random.of(second.slice(0, 4)), words, random));
  const best = await ranked([...second.slice(0, 2), ...mutants], tryAt(LONGER));
  let ms = await run(best[0]!, BYTES, MOST_MS);
  // Collecting garbage, or a busy machine, is not the work.
  for (let again = 0; again < MOST_AGAIN && ms > 1_000; again++) ms = Math.min(ms, await run(best[0]!, BYTES, MOST_MS));
  return { recipe: best[0]!, ms };
}

/** The slowest first, of those for which there was time. */
async function ranked(recipes: readonly Recipe[], time: (recipe: Recipe) => Promise<number>): Promise<Recipe[]> {
  const tried: Tried[] = [];
  for (let spent = 0; spent < STAGE_MS && tried.length < recipes.length; spent += tried.at(-1)!.ms) {
    const recipe = recipes[tried.length]!;
    tried.push({ recipe, ms: await time(recipe) });
  }
  return tried.sort((one, other) => other.ms - one.ms).map(({ recipe }) => recipe);
}

/** Why a function cannot be called with what was made up for it, or why it refused that. */
async function tryPlain(subject: TextFunction): Promise<Pick<Answer, 'problem' | 'stopped'>> {
  const { target, last } = await prepare(subject);
  try {
    await Promise.race([call(target, last, () => PLAIN), turns()]);
  } catch (error) {
    return error instanceof TypeError ? { problem: String(error) } : { stopped: String(error).slice(0, 200) };
  }
  return {};
}

process.on('message', async ({ subject, isPlain }: { subject: TextFunction; isPlain: boolean }) => {
  try {
    process.send!(isPlain ? await tryPlain(subject) : { worst: await search(subject), ...(await tryPlain(subject)) });
  } catch (error) {
    process.send!({ problem: String(error) });
  }
});
process.send!('ready');
