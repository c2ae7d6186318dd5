import { createInterface } from 'node:readline';
import { SkillError } from '../../../src/core/contracts/index.ts';
import { takeRunLock } from '../../../src/stores/run/run-lock.ts';

// Takes the lock of every folder that is named on stdin, says what came of it, and never lets go.
for await (const directory of createInterface({ input: process.stdin })) {
  const outcome = await takeRunLock(directory).then(
    () => 'taken',
    (error) => (error instanceof SkillError ? error.code : String(error)),
  );
  process.stdout.write(`${outcome}\n`);
}
