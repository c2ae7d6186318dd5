import { describe, expect, it } from 'vitest';
import { leftovers } from '../../../support/hostile-text.ts';
import { answerOf, hoursAgo, sleepHome } from '../../../support/sleep/sleep-home.ts';

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
    expect(flat(out)).toContain('no model was asked');
    expect(flat(out)).toMatch(/next: npx skillopt sleep harvest .*1 session of ~\/shop/);
    expect(flat(out)).toContain('skillopt sleep run --plan ');
    expect(out).not.toContain(home.path);
  });

  it('knows no other command, and says which one may be meant', async () => {
    using home = sleepHome();
    const { code, err } = await home.run(['statu']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('did you mean status?') });
    expect((await home.run(['status', 'now'])).code).toBe(2);
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

  it('names transcripts that are damaged apart from those that cannot be read', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    home.write('.claude/projects/p/b.jsonl', `not json\n${home.read('.claude/projects/p/a.jsonl')}`);
    home.write('.local/share/opencode/opencode.db', 'no database');
    for (const argv of [[], ['harvest']]) {
      const { out } = await home.run(argv);
      expect(out).toMatch(/1 transcript had damaged or unfinished lines, .*\n {2}~\/\.claude\/projects\/p\/b\.jsonl\n/);
      expect(out).toMatch(/1 transcript could not be read: .*\n {2}~\/\.local\/share\/opencode\/opencode\.db\n/);
    }
  });

  it('flags that leave nothing over are named, and not taken for an empty machine', async () => {
    using home = sleepHome();
    home.said({ endedHoursAgo: 50 });
    home.said({ id: 'b', endedHoursAgo: 50, cwd: home.blog });
    const { out } = await home.run(['--since', hoursAgo(1), '--project', '.']);
    expect(out).not.toContain('No transcripts');
    expect(out).toMatch(/1 session that ended before 20/);
    expect(out).toContain('1 session of other projects');
  });

  it('what to type next has the flags that were given, and shows the same sessions', async () => {
    using home = sleepHome();
    home.said({ id: 'a', endedHoursAgo: 200 });
    home.said({ id: 'b', endedHoursAgo: 200, cwd: home.blog });
    home.write('.qwen/projects/p/chats/q.jsonl', qwenLine('Round all totals half to even', home.shop));
    const flags = [
      '--source',
      'claude',
      '--since',
      '2020-01-01',
      '--max-tasks',
      '7',
      '--no-evolve-memory',
      '--all-projects',
    ];
    const { out } = await home.run(flags);
    const [typed] = /skillopt sleep harvest .*/.exec(out)!;
    for (const flag of flags)
      expect(typed.replace('per-night ', '')).toContain(flag.replace('--max-tasks', '--max-tasks-'));
    expect((await answerOf(home, typed.split(' ').slice(2))).sessions).toBe(2);
    const from = await home.run(['--project', '../blog', '--target', 'openai:gpt-5-mini', '--lookback-hours', '0']);
    expect(from.out).toContain('run --plan --project ../blog --target openai:gpt-5-mini --lookback-hours 0');
  });

  it('no line of prose is wider than the terminal', async () => {
    using home = sleepHome();
    home.said({ id: 'a' });
    home.said({ id: 'c', turns: [['assistant', 'Hello, what can I do for you?']] });
    for (const argv of [[], ['harvest'], ['run', '--plan', '--target', 'openai:gpt-5-mini']]) {
      const { out } = await home.run(argv, { columns: 60 });
      expect(out.split('\n').filter((line) => line.length > 60 && !line.includes('skillopt sleep'))).toEqual([]);
    }
  });

  it.each<[string[], number, RegExp]>([
    [['--since', '2026-02-30'], 2, /a moment that there is.*2026-02-30/],
    [['--project', ''], 2, /expected a folder behind --project/],
    [['--project', 'no-such'], 0, /warning: .*no-such does not exist/],
    [['--project', '.keep'], 0, /warning: .*\.keep is not a folder/],
  ])('%j is not taken as it is', async (flags, code, said) => {
    using home = sleepHome();
    home.said();
    for (const part of [[], ['harvest']]) {
      const ran = await home.run([...part, ...flags]);
      expect(ran.code).toBe(code);
      expect(ran.err).toMatch(said);
    }
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
    expect(flat(out)).toMatch(/skillopt sleep harvest --all-projects .*none of them is of this folder/);
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

/** Without where it was wrapped. */
const flat = (text: string) => text.replace(/\s+/g, ' ');

const qwenLine = (text: string, cwd: string) =>
  `${JSON.stringify({ type: 'user', sessionId: 'q-1', cwd, timestamp: hoursAgo(3), message: { parts: [{ text }] } })}\n`;
