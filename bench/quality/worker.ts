// A child process of the bench: takes one piece of work at a time, and gives what came out.
import { WORK, type WorkName } from './work.ts';

process.on('message', async ({ name, input }: { name: WorkName; input: never }) => {
  process.send!(await WORK[name](input));
});
// The process that asked is gone.
process.on('disconnect', () => process.exit());
