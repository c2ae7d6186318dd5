import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTasksFile } from '../../../../src/sleep/tasks-file.ts';
import { answerOf, hoursAgo, sleepHome, USUAL_TURNS } from '../../../support/sleep-home.ts';

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
    expect((await home.run(['harvest'])).out).toContain('the person said that nothing shall be learned');
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

  it('--output into a folder that is not there is an error with a hint', async () => {
    using home = sleepHome();
    home.said();
    const { code, err } = await home.run(['harvest', '--output', 'no/such/tasks.json']);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: .*tasks\.json cannot be written.*\nhint: /);
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
    expect((await home.run(['purge'])).out).toBe('there was nothing to delete\n');
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
