import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { emptyRun, type RunEvent, reduce, SkillOptTrainer, summarize } from 'skillopt';
import { beforeAll, describe, expect, it } from 'vitest';
import { openJournal, readJournal } from '../../../src/stores/run/journal.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';
import { temporaryDirectory } from '../../unit/stores/run-directory.fixture.ts';

const NEWLINE = 0x0a;

/** The journal of a real run, and the same with its first lines as an earlier version wrote them. */
const journals: Record<'of today' | 'begun by an earlier version', Buffer> = {
  'of today': Buffer.alloc(0),
  'begun by an earlier version': Buffer.alloc(0),
};
let events: RunEvent[] = [];

beforeAll(async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'events.jsonl');
  const train = (signal?: AbortSignal) => {
    const config = { outRoot: folder.path, numEpochs: 2, batchSize: 3 };
    const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
    return new SkillOptTrainer({ env: levelsEnv(), ...models, config, ...(signal ? { signal } : {}) }).train();
  };
  await train();
  journals['of today'] = await readFile(path);
  events = await readJournal(path);
  const early = events.slice(0, Math.floor(events.length / 2)).map(asBefore);
  await writeFile(path, early.map((event) => `${JSON.stringify(event)}\n`).join(''));
  await train();
  journals['begun by an earlier version'] = await readFile(path);
});

/** Earlier versions counted neither replies nor answers. */
const asBefore = ({ counted: _counted, answers: _answers, ...event }: RunEvent): RunEvent => event;

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const at = (part: number, length: number) => Math.floor(part * length);
const outcome = async (path: string, bytes: Buffer) => {
  await writeFile(path, bytes);
  return readJournal(path).catch((error) => error.code);
};
const linesOf = (bytes: Buffer) => bytes.toString('utf8').trimEnd().split('\n');
const toBytes = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));

describe.each(['of today', 'begun by an earlier version'] as const)('a journal %s', (which) => {
  it('is read as it was written', async () => {
    await using folder = await temporaryDirectory();
    const read = await outcome(join(folder.path, 'events.jsonl'), journals[which]);
    expect(read).toHaveLength(events.length);
  });

  it('with any one bit flipped is known to be damaged, or lacks a torn last line', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'events.jsonl');
    const whole = journals[which];
    const property = fc.asyncProperty(place, fc.nat(7), async (part, bit) => {
      const damaged = Buffer.from(whole);
      damaged[at(part, whole.length)]! ^= 1 << bit;
      const expected = damaged.at(-1) === NEWLINE ? 'JOURNAL_CORRUPT' : expect.any(Array);
      expect(await outcome(path, damaged)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  it('with a line lost or two swapped is known to be damaged', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'events.jsonl');
    const lines = linesOf(journals[which]);
    const property = fc.asyncProperty(place, place, async (a, b) => {
      const [one, other] = [at(a, lines.length - 1), at(b, lines.length)];
      expect(await outcome(path, toBytes(lines.toSpliced(one, 1)))).toBe('JOURNAL_CORRUPT');
      if (one === other) return;
      const swapped = lines.with(one, lines[other]!).with(other, lines[one]!);
      expect(await outcome(path, toBytes(swapped))).toBe('JOURNAL_CORRUPT');
    });
    await fc.assert(property, { numRuns: 50 });
  });
});

it('the only line of a journal is known to be damaged too, whatever its last field is', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'events.jsonl');
  for (const event of [events[0]!, asBefore(events[0]!)]) {
    const { append, close } = await openJournal(path);
    await append(event);
    await close();
    const line = await readFile(path);
    for (let bit = (line.length - 40) * 8; bit < (line.length - 1) * 8; bit += 1) {
      const damaged = Buffer.from(line);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(await outcome(path, damaged), `bit ${bit}`).toBe('JOURNAL_CORRUPT');
    }
    await rm(path);
  }
});

/** Every way to a value within a value. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [[...path, key], ...pathsOf(child, [...path, key])]);
}

function replaceAt(event: object, path: readonly string[], value: unknown): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<string, object>)[key]!, event);
  if (value === undefined && !Array.isArray(parent)) delete (parent as Record<string, unknown>)[path.at(-1)!];
  else (parent as Record<string, unknown>)[path.at(-1)!] = value;
}

it('a line without a check that lacks something, or has another kind of thing, is refused or can be folded', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'events.jsonl');
  const strange = fc.constantFrom(undefined, null, 7, 'text', [], {}, [null]);
  const property = fc.asyncProperty(place, place, strange, async (part, field, value) => {
    const damaged: RunEvent[] = structuredClone(events).map(asBefore);
    const event = damaged[at(part, damaged.length)]!;
    const paths = pathsOf(event).filter(([first]) => first !== 'config');
    replaceAt(event, paths[at(field, paths.length)]!, value);
    const read = await outcome(path, toBytes(damaged.map((each) => JSON.stringify(each))));
    if (read === 'JOURNAL_CORRUPT') return;
    expect(() => summarize((read as RunEvent[]).reduce(reduce, emptyRun))).not.toThrow();
  });
  await fc.assert(property, { numRuns: 200 });
});
