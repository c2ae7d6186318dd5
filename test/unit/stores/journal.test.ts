import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { inspect, promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/core/run/index.ts';
import { plural } from '../../../src/core/text/index.ts';
import { openJournal, readJournal } from '../../../src/stores/run/journal.ts';
import { programArgs } from '../../support/compiled.ts';
import { stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

/** As an earlier version wrote it, without a check. */
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

  it('takes an empty file for a run that begins, unless the run has come further', async () => {
    await using journal = await journalOf('');
    expect(await readJournal(journal.path)).toEqual([]);
    await writeFile(join(journal.path, '../summary.json'), '{}');
    await expect(readJournal(journal.path)).rejects.toMatchObject({
      code: 'JOURNAL_CORRUPT',
      message: expect.stringContaining('which has a summary.json, but it is empty'),
    });
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
  ])('names file and line when a line in the middle %s, and changes nothing', async (_, line) => {
    const text = `${linesOf(1)}${line}\n${linesOf(3)}`;
    await using journal = await journalOf(text);
    const error = await readJournal(journal.path).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'JOURNAL_CORRUPT', hint: expect.stringContaining('move this run away') });
    const got = line === '' ? 'an empty line' : `a line of ${plural(line.length, 'character')}`;
    expect(error.message).toMatch(/events\.jsonl:2 must be a JSON object with a "type" that this version knows, got /);
    expect(error.message.endsWith(`, got ${got}`)).toBe(true);
    expect(await readFile(journal.path, 'utf8')).toBe(text);
  });

  it.each([
    'AWS_SECRET=abcd',
    '{"AWS_SECRET":"abcd"}',
    '"AWS_SECRET=abcd"',
    '{"type":"AWS_SECRET=abcd"}',
    '["AWS_SECRET"]',
  ])('quotes no word of a line that is not ours: %s', async (line) => {
    await using journal = await journalOf(`${line}\n`);
    const error = await readJournal(journal.path).catch((thrown) => thrown);
    expect(error.code).toBe('JOURNAL_CORRUPT');
    expect(inspect(error)).not.toMatch(/AWS|abcd/); // its cause included
  });

  it('says of a damaged first line nothing about lines before it, of which there are none', async () => {
    await using journal = await journalOf('');
    for (const step of [1, 2]) await appendAfter(journal.path, stepEnd(step));
    const text = await readFile(journal.path, 'utf8');
    await writeFile(journal.path, text.replace('"step":1', '"step":7'));
    const first = readJournal(journal.path);
    await expect(first).rejects.toThrow(/events\.jsonl:1 is damaged: it should have the check/);
    await writeFile(journal.path, text.replace('"step":2', '"step":7'));
    await expect(readJournal(journal.path)).rejects.toThrow(/:2 is damaged, or a line before it was changed/);
  });

  it('names line ends that were turned into CRLF as such', async () => {
    await using journal = await journalOf('');
    for (const step of [1, 2]) await appendAfter(journal.path, stepEnd(step));
    await writeFile(journal.path, (await readFile(journal.path, 'utf8')).replaceAll('\n', '\r\n'));
    const failure = { code: 'JOURNAL_CORRUPT', message: expect.stringContaining(':1 ends with CRLF') };
    await expect(readJournal(journal.path)).rejects.toMatchObject(failure);
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

  it.each(['journal-v1.jsonl', 'journal-v1-whole.jsonl'])('reads what earlier versions wrote: %s', async (name) => {
    const text = await readFile(new URL(`../../pins/${name}`, import.meta.url), 'utf8');
    await using journal = await journalOf(text);
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(await readJournal(journal.path)).toEqual(events);
  });

  it.each([
    ['step-end', { action: undefined }, 'action'],
    ['step-end', { usage: undefined }, 'usage'],
    ['step-end', { usage: { rollout: null } }, 'usage'],
    ['stage-end', { step: 1, stage: 'dream' }, 'stage'],
    ['stage-end', { step: 1, stage: 'rollout' }, 'evaluation'],
    ['baseline-end', { score: 1, evaluation: { hard: 1, soft: 1, scores: [null] } }, 'evaluation'],
  ])('says which field of a known event is missing or of another kind: %s %j', async (type, fields, name) => {
    await using journal = await journalOf(lineOf({ ...stepEnd(1), type, ...fields } as unknown as RunEvent));
    await expect(readJournal(journal.path)).rejects.toMatchObject({
      code: 'JOURNAL_CORRUPT',
      message: expect.stringContaining(`events.jsonl:1 must be a whole ${type}, but its "${name}" is missing`),
    });
  });
});

describe('writing a journal', () => {
  it('drops a line that a crash tore, and appends after it', async () => {
    await using journal = await journalOf(`${linesOf(1, 2)}{"type":"step-e`);
    await appendAfter(journal.path, stepEnd(3));
    expect(await readJournal(journal.path)).toEqual([1, 2, 3].map(stepEnd));
    expect(await readFile(journal.path, 'utf8')).toContain(`${linesOf(1, 2)}{"type":"step-end"`);
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
    expect(await readJournal(journal.path)).toEqual([stepEnd(1)]);
  });

  it('leaves no empty file behind, and never removes one with a line', async () => {
    await using journal = await journalOf('');
    await (await openJournal(journal.path)).close();
    await expect(readFile(journal.path)).rejects.toMatchObject({ code: 'ENOENT' });
    await appendAfter(journal.path, stepEnd(1));
    await (await openJournal(journal.path)).close();
    expect(await readJournal(journal.path)).toEqual([stepEnd(1)]);
  });

  it('waits for what is being written before it closes', async () => {
    await using journal = await journalOf('');
    const writer = await openJournal(journal.path);
    const appended = writer.append(stepEnd(1));
    await writer.close();
    await appended;
    expect(await readJournal(journal.path)).toEqual([stepEnd(1)]);
  });

  it.skipIf(process.platform === 'win32')('writes nothing more once the disk was full, and resumes later', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'events.jsonl');
    const child = programArgs(new URL('./full-journal.child.ts', import.meta.url));
    const args = ['-c', 'ulimit -f 1; exec "$@"', 'bash', process.execPath, ...child, path];
    const [first, second] = JSON.parse((await promisify(execFile)('bash', args)).stdout);
    expect(first).toMatchObject({
      code: 'RUN_UNWRITABLE',
      message: expect.stringMatching(/a file would be larger than this process may write \(EFBIG/),
    });
    expect(second).toEqual(first);
    const before = await readJournal(path);
    expect(before.length).toBeGreaterThan(0);
    await appendAfter(path, stepEnd(99));
    expect(await readJournal(path)).toEqual([...before, stepEnd(99)]);
  });

  it.each([
    ['deleted', (path: string) => rm(path)],
    ['moved', (path: string) => rename(path, `${path}.elsewhere`)],
    ['replaced', (path: string) => rename(path, `${path}.old`).then(() => writeFile(path, linesOf(1)))],
    ['changed', (path: string) => appendFile(path, linesOf(7))],
    ['changed', (path: string) => truncate(path, 0)],
  ])('notices at the next event that the file was %s', async (what, harm) => {
    await using journal = await journalOf('');
    const writer = await openJournal(journal.path);
    await writer.append(stepEnd(1));
    await harm(journal.path);
    const failure = { code: 'RUN_UNWRITABLE', message: expect.stringContaining(what) };
    await expect(writer.append(stepEnd(2))).rejects.toMatchObject(failure);
    await expect(writer.append(stepEnd(3))).rejects.toMatchObject(failure);
    await writer.close();
  });

  it('does not follow a link', async () => {
    await using folder = await temporaryDirectory();
    const [path, elsewhere] = [join(folder.path, 'events.jsonl'), join(folder.path, 'elsewhere')];
    await symlink(elsewhere, path);
    await expect(openJournal(path)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(readFile(elsewhere)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keeps up with a reader that follows it', async () => {
    await using journal = await journalOf(linesOf(1));
    await appendFile(journal.path, lineOf(stepEnd(2)).slice(0, 20));
    expect(await readJournal(journal.path)).toHaveLength(1);
    await appendFile(journal.path, lineOf(stepEnd(2)).slice(20));
    expect(await readJournal(journal.path)).toHaveLength(2);
  });
});
