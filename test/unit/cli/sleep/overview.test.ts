import { describe, expect, it } from 'vitest';
import { leftovers } from '../../../support/hostile-text.ts';
import { answerOf, hoursAgo, sleepHome } from '../../../support/sleep-home.ts';

describe('skillopt sleep', () => {
  it('says which agents, projects and dates there are, how many could teach, and what to type next', async () => {
    using home = sleepHome();
    home.said({ id: 'a', endedHoursAgo: 5 });
    home.said({ id: 'b', endedHoursAgo: 30, cwd: home.blog });
    home.said({ id: 'c', turns: [['assistant', 'Hello, what can I do for you?']] });
    const { code, out, err } = await home.run([]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`Claude Code +3 +2 +${hoursAgo(30.5).slice(0, 10)} +${hoursAgo(1).slice(0, 10)}`));
    expect(out).toMatch(/~\/shop +2 +1 /);
    expect(out).toMatch(/~\/blog +1 +1 /);
    expect(out).toContain('1 session cannot teach');
    expect(out).toContain('no model was asked');
    expect(out).toMatch(/next: {2}skillopt sleep harvest .*1 session of ~\/shop/);
    expect(out).toContain('skillopt sleep run --plan ');
    expect(out).not.toContain(home.path);
  });

  it('with nothing there says where it looked', async () => {
    using home = sleepHome();
    const { code, out } = await home.run([]);
    expect(code).toBe(0);
    expect(out).toContain('No transcripts of a coding agent were found');
    for (const place of [
      '.claude/projects',
      '.codex/sessions',
      '.gemini/tmp',
      '.cursor/projects',
      '.local/share/devin',
    ])
      expect(out).toContain(`~/${place}`);
  });

  it('--json is one object, and a second call opens no file', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    home.said({ id: 'b' });
    const first = await answerOf(home, []);
    expect(first).toMatchObject({ sessions: 2, usable: 2, filesRead: 2, trouble: [] });
    expect(first.agents).toMatchObject([{ source: 'claude', sessions: 2, usable: 2, files: 2 }]);
    expect(first.projects).toMatchObject([{ project: '~/shop', sessions: 2, usable: 2 }]);
    expect(await answerOf(home, [])).toEqual({ ...first, filesRead: 0 });
  });

  it('counts damaged transcripts and shows the rest', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    home.write('.claude/projects/p/b.jsonl', `not json\n${home.read('.claude/projects/p/a.jsonl')}`);
    expect((await home.run([])).out).toContain('1 transcript had damaged or unfinished lines');
    const { trouble } = await answerOf(home, []);
    expect(trouble).toMatchObject([{ source: 'claude', trouble: { malformed: 1 } }]);
  });

  it('an unknown source is an error that lists all', async () => {
    using home = sleepHome();
    const { code, err } = await home.run(['--source', 'claud']);
    expect(code).toBe(2);
    for (const name of [
      'claude',
      'codex',
      'gemini',
      'qwen',
      'opencode',
      'copilot-cli',
      'cursor',
      'pi',
      'devin',
      'auto',
    ])
      expect(err).toContain(name);
    expect(err).toContain('Did you mean claude?');
  });

  it('--source shows only these agents, also when others are known from before', async () => {
    using home = sleepHome();
    home.said();
    home.write('.qwen/projects/p/chats/q.jsonl', qwenLine('Round all totals half to even', home.shop));
    expect((await answerOf(home, [])).agents).toHaveLength(2);
    expect((await answerOf(home, ['--source', 'qwen'])).agents).toMatchObject([{ source: 'qwen', sessions: 1 }]);
    const both = await answerOf(home, ['--source', 'qwen,claude']);
    expect(both.agents).toHaveLength(2);
  });

  it('--project and --since narrow it, and a moment needs its zone', async () => {
    using home = sleepHome();
    home.said({ id: 'a', endedHoursAgo: 50 });
    home.said({ id: 'b', endedHoursAgo: 2, cwd: home.blog });
    expect(await answerOf(home, ['--project', '../blog'])).toMatchObject({
      sessions: 1,
      projects: [{ project: '~/blog' }],
    });
    expect(await answerOf(home, ['--since', hoursAgo(10)])).toMatchObject({
      sessions: 1,
      projects: [{ project: '~/blog' }],
    });
    expect(await answerOf(home, ['--all-projects'])).toMatchObject({ sessions: 2 });
    const { code, err } = await home.run(['--since', 'yesterday']);
    expect(code).toBe(2);
    expect(err).toContain('got "yesterday"');
  });

  it('a project without sessions points to all projects', async () => {
    using home = sleepHome();
    home.said({ cwd: home.blog });
    const { out } = await home.run([]);
    expect(out).toMatch(/skillopt sleep harvest --all-projects .*none of them is of this folder/);
    expect(out).toContain('skillopt sleep run --plan --all-projects');
  });

  it('what to type next finds sessions also when all are older than a night looks back', async () => {
    using home = sleepHome();
    home.said({ endedHoursAgo: 24 * 30 });
    const { out } = await home.run([]);
    expect(out).toContain('skillopt sleep harvest --lookback-hours 0');
    expect(await answerOf(home, ['harvest', '--lookback-hours', '0'])).toMatchObject({ sessions: 1 });
  });

  it('has colours on a terminal only', async () => {
    using home = sleepHome();
    home.said();
    expect((await home.run([])).out).not.toContain('\x1b');
    const { out } = await home.run([], { isTTY: true, columns: 80 });
    expect(out).toContain('\x1b[');
    expect(leftovers(out, { isColored: true })).toEqual([]);
  });
});

const qwenLine = (text: string, cwd: string) =>
  `${JSON.stringify({ type: 'user', sessionId: 'q-1', cwd, timestamp: hoursAgo(3), message: { parts: [{ text }] } })}\n`;
