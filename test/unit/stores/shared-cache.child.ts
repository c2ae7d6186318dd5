import { PythonRandom } from 'skillopt';
import { openCaches } from '../../../src/stores/index.ts';
import { KEYS, keyOf, textOf } from './shared-cache.fixture.ts';

const [directory = '', seed = '1', maxCacheMb = '1024'] = process.argv.slice(2);
const random = new PythonRandom(Number(seed));
const { replies, rollouts } = await openCaches(directory, { maxCacheMb: Number(maxCacheMb) });
const draw = () => Math.floor(random.random() * KEYS);

async function setSome(): Promise<number[]> {
  const numbers = [draw(), draw(), draw(), draw()];
  const sets = numbers.flatMap((number) =>
    [replies, rollouts].map((cache) => cache.set(keyOf(number), textOf(number))),
  );
  await Promise.all(sets);
  return numbers;
}

async function isExact(number: number): Promise<boolean> {
  const texts = await Promise.all([replies, rollouts].map((cache) => cache.get(keyOf(number))));
  return texts.every((text) => text === undefined || text === textOf(number));
}

// Sets and reads at random until it is killed. Says which numbers are safe, and which were read wrong.
for (;;) {
  const safe = await setSome();
  const looked = draw();
  process.stdout.write((await isExact(looked)) ? `${safe.join(' ')}\n` : `wrong ${looked}\n`);
}
