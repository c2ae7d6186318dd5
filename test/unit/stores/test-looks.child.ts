import { createInterface } from 'node:readline';
import { countTestLook } from '../../../src/stores/index.ts';

// Counts a look of every run that is named on stdin, and says its number.
const [, , directory = ''] = process.argv;
for await (const run of createInterface({ input: process.stdin })) {
  const { place } = await countTestLook(directory, { at: 'now', by: 'eval', run, tasks: 't', subjects: {} });
  process.stdout.write(`${place}\n`);
}
