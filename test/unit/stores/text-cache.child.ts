import { openCaches } from '../../../src/stores/index.ts';

const [directory = '', writer = ''] = process.argv.slice(2);
const { replies } = await openCaches(directory);

// Sets key after key until it is killed, some at once, and says which are safe.
for (let key = 0; ; key += 4) {
  const keys = [key, key + 1, key + 2, key + 3];
  await Promise.all(keys.map((each) => replies.set(`key ${each}`, `${each} by ${writer}, `.repeat(500))));
  process.stdout.write(`${key + 3}\n`);
}
