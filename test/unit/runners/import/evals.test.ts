import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadWorkspaceTasks, toEvals, type WorkspaceTaskInput } from '../../../../src/public/runners.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { fixture, loadFixture } from './work-imports.ts';

describe('evals of skill-creator as tasks in a workspace', () => {
  it('keep their id, their prompt, their files and all statements', async () => {
    const { tasks, leftOut } = await loadFixture('evals/orders/evals/evals.json');
    expect(tasks['1']).toMatchObject({
      prompt: 'Sum the prices in data/orders.csv into total.txt.',
      files: { 'data/orders.csv': 'item,price\nlamp,12\nchair,30\n' },
      rubric: [
        'What came out fits this description: total.txt holds 42',
        'The file total.txt is there',
        'The sum is 42',
      ],
    });
    expect(tasks['2']).toMatchObject({ binaries: { 'data/logo.bin': 'AP8BAg==' } });
    expect(tasks['3']).toMatchObject({ rubric: ['It says 2'], files: { 'data/orders.csv': expect.any(String) } });
    expect(leftOut).toEqual([]);
  });

  it('are found in the folder of the skill, under either name of the statements', async () => {
    const { tasks } = await loadFixture('evals/letters');
    expect(tasks['7']?.rubric).toEqual(['What came out fits this description: A letter', 'It names the landlord']);
  });

  it('name what is not carried', async () => {
    const { evals } = JSON.parse(readFileSync(fixture('evals/odd/evals/evals.json'), 'utf8'));
    using folder = tempFolder({
      'evals/evals.json': JSON.stringify({
        license: 'none',
        evals: [{ id: 4, prompt: 'Go.', expectations: ['Gone'] }, ...evals],
      }),
    });
    const { rows, leftOut } = await loadWorkspaceTasks(join(folder.path, 'evals/evals.json'));
    expect(rows.map(({ value }) => value.id)).toEqual(['4']);
    expect(leftOut.map(({ where, what, why }) => `${where} | ${what} | ${why}`)).toEqual([
      'license | license | nothing here does it',
      'evals[1].files[0] | a file | ../elsewhere.txt does not lie below the folder of the skill',
      'evals[1].grader | grader | nothing here does it',
      'evals[3] | an eval | it has neither statements nor an expected output to be judged by',
      'evals[1] | the eval 1 | ../elsewhere.txt does not lie below the folder of the skill',
      'evals[2] | the eval 2 | gone.txt does not exist',
    ]);
  });

  it('are refused where they say when a skill is used', async () => {
    using folder = tempFolder({ 'evals/evals.json': '[{"query": "sum", "should_trigger": true}]' });
    await expect(loadWorkspaceTasks(join(folder.path, 'evals/evals.json'))).rejects.toThrow('tasks were expected');
  });
});

const readBack = async (tasks: readonly WorkspaceTaskInput[]) => {
  const { evals, contents } = toEvals(tasks, 'any');
  using folder = tempFolder({ 'evals/evals.json': JSON.stringify(evals) });
  const all = [
    ...Object.entries(contents.files ?? {}),
    ...Object.entries(contents.binaries ?? {}).map(([path, text]) => [path, Buffer.from(text, 'base64')] as const),
  ];
  for (const [path, content] of all) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), content);
  }
  return (await loadWorkspaceTasks(join(folder.path, 'evals/evals.json'))).rows.map(({ value }) => value);
};

describe('tasks written as evals', () => {
  it('are the same file again', () => {
    const path = fixture('evals/orders/evals/evals.json');
    return loadWorkspaceTasks(path).then(({ rows }) => {
      const { evals, leftOut } = toEvals(
        rows.map(({ value }) => value),
        'orders',
      );
      const written = JSON.parse(readFileSync(path, 'utf8'));
      written.evals[2].files = ['data/orders.csv'];
      expect(evals).toEqual(written);
      expect(leftOut).toEqual([]);
    });
  });

  it('are the same tasks when they are read', async () => {
    const line = fc.string({ minLength: 1, unit: 'grapheme' }).map((text) => `a${text}`.trim());
    const task = fc.record({
      prompt: line,
      rubric: fc.uniqueArray(line, { minLength: 1, maxLength: 4 }),
      expected: fc.option(line, { nil: undefined }),
      path: fc.constantFrom('a.txt', 'data/b.txt', 'evals/files/c.bin'),
      content: fc.uint8Array({ maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(task, { minLength: 1, maxLength: 4 }), async (drawn) => {
        const tasks = drawn.map(({ prompt, rubric, expected, path, content }, index) => ({
          id: index % 2 ? String(index) : `task ${index}`,
          prompt,
          rubric: [...(expected === undefined ? [] : [`What came out fits this description: ${expected}`]), ...rubric],
          ...contentOf(`${index}/${path}`, content),
        }));
        const expected = tasks.map((one) => ({ ...one, assertions: [], keepHistory: false }));
        expect(await readBack(tasks)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  it('name what evals cannot say', () => {
    const { leftOut, evals } = toEvals(
      [
        { id: 'a', prompt: 'Do it.', verify: 'true' },
        { id: 'b', prompt: 'Do it.', rubric: ['Done'], setup: 'true', files: { 'x.txt': '1' } },
        {
          id: 'c',
          prompt: 'Do it.',
          rubric: ['Done'],
          assertions: [{ type: 'exit_success' }],
          files: { 'x.txt': '2' },
        },
      ],
      'any',
    );
    expect(evals.evals).toHaveLength(2);
    expect(leftOut.map(({ where, what }) => `${where} ${what}`)).toEqual([
      'a the task',
      'b setup',
      'b x.txt',
      'c assertions',
    ]);
  });
});

/** As it will be read: what is no text is in base64. */
function contentOf(path: string, bytes: Uint8Array) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return { files: { [path]: text } };
  } catch {}
  return { binaries: { [path]: Buffer.from(bytes).toString('base64') } };
}
