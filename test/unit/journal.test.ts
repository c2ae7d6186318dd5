import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/core/event.ts';
import { openJournal, readJournal } from '../../src/stores/journal.ts';
import { stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

const lineOf = (event: RunEvent) => `${JSON.stringify(event)}\n`;
const linesOf = (...steps: number[]) => steps.map((step) => lineOf(stepEnd(step))).join('');

async function journalOf(text: string) {
  const folder = await temporaryDirectory();
  const path = join(folder.path, 'events.jsonl');
  await writeFile(path, text);
  return { path, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
}

async function appendAfter(path: string, event: RunEvent) {
  const journal = await openJournal(path);
  await journal.append(event);
  await journal.close();
}

describe('reading a journal', () => {
  it('takes a missing file, and one below a file, for a run without events', async () => {
    await using journal = await journalOf('');
    expect(await readJournal(`${journal.path}.missing`)).toEqual([]);
    expect(await readJournal(join(journal.path, 'below'))).toEqual([]);
  });

  it('leaves out a line that a crash tore, and leaves its bytes alone', async () => {
    const text = `${linesOf(1, 2)}{"type":"step-e`;
    await using journal = await journalOf(text);
    expect(await readJournal(journal.path)).toEqual([1, 2].map(stepEnd));
    expect(await readFile(journal.path, 'utf8')).toBe(text);
  });

  it('leaves out a last line that lacks only its newline', async () => {
    await using journal = await journalOf(linesOf(1, 2).trimEnd());
    expect(await readJournal(journal.path)).toEqual([stepEnd(1)]);
  });

  it.each([
    ['is not JSON', '{"type":"step-end",,}'],
    ['is empty', ''],
    ['is no object', '17'],
    ['is null', 'null'],
    ['has no type', '{"step":1}'],
    ['has a type that is no text', '{"type":7}'],
    ['has a type that nobody knows', '{"type":"step-begin"}'],
    ['has the name of a method for a type', '{"type":"toString"}'],
    ['ends a stage that nobody knows', '{"type":"stage-end","stage":"dream"}'],
  ])('names file and line when a line in the middle %s, and changes nothing', async (_, line) => {
    const text = `${linesOf(1)}${line}\n${linesOf(3)}`;
    await using journal = await journalOf(text);
    const error = await readJournal(journal.path).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'JOURNAL_CORRUPT', hint: expect.stringContaining('move this run away') });
    expect(error.message).toContain(`events.jsonl:2 must be a JSON object with a "type" that this version knows, got `);
    expect(await readFile(journal.path, 'utf8')).toBe(text);
  });

  it('shows a path below the working directory the short way', async () => {
    await using journal = await journalOf('{}\n');
    const before = process.cwd();
    process.chdir(join(journal.path, '../..'));
    try {
      const shown = relative('', journal.path);
      await expect(readJournal(journal.path)).rejects.toThrow(new RegExp(`^${shown}:1 must be`));
    } finally {
      process.chdir(before);
    }
  });

  it('says so when there is something that cannot be read', async () => {
    await using folder = await temporaryDirectory();
    await mkdir(join(folder.path, 'events.jsonl'));
    const reading = readJournal(join(folder.path, 'events.jsonl'));
    await expect(reading).rejects.toMatchObject({
      code: 'JOURNAL_CORRUPT',
      message: expect.stringContaining('EISDIR'),
    });
  });

  it('knows every type and stage', async () => {
    const types = ['run-start', 'baseline-end', 'step-start', 'step-end', 'test-end', 'run-end'].map((type) => ({
      type,
    }));
    const stages = ['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate'];
    const events = [...types, ...stages.map((stage) => ({ type: 'stage-end', stage }))];
    await using journal = await journalOf(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    expect(await readJournal(journal.path)).toEqual(events);
  });
});

describe('writing a journal', () => {
  it('drops a line that a crash tore, and appends after it', async () => {
    await using journal = await journalOf(`${linesOf(1, 2)}{"type":"step-e`);
    await appendAfter(journal.path, stepEnd(3));
    expect(await readFile(journal.path, 'utf8')).toBe(linesOf(1, 2, 3));
  });

  it('drops a torn line of any size, after lines of any size', async () => {
    const large = { ...stepEnd(1), at: 'x'.repeat(200_000) };
    await using journal = await journalOf(`${lineOf(large)}${'y'.repeat(200_000)}`);
    await appendAfter(journal.path, stepEnd(2));
    expect(await readJournal(journal.path)).toEqual([large, stepEnd(2)]);
  });

  it('drops a first line that was torn', async () => {
    await using journal = await journalOf('{"type":"run-st');
    await appendAfter(journal.path, stepEnd(1));
    expect(await readFile(journal.path, 'utf8')).toBe(linesOf(1));
  });

  it('leaves no empty file behind, and never removes one with a line', async () => {
    await using journal = await journalOf('');
    await (await openJournal(journal.path)).close();
    await expect(readFile(journal.path)).rejects.toMatchObject({ code: 'ENOENT' });
    await appendAfter(journal.path, stepEnd(1));
    await (await openJournal(journal.path)).close();
    expect(await readFile(journal.path, 'utf8')).toBe(linesOf(1));
  });

  it('waits for what is being written before it closes', async () => {
    await using journal = await journalOf('');
    const writer = await openJournal(journal.path);
    const appended = writer.append(stepEnd(1));
    await writer.close();
    await appended;
    expect(await readJournal(journal.path)).toEqual([stepEnd(1)]);
  });

  it.skipIf(process.platform !== 'linux')('writes nothing more once the disk was full', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'events.jsonl');
    await symlink('/dev/full', path);
    const writer = await openJournal(path);
    const failures = [writer.append(stepEnd(1)), writer.append(stepEnd(2))].map((append) =>
      append.catch((error) => error),
    );
    const [first, second] = await Promise.all(failures);
    expect(first).toMatchObject({
      code: 'RUN_UNWRITABLE',
      message: expect.stringMatching(/ENOSPC: no space left on device$/),
    });
    expect(second).toBe(first);
    await writer.close();
  });

  it('keeps up with a reader that follows it', async () => {
    await using journal = await journalOf(linesOf(1));
    await appendFile(journal.path, '{"type":');
    expect(await readJournal(journal.path)).toHaveLength(1);
    await appendFile(journal.path, '"run-end"}\n');
    expect(await readJournal(journal.path)).toHaveLength(2);
  });
});
