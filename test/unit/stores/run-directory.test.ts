import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runDirectory } from '../../../src/stores/index.ts';
import { stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

const allFiles = async (path: string) => (await readdir(path, { recursive: true })).sort();

describe('opening a run directory', () => {
  it('makes the folders on the way', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'runs', 'deep', 'one');
    await using run = await runDirectory(path).open();
    await run.append(stepEnd(1));
    expect(await runDirectory(path).read()).toEqual([stepEnd(1)]);
  });

  it('stays in its folder when the program goes elsewhere', async () => {
    await using folder = await temporaryDirectory();
    const before = process.cwd();
    process.chdir(folder.path);
    try {
      await using run = await runDirectory('one').open();
      process.chdir(before);
      await run.append(stepEnd(1));
      await run.writeViews({ 'a.md': 'a' });
    } finally {
      process.chdir(before);
    }
    expect(await readdir(join(folder.path, 'one'))).toEqual(['a.md', 'cache', 'events.jsonl']);
  });

  it('says that a path below a file cannot be written, with a hint', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'file'), 'mine');
    const opening = runDirectory(join(folder.path, 'file', 'run')).open();
    const message = expect.stringMatching(/run cannot be written: ENOTDIR: not a directory$/);
    await expect(opening).rejects.toMatchObject({
      code: 'RUN_UNWRITABLE',
      message,
      hint: expect.stringContaining('outRoot'),
    });
    expect(await readFile(join(folder.path, 'file'), 'utf8')).toBe('mine');
  });

  it('says that a file cannot be a run', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'file'), 'mine');
    await expect(runDirectory(join(folder.path, 'file')).open()).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
  });

  it('leaves no folder behind when the last of them cannot be made', async () => {
    await using folder = await temporaryDirectory();
    const opening = runDirectory(join(folder.path, 'new', 'newer', 'x'.repeat(300))).open();
    await expect(opening).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('gives back what it took when a later part fails', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'cache'), 'in the way');
    const store = runDirectory(folder.path);
    await expect(store.open()).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    expect(await readdir(folder.path)).toEqual(['cache']);
    await rm(join(folder.path, 'cache'));
    await using _run = await store.open();
  });

  it('reports a damaged journal before it changes anything', async () => {
    await using folder = await temporaryDirectory();
    const text = `${JSON.stringify(stepEnd(1))}\nnot an event\n{"torn`;
    await writeFile(join(folder.path, 'events.jsonl'), text);
    const store = runDirectory(folder.path);
    await expect(store.open()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    await expect(store.read()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    expect(await readdir(folder.path)).toEqual(['events.jsonl']);
    expect(await readFile(join(folder.path, 'events.jsonl'), 'utf8')).toBe(text);
  });

  it('releases the run even when its journal can no longer be closed properly', async () => {
    await using folder = await temporaryDirectory();
    const run = await runDirectory(folder.path).open();
    await rm(join(folder.path, 'events.jsonl'));
    await mkdir(join(folder.path, 'events.jsonl'));
    await expect(run[Symbol.asyncDispose]()).rejects.toThrow();
    expect(await readdir(folder.path)).toEqual(['cache', 'events.jsonl']);
  });
});

describe('views of a run directory', () => {
  it('are written with their subfolders, over older ones, without drafts left', async () => {
    await using folder = await temporaryDirectory();
    await using run = await runDirectory(folder.path).open();
    await run.writeViews({ 'best_skill.md': 'old', 'steps/step_0001/step_record.json': '{}' });
    await run.writeViews({ 'best_skill.md': 'new' });
    expect(await readFile(join(folder.path, 'best_skill.md'), 'utf8')).toBe('new');
    expect(await readFile(join(folder.path, 'steps/step_0001/step_record.json'), 'utf8')).toBe('{}');
    expect((await allFiles(folder.path)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it('are whole to anyone who reads at the same time', async () => {
    await using folder = await temporaryDirectory();
    await using run = await runDirectory(folder.path).open();
    const texts = ['a', 'b'].map((letter) => letter.repeat(1_000_000));
    await run.writeViews({ 'best_skill.md': texts[0]! });
    const isWritten = Promise.all(
      Array.from({ length: 20 }, (_, turn) => run.writeViews({ 'best_skill.md': texts[turn % 2]! })),
    );
    for (let read = 0; read < 40; read += 1) {
      const text = await readFile(join(folder.path, 'best_skill.md'), 'utf8');
      expect(texts.includes(text), `${text.length} characters`).toBe(true);
    }
    await isWritten;
    expect(await readFile(join(folder.path, 'best_skill.md'), 'utf8')).toBe(texts[1]);
  });

  it.each(['../escaped.md', 'steps/../../escaped.md', '/escaped.md', '..', '.', ''])(
    'stay within it: %j is refused, and nothing is written',
    async (name) => {
      await using folder = await temporaryDirectory();
      const path = join(folder.path, 'run');
      await using run = await runDirectory(path).open();
      const writing = run.writeViews({ 'fine.md': 'fine', [name]: 'escaped' });
      await expect(writing).rejects.toMatchObject({
        code: 'RUN_UNWRITABLE',
        message: expect.stringContaining(`"${name}"`),
      });
      expect(await readdir(folder.path)).toEqual(['run']);
      expect(await readdir(path)).not.toContain('fine.md');
    },
  );

  it('can be written after one failed', async () => {
    await using folder = await temporaryDirectory();
    await using run = await runDirectory(folder.path).open();
    await writeFile(join(folder.path, 'steps'), 'in the way');
    await expect(run.writeViews({ 'steps/a.md': 'a' })).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    await run.writeViews({ 'a.md': 'a' });
    expect(await readFile(join(folder.path, 'a.md'), 'utf8')).toBe('a');
  });
});
