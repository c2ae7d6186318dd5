import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerOf, sleepHome } from '../../../support/sleep/sleep-home.ts';

describe('a .skilloptignore in a project', () => {
  it.each<[string, string, string[]]>([
    ['from another folder', 'blog', ['--all-projects']],
    ['from the folder above', '.', []],
    ['from a folder below', 'shop/src/deep', ['--project', '../..']],
    ['from the project', 'shop', []],
  ])('keeps its sessions out %s', async (_, cwd, flags) => {
    using home = sleepHome();
    mkdirSync(join(home.shop, 'src/deep'), { recursive: true });
    home.said({ id: 'top' });
    home.said({ id: 'below', cwd: join(home.shop, 'src/deep') });
    home.write('shop/.skilloptignore', '*\n');
    const options = { cwd: join(home.path, cwd) };
    expect(await answerOf(home, ['harvest', ...flags], options)).toMatchObject({ sessions: 0, ignored: 2 });
    expect(await answerOf(home, flags, options)).toMatchObject({ sessions: 0 });
  });

  it('keeps out sessions of a folder that is gone, and of one that is reached by a link', async () => {
    using home = sleepHome();
    symlinkSync(home.shop, join(home.path, 'link'));
    home.said({ id: 'gone', cwd: join(home.shop, 'was/here') });
    home.said({ id: 'linked', cwd: join(home.path, 'link') });
    home.said({ id: 'other', cwd: home.blog });
    home.write('shop/.skilloptignore', '*\n');
    const { tasks } = await answerOf(home, ['harvest', '--all-projects'], { cwd: home.blog });
    expect(tasks).toMatchObject([{ source_sessions: ['other'] }]);
  });

  it('that cannot be read keeps all of it out, and says so', async () => {
    using home = sleepHome();
    home.said();
    home.write('shop/.skilloptignore', '#'.repeat(70_000));
    const { code, out, err } = await home.run(['harvest']);
    expect(code).toBe(0);
    expect(out).toContain('1 session named in a .skilloptignore');
    expect(err).toMatch(/warning: .*shop\/\.skilloptignore cannot be read: .*nothing below .* is considered/);
  });

  it('does not undo what the person says of the whole machine', async () => {
    using home = sleepHome();
    home.said();
    home.write('shop/.skilloptignore', '!*\n');
    home.write('.skilloptignore', '*\n');
    expect(await answerOf(home, ['harvest'])).toMatchObject({ sessions: 0, ignored: 1 });
  });
});

describe('the home of somebody else', () => {
  const anna = '/home/anna/srv/shop';

  it('is not mine, though its name is not shown', async () => {
    using home = sleepHome();
    mkdirSync(join(home.path, 'work/shop'), { recursive: true });
    home.said({ cwd: anna });
    const mine = await answerOf(home, ['harvest', '--project', join(home.path, 'work/shop')]);
    expect(mine).toMatchObject({ sessions: 0, otherProjects: 1 });
    const hers = await answerOf(home, ['harvest', '--project', anna]);
    expect(hers).toMatchObject({ sessions: 1, tasks: [{ project: '~[user]/srv/shop' }] });
    const shown = await home.run(['run', '--plan', '--page', 'all', '--project', anna, '--target', 'simulated']);
    expect(shown.out).toContain('~[user]/srv/shop');
    expect(shown.out + JSON.stringify(hers)).not.toContain('anna');
  });

  it.each(['/home/anna', '/home/anna/srv/shop', 'anna'])('is left out by %s', async (line) => {
    using home = sleepHome();
    home.said({ cwd: anna });
    home.write('.skilloptignore', `${line}\n`);
    expect(await answerOf(home, ['harvest', '--all-projects'])).toMatchObject({ sessions: 0, ignored: 1 });
  });

  it('is not left out by what is said of mine', async () => {
    using home = sleepHome();
    home.said({ cwd: anna });
    home.write('.skilloptignore', '~/work\n');
    expect(await answerOf(home, ['harvest', '--all-projects'])).toMatchObject({ sessions: 1, ignored: 0 });
  });

  it('is purged by its own name', async () => {
    using home = sleepHome();
    home.said({ cwd: anna });
    await home.run([]);
    expect(await answerOf(home, ['purge', '--project', anna])).toEqual({ removed: { 'indexed files': 1 } });
  });
});

it('lines that do not do what they look like are named with their file and line', async () => {
  using home = sleepHome();
  home.said();
  const lines = [
    '# mine',
    'sesion:abc',
    'source:claud',
    'session:',
    '!',
    '~anna/x',
    'source:Copilot_CLI',
    'source:c*',
    'C:/x',
  ];
  home.write('.skilloptignore', `${lines.join('\n')}\n`);
  const { code, err } = await home.run(['harvest']);
  expect(code).toBe(0);
  const warned = [...err.matchAll(/warning: .*\.skilloptignore:(\d+): (.*)/g)].map(
    ([, line, what]) => `${line} ${what}`,
  );
  expect(warned).toEqual([
    expect.stringMatching(/^2 expected source:, session:, task: or a folder, got sesion:.*session/),
    expect.stringMatching(/^3 expected one of claude, codex.*, got claud.*claude.*no effect/),
    expect.stringMatching(/^4 expected a name behind session:, got nothing/),
    expect.stringMatching(/^5 .*behind the !, got nothing/),
    expect.stringMatching(/^6 expected ~\/FOLDER or a whole path, got ~anna\/x/),
  ]);
});
