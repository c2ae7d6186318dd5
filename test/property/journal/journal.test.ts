import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RunEvent } from '../../../src/core/run/index.ts';
import { openJournal, readJournal } from '../../../src/stores/run/journal.ts';
import { stepEnd, temporaryDirectory } from '../../unit/stores/run-directory.fixture.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const event: fc.Arbitrary<RunEvent> = fc.record({
  type: fc.constant('stage-end'),
  stage: fc.constant('update'),
  step: fc.nat(),
  candidateSkill: fc.oneof(
    text,
    text.map((line) => `${line}\n\r\u2028${line}`),
  ),
  candidateHash: text,
  report: fc.constant([]),
  at: text,
  ms: fc.nat(),
  usage: fc.constant({}),
});

async function writeAll(path: string, events: readonly RunEvent[]) {
  await writeFile(path, '');
  const journal = await openJournal(path);
  for (const each of events) await journal.append(each);
  await journal.close();
}

it('any bytes cut off the end of a journal leave a readable run that can go on', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'events.jsonl');
  const property = fc.asyncProperty(
    fc.array(event, { minLength: 1, maxLength: 4 }),
    fc.double(unit),
    async (events, part) => {
      await writeAll(path, events);
      const whole = await readFile(path);
      const left = whole.subarray(0, Math.floor(part * whole.length));
      const survivors = events.slice(0, left.filter((byte) => byte === 0x0a).length);
      await writeFile(path, left);
      expect(await readJournal(path)).toEqual(survivors);
      expect(await readFile(path)).toEqual(left);
      const journal = await openJournal(path);
      await journal.append(stepEnd(1));
      await journal.close();
      expect(await readJournal(path)).toEqual([...survivors, stepEnd(1)]);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

const unit = { min: 0, max: 1, noNaN: true };
