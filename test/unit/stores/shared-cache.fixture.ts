import { join } from 'node:path';
import Database from 'libsql';
import { PythonRandom } from 'skillopt';
import { openCaches } from '../../../src/stores/index.ts';
import { startChild, temporaryDirectory } from './run-directory.fixture.ts';

export const KEYS = 20_000;
export const keyOf = (number: number) => `key ${number}`;
/** Made from its key, so that any text can be checked. From a few bytes to some pages. */
export const textOf = (number: number) => `${number}, `.repeat(1 + ((number * 7919) % 1500));

const writer = new URL('./shared-cache.child.ts', import.meta.url);

export type SharedCacheOutcome = {
  readonly kills: number;
  /** Texts that were read, over all looks. */
  readonly read: number;
  /** Texts that were not what was set. */
  readonly wrong: number;
  /** Texts that a writer had called safe, and that are gone. Some may be when the size is limited. */
  readonly lost: number;
  /** Looks at which SQLite found the file damaged. */
  readonly damaged: number;
};

type KillWritersOptions = {
  readonly kills: number;
  readonly seed: number;
  readonly maxCacheMb: number;
  readonly onKill?: (kills: number) => void;
};

/** Two processes write to one cache. One of them after the other is killed at work, and the cache is read as it then is. */
export async function killWriters({
  kills,
  seed,
  maxCacheMb,
  onKill,
}: KillWritersOptions): Promise<SharedCacheOutcome> {
  await using folder = await temporaryDirectory();
  const random = new PythonRandom(seed);
  const safe = new Set<number>();
  let outcome: SharedCacheOutcome = { kills: 0, read: 0, wrong: 0, lost: 0, damaged: 0 };
  const start = () => startChild(writer, folder.path, `${Math.floor(random.random() * 1e9)}`, `${maxCacheMb}`);
  const children = [start(), start()];
  while (outcome.kills < kills) {
    const victim = children.shift()!;
    const wrong = await watch(victim, 1 + Math.floor(random.random() * 60), safe);
    await victim.kill();
    children.push(start());
    outcome = addLook(outcome, { ...(await look(folder.path, safe, maxCacheMb)), kills: 1, wrongInChild: wrong });
    onKill?.(outcome.kills);
  }
  await Promise.all(children.map((child) => child.kill()));
  return addLook(outcome, { ...(await look(folder.path, safe, maxCacheMb)), kills: 0, wrongInChild: 0 });
}

/** Reads some lines of a writer: adds what is safe, and counts what it read wrong. */
async function watch(child: ReturnType<typeof startChild>, lines: number, safe: Set<number>): Promise<number> {
  let wrong = 0;
  for (let line = 0; line < lines; line += 1) {
    const text = await child.nextLine();
    if (text === undefined) throw new Error('a writer ended by itself');
    if (text.startsWith('wrong')) wrong += 1;
    else for (const number of text.split(' ')) safe.add(Number(number));
  }
  return wrong;
}

type Look = Omit<SharedCacheOutcome, 'kills'>;

async function look(directory: string, safe: ReadonlySet<number>, maxCacheMb: number): Promise<Look> {
  const { replies, rollouts, close } = await openCaches(directory, { maxCacheMb });
  let [read, wrong, lost] = [0, 0, 0];
  for (let number = 0; number < KEYS; number += 1) {
    for (const cache of [replies, rollouts]) {
      const text = await cache.get(keyOf(number));
      if (text !== undefined) read += 1;
      if (text !== undefined && text !== textOf(number)) wrong += 1;
      if (text === undefined && safe.has(number)) lost += 1;
    }
  }
  close();
  return { read, wrong, lost, damaged: isSound(join(directory, 'cache', 'cache.db')) ? 0 : 1 };
}

function isSound(path: string): boolean {
  const database = new Database(path);
  try {
    database.pragma('busy_timeout = 10000');
    const [row] = database.pragma('integrity_check') as { integrity_check: string }[];
    return row?.integrity_check === 'ok';
  } finally {
    database.close();
  }
}

function addLook(sum: SharedCacheOutcome, look: Look & { kills: number; wrongInChild: number }): SharedCacheOutcome {
  return {
    kills: sum.kills + look.kills,
    read: sum.read + look.read,
    wrong: sum.wrong + look.wrong + look.wrongInChild,
    lost: sum.lost + look.lost,
    damaged: sum.damaged + look.damaged,
  };
}
