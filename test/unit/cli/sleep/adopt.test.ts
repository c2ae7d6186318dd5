import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentLoads } from '../../../../src/sleep/index.ts';
import { answerOf, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { startClone } from '../clone-cli.ts';
import { propose } from './pending.ts';

const BLOCK = '<!-- SKILLOPT_SLEEP_START -->\n- a rule\n<!-- SKILLOPT_SLEEP_END -->\n';

describe('sleep adopt', () => {
  it('says what was written, how the agent loads it, the backup, and how to undo it', async () => {
    using home = sleepHome();
    const file = home.write('shop/CLAUDE.md', '# Mine\n');
    await propose(home, { name: 'CLAUDE.md' });
    const { code, out } = await home.run(['adopt']);
    expect([code, home.read('shop/CLAUDE.md')]).toEqual([0, `# Mine\n\n${BLOCK}`]);
    expect(out).toContain('adopted what night 1 proposed for the memory CLAUDE.md');
    expect(out).toContain(`wrote   ${file}\n`);
    expect(out).toContain('Claude Code and Copilot CLI put CLAUDE.md into every prompt');
    expect(out).toContain('skillopt sleep rollback --night 1');
    const backup = out.match(/before {2}(.*)\n/)![1]!;
    expect(readFileSync(backup, 'utf8')).toBe('# Mine\n');
    expect((await home.run(['rollback'])).out).toContain(`${file} is byte for byte what it was before`);
    expect(home.read('shop/CLAUDE.md')).toBe('# Mine\n');
  });

  it('through a link shows the real path, and says that the text of a person was kept', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', '# Mine\n');
    symlinkSync('AGENTS.md', join(home.shop, 'CLAUDE.md'));
    await propose(home, { name: 'CLAUDE.md' });
    appendFileSync(join(home.shop, 'AGENTS.md'), 'More.\n');
    const { out } = await home.run(['adopt']);
    expect(out).toContain(`wrote   ${join(home.shop, 'AGENTS.md')}\n`);
    expect(out).toContain(`link    ${join(home.shop, 'CLAUDE.md')} leads to it`);
    expect(out).toContain('your text stays, only the learned block was put in');
    expect(home.read('shop/AGENTS.md')).toBe(`# Mine\nMore.\n\n${BLOCK}`);
  });

  it('by its digest writes the text that was seen, and refuses another one in words', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Mine\n');
    await propose(home, { name: 'CLAUDE.md' });
    const [{ id, digest }] = (await answerOf(home, ['status'])).pending;
    const other = 'f'.repeat(64);
    const { code, err } = await home.run(['adopt', '--digest', other]);
    expect([code, home.read('shop/CLAUDE.md')]).toEqual([2, '# Mine\n']);
    expect(err.replace(/\s+/g, ' ')).toContain(
      `proposal ${id} is not what was shown: the text with the digest ${other} was shown, and now it has the digest ${digest}`,
    );
    expect(err).toContain('Nothing was written.');
    expect((await home.run(['adopt', '--digest', other, digest])).code).toBe(0);
    expect(home.read('shop/CLAUDE.md')).toBe(`# Mine\n\n${BLOCK}`);
  });

  it('24: makes a new skill and no memory file beside it', async () => {
    using home = sleepHome();
    await propose(home, { name: '.claude/skills/learned/SKILL.md' });
    const { adopted } = await answerOf(home, ['adopt']);
    expect(adopted).toMatchObject([{ backup: null, isRebased: false, document: { kind: 'skill', name: 'learned' } }]);
    expect(adopted[0].loads).toContain('see its name and description in a new session');
    expect(readdirSync(home.shop).sort()).toEqual(['.claude', '.keep']);
    await answerOf(home, ['rollback']);
    expect(existsSync(join(home.shop, '.claude'))).toBe(false);
  });

  it('with several and none named lists them with what to type, and exits with 2', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a');
    home.write('shop/skills/b/SKILL.md', 'b');
    await propose(home, { name: 'skills/b/SKILL.md', night: 3 });
    await propose(home, { name: 'AGENTS.md', night: 3, id: '3.memory' });
    const { code, out } = await home.run(['adopt']);
    expect([code, home.read('shop/AGENTS.md')]).toEqual([2, 'a']);
    expect(out).toBe(`Say which of 2 proposals:
  night 3, 2026-03-10: skill b, +4.2 points, 97.5 % sure
    npx skillopt sleep adopt --night 3 --skill b
  night 3, 2026-03-10: memory AGENTS.md, +4.2 points, 97.5 % sure
    npx skillopt sleep adopt --night 3 --memory
all of them: npx skillopt sleep adopt --night 3
`);
    expect((await home.run(['adopt', '--skill', 'b'])).code).toBe(0);
    expect([home.read('shop/AGENTS.md'), home.read('shop/skills/b/SKILL.md')]).toEqual(['a', `b\n\n${BLOCK}`]);
    expect((await home.run(['adopt', '--memory'])).code).toBe(0);
    expect((await home.run(['rollback', '--night', '3'])).code).toBe(0);
    expect([home.read('shop/AGENTS.md'), home.read('shop/skills/b/SKILL.md')]).toEqual(['a', 'b']);
  });

  it('--all-skills takes all skills at once; two for the same file are asked about', async () => {
    using home = sleepHome();
    for (const name of ['a', 'b']) {
      home.write(`shop/skills/${name}/SKILL.md`, name);
      await propose(home, { name: `skills/${name}/SKILL.md`, id: `1.${name}` });
    }
    await propose(home, { name: 'skills/b/SKILL.md', night: 2, rule: '- another' });
    const { code, out } = await home.run(['adopt', '--all-skills']);
    expect(code).toBe(2);
    expect(out).toContain('skillopt sleep adopt --night 2 --skill b');
    expect((await home.run(['adopt', '--all-skills', '--night', '1'])).code).toBe(0);
    expect(home.read('shop/skills/b/SKILL.md')).toContain('- a rule');
    const { code: late, err } = await home.run(['adopt', '--night', '2']);
    expect(late).toBe(2);
    expect(err).toContain('the learned block of');
  });

  it('34: an earlier night is not hidden by a later one without a proposal', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a');
    await propose(home, { name: 'AGENTS.md', night: 1 });
    const state = JSON.parse(readFileSync(join(home.state, 'state.json'), 'utf8'));
    state.history.push({ project: home.shop, night: 2, at: '2026-03-11T00:00:00.000Z', accepted: false, nTasks: 4 });
    writeFileSync(join(home.state, 'state.json'), JSON.stringify(state));
    expect((await home.run(['adopt'])).code).toBe(0);
    expect(home.read('shop/AGENTS.md')).toContain('- a rule');
  });

  it('twice is answered with a friendly sentence', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a');
    await propose(home, { name: 'AGENTS.md' });
    await home.run(['adopt']);
    for (const argv of [['adopt'], ['adopt', '--night', '1']]) {
      const { code, err } = await home.run(argv);
      expect(code).toBe(2);
      expect(err).toMatch(
        /^error: what night 1 proposed was adopted already, on \d{4}-\d\d-\d\d\nhint: .*rollback --night 1/,
      );
    }
  });

  it('what was rolled back can be adopted again by naming its night, and rolled back again', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a\n');
    await propose(home, { name: 'AGENTS.md' });
    await home.run(['adopt']);
    const again = 'npx skillopt sleep adopt --night 1 --memory';
    expect((await home.run(['rollback'])).out).toContain(`again   ${again}\n`);
    const bare = await home.run(['adopt']);
    expect([bare.code, home.read('shop/AGENTS.md')]).toEqual([2, 'a\n']);
    expect(bare.err.replaceAll('\n', ' ')).toContain(again);
    expect(await home.run(again.split(' ').slice(3))).toMatchObject({ code: 0, err: '' });
    expect(home.read('shop/AGENTS.md')).toBe(`a\n\n${BLOCK}`);
    expect((await home.run(['adopt', '--night', '1'])).err).toContain('was adopted already');
    expect((await home.run(['rollback'])).out).toContain('is byte for byte what it was before');
    expect(home.read('shop/AGENTS.md')).toBe('a\n');
  });

  it('of what the file says already writes nothing, and neither does its rollback', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Mine\n');
    await propose(home, { name: 'CLAUDE.md', night: 2 });
    await propose(home, { name: 'CLAUDE.md', night: 3 });
    await home.run(['adopt', '--night', '2']);
    expect((await home.run(['adopt', '--night', '3'])).out).toContain('says it already');
    const { out } = await home.run(['rollback', '--night', '3']);
    expect(out).toContain('has nothing to undo; nothing was written');
    expect(home.read('shop/CLAUDE.md')).toBe(`# Mine\n\n${BLOCK}`);
    expect((await home.run(['rollback', '--night', '2'])).out).toContain('byte for byte');
    expect(home.read('shop/CLAUDE.md')).toBe('# Mine\n');
  });

  it('of a night takes what waits, and what was rolled back only when nothing of it waits', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a\n');
    home.write('shop/skills/b/SKILL.md', 'b\n');
    await propose(home, { name: 'AGENTS.md', id: '1.memory' });
    await home.run(['adopt']);
    await home.run(['rollback']);
    await propose(home, { name: 'skills/b/SKILL.md' });
    await home.run(['adopt', '--night', '1']);
    expect([home.read('shop/AGENTS.md'), home.read('shop/skills/b/SKILL.md')]).toEqual(['a\n', `b\n\n${BLOCK}`]);
    await home.run(['adopt', '--night', '1']);
    expect(home.read('shop/AGENTS.md')).toBe(`a\n\n${BLOCK}`);
  });

  it('with nothing there, or nothing of that name, says so', async () => {
    using home = sleepHome();
    expect(await home.run(['adopt'])).toMatchObject({ code: 2, err: expect.stringContaining('no proposal waits for') });
    expect(await home.run(['rollback'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('nothing was adopted'),
    });
    home.write('shop/AGENTS.md', 'a');
    await propose(home, { name: 'AGENTS.md' });
    const named = await home.run(['adopt', '--skill', 'x\u001b[2J']);
    expect(named).toMatchObject({ code: 2, err: expect.stringContaining('no proposal waits for skill x') });
    expect(named.err).not.toContain('\u001b');
    for (const night of ['0', 'x', '1.5']) expect((await home.run(['adopt', '--night', night])).code).toBe(2);
    expect((await home.run(['adopt', '--skill', 'x', '--all-skills'])).code).toBe(2);
  });

  it('says that a tree has changes that are not committed, and commits nothing', async () => {
    using home = sleepHome();
    const git = (...args: string[]) => execFileSync('git', ['-C', home.shop, ...args], { encoding: 'utf8' });
    home.write('shop/AGENTS.md', 'a\n');
    git('init', '-q');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
    await propose(home, { name: 'AGENTS.md' });
    const { out } = await home.run(['adopt']);
    expect(out).toMatch(/git +\d changes? in this tree not committed; nothing was committed/);
    expect(git('rev-list', '--count', 'HEAD').trim()).toBe('1');
  });

  it('33: while another process adopts, says who', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a\n');
    await propose(home, { name: 'AGENTS.md' });
    const env = { SKILLOPT_HOME: home.state };
    const runs = [1, 2, 3, 4].map(() => startClone(['sleep', 'adopt'], { cwd: home.shop, env }).finished);
    const ends = await Promise.all(runs);
    expect(ends.filter(({ code }) => code === 0)).toHaveLength(1);
    const others = ends.filter(({ code }) => code !== 0);
    for (const { stderr } of others) expect(stderr).toMatch(/is being written by process \d+|was adopted already/);
    expect(home.read('shop/AGENTS.md')).toBe(`a\n\n${BLOCK}`);
  });
});

describe('what a person did to the file since', () => {
  it('a file that was deleted by hand is put there again', async () => {
    using home = sleepHome();
    await propose(home, { name: '.claude/skills/learned/SKILL.md' });
    await home.run(['adopt']);
    const text = home.read('shop/.claude/skills/learned/SKILL.md');
    rmSync(join(home.shop, '.claude'), { recursive: true });
    expect((await home.run(['adopt'])).code).toBe(0);
    expect(home.read('shop/.claude/skills/learned/SKILL.md')).toBe(text);
    expect(await home.run(['adopt'])).toMatchObject({ code: 2, err: expect.stringContaining('adopted already') });
  });

  it('a rollback after an edit leaves no blank lines behind', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Mine\n');
    await propose(home, { name: 'CLAUDE.md' });
    await home.run(['adopt']);
    writeFileSync(join(home.shop, 'CLAUDE.md'), `# Mine\nMore.\n\n${BLOCK}\nBelow.\n`);
    expect((await home.run(['rollback'])).out).toContain('your text stays');
    expect(home.read('shop/CLAUDE.md')).toBe('# Mine\nMore.\n\nBelow.\n');
  });

  it('purge deletes nothing that a person may miss without asking, also for a program', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Mine\n');
    await propose(home, { name: 'CLAUDE.md' });
    const { code, out } = await home.run(['purge', '--json']);
    expect([code, JSON.parse(out).error.message]).toEqual([2, expect.stringContaining('1 proposal that waits')]);
    expect((await home.run(['status', '--short'])).out).toBe('sleep: 1 proposal\n');
    expect((await home.run(['purge', 'archive', '--json'])).code).toBe(0);
    expect((await home.run(['purge', '--project', home.blog, '--json'])).code).toBe(0);
    expect((await home.run(['purge', '--json', '--yes'])).code).toBe(0);
  });
});

describe('sleep status', () => {
  it('is silent in a prompt when nothing waits, makes no folder, and opens no transcript', async () => {
    using home = sleepHome();
    home.said();
    expect(await home.run(['status', '--short'])).toEqual({ code: 0, out: '', err: '' });
    expect(await home.run(['status'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('no night was here yet'),
    });
    expect(existsSync(home.state)).toBe(false);
  });

  it('shows what waits and what was adopted, from a folder below too, in one line without colours', async () => {
    using home = sleepHome();
    home.write('shop/AGENTS.md', 'a');
    home.write('shop/src/x.ts', '');
    await propose(home, { name: 'AGENTS.md' });
    const below = { cwd: join(home.shop, 'src') };
    expect((await home.run(['status', '--short'], below)).out).toBe('sleep: 1 proposal\n');
    expect((await home.run(['status'], below)).out).toContain('skillopt sleep adopt --night 1 --memory');
    expect((await home.run(['status', '--short'], { cwd: home.blog })).out).toBe('');
    expect((await home.run(['status'], { cwd: home.blog })).out).toContain('1 proposal in other projects');
    const typed = [
      ['--short', '--project', '.'],
      ['--project=.', '--short'],
      ['--project', '.', '--short'],
    ];
    for (const flags of typed) expect((await home.run(['status', ...flags])).out).toBe('sleep: 1 proposal\n');
    expect(await answerOf(home, ['status', '--short'])).toMatchObject({ pending: [{ id: '1' }], isCutOff: false });
    await home.run(['adopt']);
    const status = await answerOf(home, ['status']);
    expect(status).toMatchObject({ pending: [], adopted: [{ id: '1', night: 1 }], isCutOff: false });
  });
});

describe('how a document is loaded', () => {
  it.each([
    ['/p/CLAUDE.md', 'Claude Code and Copilot CLI put CLAUDE.md into every prompt of a new session.'],
    ['/p/QWEN.md', 'Qwen Code puts QWEN.md into every prompt of a new session.'],
    [
      '/h/.codex/skills/x/SKILL.md',
      'Codex sees its name and description in a new session, and loads the text when a request fits.',
    ],
    ['C:\\p\\.agents\\skills\\x\\SKILL.md', 'Codex, Copilot CLI, Gemini CLI, OpenCode, pi and Qwen Code see'],
    ['/p/notes/SKILL.md', 'No agent is known to load a file from there by itself'],
  ])('%s', (path, sentence) => {
    expect(agentLoads(path.replaceAll('\\', '/'))).toContain(sentence);
  });
});
