import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../src/transcripts/index.ts';
import { copilotCli } from '../../src/transcripts/sources/copilot-cli.ts';
import { opencode } from '../../src/transcripts/sources/opencode.ts';
import { buildDatabase, fixtureRows, type Journal } from '../support/foreign-database.ts';
import { tempFolder } from '../support/temp-folder.ts';

const place: Place = { env: {}, home: '/nowhere', platform: 'linux' };

/** Where bytes change, as parts of the file's length, and to what. A cut: how much of the file is left. */
const damage = fc.record({
  flips: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 40,
  }),
  cut: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.double({ min: 0, max: 1, noNaN: true })),
  suffix: fc.constantFrom('', '-wal', '-shm'),
});

function spoil(bytes: Buffer, flips: readonly (readonly [number, number])[], cut: number): Buffer {
  const spoilt = Buffer.from(bytes.subarray(0, Math.ceil(bytes.length * cut)));
  for (const [part, change] of flips) {
    const at = Math.min(spoilt.length - 1, Math.floor(part * spoilt.length));
    if (at >= 16) spoilt[at] = spoilt[at]! ^ change; // with another beginning it is no database, and is not opened
  }
  return spoilt;
}

describe.each([
  { source: opencode, name: 'opencode.db', rows: fixtureRows('opencode/rows.json') },
  { source: copilotCli, name: 'session-store.db', rows: fixtureRows('copilot-cli/rows.json') },
])('a damaged database of $source.name', ({ source, name, rows }) => {
  it.each<Journal>(['rollback', 'log', 'no-log'])(
    'is trouble or fewer sessions, never an exception or a crash (%s)',
    async (journal) => {
      using folder = tempFolder();
      const path = join(folder.path, name);
      buildDatabase(path, rows, journal);
      const parts = ['', ...(journal === 'log' ? ['-wal', '-shm'] : [])];
      const good = new Map(parts.map((suffix) => [suffix, readFileSync(path + suffix)]));
      await fc.assert(
        fc.asyncProperty(damage, async ({ flips, cut, suffix }) => {
          for (const [part, bytes] of good) writeFileSync(path + part, bytes);
          const bytes = good.get(suffix) ?? good.get('')!;
          writeFileSync(path + (good.has(suffix) ? suffix : ''), spoil(bytes, flips, cut));
          for (const file of await source.list(folder.path)) {
            const outcome = await source.read(file, { place });
            expect(outcome.sessions.length).toBeLessThanOrEqual(4);
            expect(Number.isSafeInteger(outcome.position)).toBe(true);
          }
        }),
        { numRuns: 40 },
      );
    },
  );
});
