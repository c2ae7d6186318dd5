// Calls one function after the other that is named to it, with texts that it likes less and less. Nothing is written, started
// or sent: whatever would do that throws.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { callWithin, cpuSince } from '../cpu-time.ts';
import { SHORTER } from './exceptions.ts';
import type { Answer, Question, Slot, Worst } from './fuzz.ts';
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

/** Milliseconds of CPU until it returns, throws or waits for something. */
async function timed(work: () => unknown, most: number): Promise<number> {
  const { ms, answer } = callWithin(most, work);
  if (!(answer instanceof Promise)) return ms;
  const before = process.cpuUsage();
  await Promise.race([answer.catch(() => undefined), idleTurns()]);
  return ms + cpuSince(before);
}

/** What needs no file, no process and no network is done when nothing has happened for some turns. */
async function idleTurns(): Promise<void> {
  for (let idle = 0; idle < 20; ) {
    const before = process.cpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    idle = cpuSince(before) < 1 ? idle + 1 : 0;
  }
}

const [SHORT, LONGER, BYTES] = [2_000, 16_000, 1_000_000];
const [MUTATIONS, MOST_MS, MOST_AGAIN] = [24, 3_000, 3];
/** For each stage of a search. There are hundreds of functions, and settings with a hundred texts. */
const STAGE_MS = 60;
const MAIN_SLOTS = 2;
/** For all texts of a call but the main ones: settings have a hundred. */
const OTHERS_MS = 3_000;

type Run = (recipe: Recipe, bytes?: number) => Promise<number>;

/** How to call a function with a hostile text in a place. */
async function opened(subject: TextFunction) {
  const { target, last } = await prepare(subject);
  const most = Object.hasOwn(SHORTER, subject.name) ? SHORTER[subject.name]! : BYTES;
  const count = last.parameters.reduce((sum, shape) => sum + textsIn(shape), 0);
  const runIn =
    (slot: Slot): Run =>
    (recipe, bytes = BYTES) => {
      const hostile = textOf(recipe, Math.min(most, slot === 'all' ? bytes / count : bytes));
      let at = 0;
      const work = () => call(target, last, () => (slot === 'all' || at++ === slot ? hostile : PLAIN));
      return timed(work, bytes === BYTES ? MOST_MS : MOST_MS / 4);
    };
  return { count, runIn };
}

/** The slowest text that a search with time as its guide has found in the places of a call, and its time at full length. */
async function search(subject: TextFunction): Promise<Worst & { readonly unsearched: number }> {
  const { count, runIn } = await opened(subject);
  let worst: Worst = { slot: 0, ms: 0, recipe: firstRecipes([])[0]! };
  const places = [...Array(count).keys()];
  const main: Slot[] = [...places.slice(0, MAIN_SLOTS), ...(count > 1 ? (['all'] as const) : [])];
  const others = dice(7).shuffled(places.slice(MAIN_SLOTS));
  let before = process.cpuUsage();
  let unsearched = 0;
  for (const slot of [...main, ...others]) {
    const isMain = slot === 'all' || slot < MAIN_SLOTS;
    if (isMain) before = process.cpuUsage();
    else if (cpuSince(before) > OTHERS_MS) unsearched++;
    if (unsearched > 0) continue;
    const recipes = await hardest(runIn(slot), subject.words, isMain);
    for (const recipe of recipes.slice(0, isMain ? 2 : 1)) {
      process.send!({ trying: { slot, ms: 0, recipe } });
      const ms = await runIn(slot)(recipe);
      if (ms > worst.ms) worst = { slot, ms, recipe };
    }
  }
  return { ...worst, unsearched };
}

/** The hardest first. The main places of a call are searched longer. */
async function hardest(run: Run, words: readonly string[], isMain: boolean): Promise<Recipe[]> {
  const random = dice(7);
  const ranked = (recipes: readonly Recipe[], bytes: number) =>
    rank(recipes, (recipe) => run(recipe, bytes), isMain ? STAGE_MS : STAGE_MS / 4);
  await run(firstRecipes([])[0]!, SHORT); // compiles
  const first = await ranked(random.shuffled(firstRecipes(words)), SHORT);
  const second = await ranked(first.slice(0, 10), LONGER);
  if (!isMain) return second;
  const mutants = Array.from({ length: MUTATIONS }, () => mutate(random.of(second.slice(0, 4)), words, random));
  return ranked([...second.slice(0, 2), ...mutants], LONGER);
}

/** The slowest first, of those for which there was time. */
async function rank(recipes: readonly Recipe[], time: (recipe: Recipe) => Promise<number>, mostMs: number) {
  const tried: { readonly recipe: Recipe; readonly ms: number }[] = [];
  for (let spent = 0; spent < mostMs && tried.length < recipes.length; spent += tried.at(-1)!.ms) {
    const recipe = recipes[tried.length]!;
    tried.push({ recipe, ms: await time(recipe) });
  }
  return tried.sort((one, other) => other.ms - one.ms).map(({ recipe }) => recipe);
}

/** The same call again, the quickest of some: collecting garbage, or what other functions left running, is not its work. */
async function again(subject: TextFunction, { slot, recipe }: Worst): Promise<Worst> {
  const run = (await opened(subject)).runIn(slot);
  await run(recipe, SHORT); // compiles
  process.send!({ trying: { slot, ms: 0, recipe } });
  let ms = await run(recipe);
  for (let times = 1; times < MOST_AGAIN && ms > 1_000; times++) ms = Math.min(ms, await run(recipe));
  return { slot, ms, recipe };
}

/** Why a function cannot be called with what was made up for it, or why it refused that. */
async function tryPlain(subject: TextFunction): Promise<Pick<Answer, 'problem' | 'stopped'>> {
  const { target, last } = await prepare(subject);
  try {
    await Promise.race([call(target, last, () => PLAIN), idleTurns()]);
  } catch (error) {
    return error instanceof TypeError ? { problem: String(error) } : { stopped: String(error).slice(0, 200) };
  }
  return {};
}

process.on('message', async ({ subject, what }: Question) => {
  try {
    const worst =
      what === 'search' ? await search(subject) : what === 'plain' ? undefined : await again(subject, what.again);
    process.send!({ worst, ...(await tryPlain(subject)) });
  } catch (error) {
    process.send!({ problem: String(error) });
  }
});
process.send!('ready');
