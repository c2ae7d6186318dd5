import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { harvest, openSessionIndex, type SessionIndex } from '../../../src/sleep/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { at, NOW, notesSource, placeAt } from '../../unit/sleep/notes-source.ts';

const HOUR = 3_600_000;
const FILES = ['a', 'b', 'c'];

type Change = { readonly file: string; readonly kind: string; readonly words: readonly string[] };

const change: fc.Arbitrary<Change> = fc.record({
  file: fc.constantFrom(...FILES),
  kind: fc.constantFrom('append', 'tear', 'rewrite', 'replace', 'truncate', 'delete', 'touch', 'rest'),
  words: fc.array(fc.constantFrom('one', 'two', 'three', 'äöü€'), { minLength: 1, maxLength: 3 }),
});

const lines = (words: readonly string[]) => words.map((word) => `/p\t${at(1)}\t${word}\n`).join('');

const changes: Record<string, (path: string, words: readonly string[]) => void> = {
  append: (path, words) => appendFileSync(path, lines(words)),
  tear: (path, words) => appendFileSync(path, lines(words).slice(0, -3)),
  rewrite: (path, words) => writeFileSync(path, lines(words)),
  replace(path, words) {
    writeFileSync(`${path}.tmp`, lines(words));
    renameSync(`${path}.tmp`, path);
  },
  truncate: (path) => existsSync(path) && truncateSync(path, Math.floor(statSync(path).size / 2)),
  delete: (path) => rmSync(path, { force: true }),
  touch: (path) => existsSync(path) && utimesSync(path, NOW / 1000, NOW / 1000),
  rest: () => undefined,
};

const digestsBy = async (home: string, index: SessionIndex, now: number) => {
  const source = notesSource(join(home, 'notes'));
  const { sessions, trouble } = await harvest({ sources: [source], place: placeAt(home), scope: 'all', index, now });
  return { sessions, trouble };
};

it('whatever happens to files, the index gives the digests that reading all of them gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
      async (nights) => {
        using home = tempFolder();
        mkdirSync(join(home.path, 'notes'));
        using index = await openSessionIndex(join(home.path, 'state'));
        for (const [night, list] of nights.entries()) {
          for (const { file, kind, words } of list) changes[kind]!(join(home.path, 'notes', `${file}.note`), words);
          // Clocks of files are those of this machine; ours is a little ahead of them, or a lot.
          const now = Date.now() + (night % 2) * HOUR;
          const grown = await digestsBy(home.path, index, now);
          using fresh = await openSessionIndex(join(home.path, `fresh-${night}`));
          expect(grown).toEqual(await digestsBy(home.path, fresh, now));
        }
      },
    ),
    { numRuns: 15 },
  );
});

it('a damaged index gives right digests, or is set aside and built again', async () => {
  using home = tempFolder();
  mkdirSync(join(home.path, 'notes'));
  for (let n = 0; n < 30; n += 1)
    writeFileSync(join(home.path, 'notes', `n${n}.note`), lines(['one', 'two', `three ${'x'.repeat(n * 20)}`]));
  const now = Date.now() + HOUR;
  const whole = join(home.path, 'whole');
  const truth = await (async () => {
    using index = await openSessionIndex(whole);
    return await digestsBy(home.path, index, now);
  })();
  const bytes = readFileSync(join(whole, 'index.db'));
  const damage = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(damage, fc.option(fc.nat(bytes.length), { nil: bytes.length }), async (flips, length) => {
      const folder = join(home.path, `damaged-${count++}`);
      mkdirSync(folder, { mode: 0o700 });
      const damaged = Buffer.from(bytes);
      for (const [place, byte] of flips) damaged[place] = byte;
      writeFileSync(join(folder, 'index.db'), damaged.subarray(0, length), { mode: 0o600 });
      const warnings: string[] = [];
      using index = await openSessionIndex(folder, { onWarning: (warning) => warnings.push(warning) });
      expect(await digestsBy(home.path, index, now)).toEqual(truth);
      const aside = readdirSync(folder).filter((name) => /corrupt-\d$/.test(name));
      expect(aside).toHaveLength(warnings.length);
    }),
    { numRuns: 30, examples: [[[[24, 0]], bytes.length - 4090]] },
  );
});
