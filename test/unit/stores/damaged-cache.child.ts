import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCaches } from '../../../src/stores/index.ts';

// Flips one bit of a cache file after another, and says what became of the texts in it and of a new one.
const [original = '', directory = '', ...bits] = process.argv.slice(2);
const whole = readFileSync(original);
for (const bit of bits.map(Number)) {
  rmSync(directory, { recursive: true, force: true });
  (await openCaches(directory)).close();
  const damaged = Buffer.from(whole);
  damaged[bit >> 3]! ^= 1 << (bit & 7);
  writeFileSync(join(directory, 'cache', 'cache.db'), damaged);
  appendFileSync(1, `${JSON.stringify(await tryOut(bit))}\n`);
}

async function tryOut(bit: number) {
  try {
    const { rollouts, close } = await openCaches(directory);
    const texts = [];
    for (let key = 0; key < 60; key += 1) texts.push(await rollouts.get(`key ${key}`));
    await rollouts.set('key 30', 'again'); // stays what it was, if it was still there
    await rollouts.set('new', 'new');
    const news = [await rollouts.get('key 30'), await rollouts.get('new')];
    close();
    return { bit, texts, news };
  } catch (error) {
    return { bit, error: String(error) };
  }
}
