import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { openCaches } from '../../../src/stores/index.ts';

// Says whether the driver was loaded with the stores. Then flips one bit of a cache file after another, and says what became
// of the texts in it and of a new one.
const say = (report: object) => appendFileSync(1, `${JSON.stringify(report)}\n`);
const loaded = Object.keys(createRequire(import.meta.url).cache);
say({ isDriverLoaded: loaded.some((path) => path.includes('libsql')) });

const [original = '', directory = '', ...bits] = process.argv.slice(2);
const whole = readFileSync(original);
for (const bit of bits.map(Number)) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'cache'), { recursive: true });
  const damaged = Buffer.from(whole);
  damaged[bit >> 3]! ^= 1 << (bit & 7);
  writeFileSync(join(directory, 'cache', 'cache.db'), damaged);
  say(await tryOut(bit));
}

async function tryOut(bit: number) {
  try {
    const { rollouts, close } = await openCaches(directory);
    const texts = [];
    for (let key = 0; key < 60; key += 1) texts.push(await rollouts.get(`key ${key}`));
    const isSet = Promise.all([
      rollouts.set('key 30', 'again'), // stays what it was, if it was still there
      rollouts.set('new', 'new'),
    ]);
    rollouts.flush();
    await isSet;
    const news = [await rollouts.get('key 30'), await rollouts.get('new')];
    close();
    return { bit, texts, news };
  } catch (error) {
    return { bit, error: String(error) };
  }
}
