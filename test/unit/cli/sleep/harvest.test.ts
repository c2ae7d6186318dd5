import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { readTasksFile } from '../../../../src/sleep/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { answerOf, hoursAgo, sleepHome, USUAL_TURNS } from '../../../support/sleep/sleep-home.ts';

const asking = (text: string) => [['user', text] as const, ...USUAL_TURNS.slice(1)];

describe('skillopt sleep harvest', () => {
  it('shows the tasks of this folder, what recurs, and what is elsewhere', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    home.said({ id: 'b', turns: asking('Add a discount field to the basket and test it well') });
    home.said({ id: 'c', cwd: home.blog });
    const { code, out, err } = await home.run(['harvest']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('2 tasks from 2 sessions, by rule: no model was asked.');
    expect(out).toMatch(/Add a discount field.* fail +train +1 +task_[0-9a-f]{12}/);
    expect(out).toContain('asked 2 times on 1 day');
    expect(out).toContain('1 session of other projects (--all-projects takes them)');
    expect(out).toContain('skillopt sleep harvest --output tasks.json');
    expect(out.split('\n').filter((line) => /task_/.test(line) && line.length > 80)).toEqual([]);
  });

  it.each<[string, string[], string[]]>([
    ['this folder', [], ['here']],
    ['another folder', ['--project', '../blog'], ['there']],
    ['a folder above', ['--project', '..'], ['here', 'there']],
    ['all', ['--all-projects'], ['elsewhere', 'here', 'there']],
    ['a moment on', ['--all-projects', '--since', hoursAgo(3)], ['here']],
    ['the last hours', ['--all-projects', '--lookback-hours', '8'], ['here', 'there']],
    ['some agents', ['--all-projects', '--source', 'codex,qwen'], []],
  ])('sessions of %s', async (_, flags, ids) => {
    using home = sleepHome();
    home.said({ id: 'here', endedHoursAgo: 2 });
    home.said({ id: 'there', endedHoursAgo: 5, cwd: home.blog });
    home.said({ id: 'elsewhere', endedHoursAgo: 20, cwd: '/srv/other' });
    const { tasks } = await answerOf(home, ['harvest', ...flags]);
    expect(tasks.flatMap((task: { source_sessions: string[] }) => task.source_sessions).sort()).toEqual(ids);
  });

  it('names the project of each task where there are several', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    expect((await home.run(['harvest', '--all-projects'])).out).not.toMatch(/^project/m);
    home.said({ id: 'b', cwd: home.blog });
    const { out } = await home.run(['harvest', '--all-projects'], { columns: 120 });
    expect(out).toMatch(/^project +task/m);
    expect(out).toMatch(/^~\/blog +Add a discount/m);
    expect(out).toContain('skillopt sleep harvest --output tasks.json --all-projects');
  });

  it('a moment may be in any zone, and must be in one', async () => {
    using home = sleepHome();
    home.said({ endedHoursAgo: 4 });
    const inZone = (hours: number) =>
      `${new Date(Date.parse(hoursAgo(hours)) + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;
    expect((await answerOf(home, ['harvest', '--since', inZone(5)])).sessions).toBe(1);
    expect((await answerOf(home, ['harvest', '--since', inZone(3)])).sessions).toBe(0);
    const { code, err } = await home.run(['harvest', '--since', '2026-01-31T10:00:00']);
    expect(code).toBe(2);
    expect(err).toContain('with its zone');
  });

  it.each([
    ['shop/.skilloptignore', '*'],
    ['.skilloptignore', '~/shop'],
    ['.skilloptignore', 'session:s-1'],
    ['.skilloptignore', 'source:claude'],
  ])('%s with %s keeps sessions out', async (file, line) => {
    using home = sleepHome();
    home.said();
    home.write(file, `${line}\n`);
    expect(await answerOf(home, ['harvest'])).toMatchObject({ sessions: 0, ignored: 1, tasks: [] });
    expect((await home.run(['harvest'])).out).toContain('1 session named in a .skilloptignore');
    expect(await answerOf(home, [])).toMatchObject({ sessions: 0 });
  });

  it('a session in which the person asked for it is not learned from', async () => {
    using home = sleepHome();
    home.said({ turns: [...USUAL_TURNS, ['user', 'Thanks. Don’t learn this.']] });
    expect(await answerOf(home, ['harvest'])).toMatchObject({ sessions: 0, leftOut: { 'asked-not-to': 1 } });
    expect((await home.run(['harvest'])).out).toContain('the person asked that nothing be learned');
  });

  it('--output writes a private file to review, and no cursor moves', async () => {
    using home = sleepHome();
    home.said();
    const { out, code } = await home.run(['harvest', '--output', 'tasks.json']);
    expect(code).toBe(0);
    expect(out).toContain('written: tasks.json');
    const file = join(home.shop, 'tasks.json');
    expect(home.mode(file)).toBe('600');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      format: 'skillopt_sleep.tasks.v1',
      reviewed: false,
      project: '~/shop',
      transcript_source: 'claude',
      n_sessions: 1,
    });
    const read = await readTasksFile(file);
    expect(read.file).toMatchObject({ reviewed: false, tasks: [{ intent: USUAL_TURNS[0]![1], project: '~/shop' }] });
    expect(existsSync(join(home.state, 'state.json'))).toBe(false);
    expect(await answerOf(home, ['harvest'])).toMatchObject({ sessions: 1, seen: 0 });
  });

  it('--output without a task says that there is nothing to run', async () => {
    using home = sleepHome();
    const { out, code } = await home.run(['harvest', '--output', 'tasks.json']);
    expect([code, out]).toEqual([0, expect.stringContaining('It has no task')]);
    expect(out).not.toContain('sleep run --tasks');
  });

  it('--output into a folder that is not there is an error with a hint', async () => {
    using home = sleepHome();
    home.said();
    const { code, err } = await home.run(['harvest', '--output', 'no/such/tasks.json']);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: .*tasks\.json cannot be written.*\nhint: /);
  });

  it('--output replaces only tasks that nobody has reviewed, unless it is forced to', async () => {
    using home = sleepHome();
    home.said();
    const to = (name: string, ...flags: string[]) => home.run(['harvest', '--output', name, ...flags]);
    expect((await to('t.json')).code).toBe(0);
    expect((await to('t.json')).code).toBe(0);
    const mine = {
      't.json': home.read('shop/t.json').replace('"reviewed": false', '"reviewed": true'),
      'package.json': '{}',
    };
    for (const [name, text] of Object.entries({ ...mine, 'notes.md': '# mine', 't.json.tmp': 'mine' })) {
      home.write(`shop/${name}`, text);
      const { code, err, out } = await to(name);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(
        /(holds tasks that you have reviewed|is no file of tasks, and would be lost)\nhint: .*--force/,
      );
      expect(home.read(`shop/${name}`)).toBe(text);
    }
    expect((await to('notes.md', '--force')).code).toBe(0);
    expect(home.read('shop/notes.md')).toContain('"reviewed": false');
    expect(home.read('shop/t.json.tmp')).toBe('mine');
  });

  it('--output refuses a link, a folder and a device, also by force', async () => {
    using home = sleepHome();
    home.said();
    home.write('victim', 'untouched');
    symlinkSync(join(home.path, 'victim'), join(home.shop, 'link.json'));
    mkdirSync(join(home.shop, 'folder'));
    for (const [name, kind] of Object.entries({ 'link.json': 'a link', folder: 'a folder', '/dev/null': 'a device' })) {
      const { code, err } = await home.run(['harvest', '--output', name, '--force']);
      expect(code).toBe(2);
      expect(err).toContain(`is ${kind}, and a file was expected`);
    }
    expect(home.read('victim')).toBe('untouched');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('--output - is the file on stdout, and all else on stderr', async () => {
    using home = sleepHome();
    home.said();
    const { code, out, err } = await home.run(['harvest', '--output', '-']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ format: 'skillopt_sleep.tasks.v1', reviewed: false, n_sessions: 1 });
    expect(err).toContain('1 task from 1 session');
    expect(existsSync(join(home.shop, '-'))).toBe(false);
    expect((await home.run(['harvest', '--output', '-', '--json'])).code).toBe(2);
  });

  it('train says what a file of such tasks is for', async () => {
    using home = sleepHome();
    home.said();
    const { out } = await home.run(['harvest', '--output', 'tasks.json']);
    expect(out.replace(/\s+/g, ' ')).toContain('Then npx skillopt sleep run --tasks tasks.json spends a night on it');
    const io = captureIo({ cwd: home.shop, env: home.env });
    expect(
      await runCli(['train', '--tasks', 'tasks.json', '--target', 'simulated', '--optimizer', 'simulated'], io),
    ).toBe(2);
    expect(io.err()).toContain('got tasks of npx skillopt sleep harvest');
    expect(io.err()).toContain('hint: They are for a night: npx skillopt sleep run --tasks FILE.');
  });

  it('errors in settings name the whole path of their file', async () => {
    using home = sleepHome();
    const file = home.write('shop/skillopt.config.yaml', 'sleep:\n  sed: 1\n');
    expect((await home.run(['harvest'])).err).toContain(`${file}:2: unknown key sed`);
    const from = await home.run(['harvest', '--project', '../blog', '--config', 'skillopt.config.yaml']);
    expect(from.err).toContain(`${file}:2: unknown key sed`);
  });

  it('keeps everything private: the folder and all files in it', async () => {
    using home = sleepHome();
    home.said();
    await home.run(['harvest']);
    expect(home.mode(home.state)).toBe('700');
    const modes = readdirSync(home.state).map((name) => `${name} ${home.mode(join(home.state, name))}`);
    expect(modes).toContain('index.db 600');
    expect(modes.filter((line) => !line.endsWith(' 600'))).toEqual([]);
  });
});

describe('skillopt sleep purge', () => {
  it('deletes what is kept and says what', async () => {
    using home = sleepHome();
    home.said();
    await home.run([]);
    const { code, out } = await home.run(['purge']);
    expect(code).toBe(0);
    expect(out).toBe('deleted indexes: 1\n');
    expect((await home.run(['purge'])).out).toBe(`there was nothing to delete in ${home.state}\n`);
    expect(await answerOf(home, [])).toMatchObject({ sessions: 1, filesRead: 1 });
    expect(await answerOf(home, ['purge', 'index'])).toEqual({ removed: { indexes: 1 } });
  });

  it('another word is a usage error that lists all', async () => {
    using home = sleepHome();
    const { code, err } = await home.run(['purge', 'everything']);
    expect(code).toBe(2);
    expect(err).toContain('expected one of all, archive, index, consent, nights, got "everything"');
  });
});

describe('help', () => {
  it.each([['--help'], ['harvest', '--help'], ['run', '--help'], ['purge', '--help']])(
    '%s %s fits 80 columns',
    async (...argv) => {
      using home = sleepHome();
      const { code, out } = await home.run(argv.filter(Boolean), { columns: 80 });
      expect(code).toBe(0);
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(out).toContain('--json');
    },
  );
});
