import { openJournal } from '../../../src/stores/run/journal.ts';
import { stepEnd } from './run-directory.fixture.ts';

// Appends until the limit of this process is reached, and says what the first two failures were.
const journal = await openJournal(process.argv[2]!);
const failures: { code: string; message: string }[] = [];
for (let step = 1; failures.length < 2; step += 1) {
  await journal.append(stepEnd(step)).catch(({ code, message }) => void failures.push({ code, message }));
}
await journal.close();
process.stdout.write(JSON.stringify(failures));
