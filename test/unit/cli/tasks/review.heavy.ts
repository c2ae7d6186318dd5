import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasTerminal, KEYS, runOnTerminal, type Typed } from '../clone-terminal.ts';
import { worldFolder } from './world-folder.ts';

const { enter, down, ctrlC } = KEYS;
const drop = [down, enter];
const edit = [down, down, enter];
const skip = [down, down, down, enter];
const quit = [down, down, down, down, enter];

const drafted = (row: object) => ({ taskType: 'sums', why: 'Adding.', ...row, drafted: true, reviewed: false });
const SUMS = ['A', 'B', 'C', 'D'].map((id) =>
  drafted({ id, question: `What is ${id}?`, answers: [`${id}1`, `${id}2`] }),
);
const LONG = drafted({
  question: `A customer writes:\n\n${'The lid of the teapot broke on the first day. '.repeat(40)}\n\nWrite the reply.`,
  judge: {
    kind: 'rubric',
    criteria: Array.from({ length: 12 }, (_, at) => `Says thing ${at} ${'and more '.repeat(10)}`),
  },
  taskType: 'complaints',
  why: 'Whether the reply offers the choice that references/returns.md gives.',
  doubtful: true,
});

const folderWith = (...rows: object[]) =>
  worldFolder({ 'tasks.jsonl': rows.map((row) => `${JSON.stringify(row)}\n`).join('') });
type Folder = ReturnType<typeof worldFolder>;

const at = (place: string): RegExp => new RegExp(`${place}[\\s\\S]*quit`);

async function review({ path }: Folder, typed: readonly Typed[], env: Record<string, string> = {}) {
  const started = { cwd: path, env: { HOME: path, ...env }, size: [80, 24] as const };
  const { screen, ...end } = await runOnTerminal(['tasks', 'review'], started, typed);
  return { ...end, screen: stripVTControlCharacters(screen).replaceAll('\r', '') };
}

const states = (folder: Folder) => folder.rows().map(({ id, reviewed }) => `${id} ${reviewed}`);

describe.skipIf(!hasTerminal)('tasks review, on a terminal', () => {
  it('writes nothing when the file is gone in the meantime', async () => {
    using folder = folderWith(...SUMS.slice(0, 2));
    folder.write('editor', `#!/bin/sh\nrm '${join(folder.path, 'tasks.jsonl')}'\n`);
    chmodSync(join(folder.path, 'editor'), 0o755);
    const typed: Typed[] = [[at('1 of 2'), ...edit]];
    const { code, screen } = await review(folder, typed, { EDITOR: join(folder.path, 'editor') });
    expect([code, existsSync(join(folder.path, 'tasks.jsonl'))], screen).toEqual([2, false]);
    expect(screen).toContain('this task is no longer in');
  });

  it('keeps, drops, edits in the editor of the person, and skips', async () => {
    using folder = folderWith(...SUMS);
    folder.write('editor', '#!/bin/sh\nsed -i "s/What is C/What, then, is C/" "$1"\n');
    chmodSync(join(folder.path, 'editor'), 0o755);
    const typed: Typed[] = [
      [at('1 of 4'), enter],
      [at('2 of 4'), ...drop],
      [at('3 of 4'), ...edit],
      [at('4 of 4'), ...skip],
    ];
    const { code, screen, untyped } = await review(folder, typed, { EDITOR: join(folder.path, 'editor') });
    expect([code, untyped], screen).toEqual([0, 0]);
    expect(states(folder)).toEqual(['A true', 'C true', 'D false']);
    expect(folder.rows()[1]).toMatchObject({ question: 'What, then, is C?', why: 'Adding.', drafted: true });
    expect(folder.rows('tasks.dropped.jsonl')).toMatchObject([{ id: 'B' }]);
    expect(screen).toContain('1 kept, 1 edited, 1 dropped, 1 not reviewed yet');
    expect(screen).toMatch(/next: {2}node \S*skillopt.mjs tasks review\s+the rest/);
  });

  it.each([
    ['quit', quit, 0],
    ['Ctrl-C', [ctrlC], 130],
  ] as const)('%s loses nothing, and the next review begins where this one ended', async (_, keys, ends) => {
    using folder = folderWith(...SUMS);
    const typed: Typed[] = [
      [at('1 of 4'), enter],
      [at('2 of 4'), ...drop],
      [at('3 of 4'), ...keys],
    ];
    const { code, untyped, screen } = await review(folder, typed);
    expect([code, untyped], screen).toEqual([ends, 0]);
    expect(states(folder)).toEqual(['A true', 'C false', 'D false']);
    const { tasks } = (await folder.cli('tasks', 'review', '--json')).json();
    expect(tasks).toMatchObject([{ id: 'C' }, { id: 'D' }]);
  });

  it('what is no task after it was edited is asked about again, with what was typed', async () => {
    using folder = folderWith(...SUMS.slice(0, 1));
    const script = `#!/bin/sh
if grep -q mine "$1"; then sed -i 's/^{ mine/{/' "$1"; else sed -i '1s/{/{ mine/; s/What is A/Who is A/' "$1"; fi
`;
    folder.write('editor', script);
    chmodSync(join(folder.path, 'editor'), 0o755);
    const typed: Typed[] = [
      [at('1 of 1'), ...edit],
      [/this is no task: expected JSON[\s\S]*1 of 1[\s\S]*quit/, ...edit],
    ];
    const { code, screen, untyped } = await review(folder, typed, { EDITOR: join(folder.path, 'editor') });
    expect([code, untyped], screen).toEqual([0, 0]);
    expect(folder.rows()).toMatchObject([{ question: 'Who is A?', reviewed: true }]);
  });

  it('shows kind, question, scoring and why of the longest task with the choices on one screen', async () => {
    using folder = folderWith(LONG);
    const { screen } = await review(folder, [[at('1 of 1'), ...quit]]);
    const shown = screen.slice(screen.indexOf('kind '), screen.indexOf('└')).split('\n');
    expect(shown.length).toBeLessThan(24);
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(80);
    const text = shown.join('\n');
    expect(text).toMatch(/^kind +complaints$/m);
    expect(text).toMatch(/^doubtful +independent solutions/m);
    expect(text).toMatch(/^question +A customer writes:$/m);
    expect(text).toMatch(/^scored by +rubric:\n +- Says thing 0/m);
    expect(text).toMatch(/^why +Whether the reply offers/m);
    expect(text).toMatch(/… \d+ more lines: edit shows all of them/);
    expect(text).toContain('quit; what you decided is saved');
  });
});
