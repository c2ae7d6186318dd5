import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseSources, findSource, foundSources, transcriptSources } from '../../../src/transcripts/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { ana, filesIn, fixtureHome, readFixture } from '../../support/transcript-fixture.ts';

const digestOf = async (source: string, name: string) => (await readFixture(source, name)).sessions[0];

describe('claude', () => {
  it('16: keeps what a person asked, without notices, compaction summaries and side chains', async () => {
    expect(await digestOf('claude', 'good.jsonl')).toEqual({
      source: 'claude',
      sessionId: 'c-1',
      project: '~/shop',
      folder: '/home/ana/shop',
      gitBranch: 'main',
      startedAt: '2026-03-01T10:00:01.000Z',
      endedAt: '2026-03-01T10:07:05.000Z',
      userPrompts: [
        'Add a discount field to the cart and test it',
        'That is incorrect: the discount is applied twice',
        'Perfect, it works now. Thanks!',
      ],
      assistantFinals: [
        'I will look at the cart.',
        'Added the field and a test.',
        'Now it is applied once.',
        'You are welcome.',
      ],
      toolsUsed: ['Read', 'Skill', 'Edit'],
      skillsUsed: ['cart-rules'],
      filesTouched: ['~/shop/src/cart.ts', 'README.md'],
      feedbackSignals: ['neg:incorrect', 'pos:perfect', 'pos:it works', 'pos:thanks'],
      nUserTurns: 3,
      nAssistantTurns: 4,
      rawPath: expect.stringContaining('good.jsonl'),
    });
  });

  it('leaves out files of sub-agents', async () => {
    const names = (await filesIn('claude')).map(({ path }) => path.split('/').at(-1));
    expect(names).toEqual(['corrupt.jsonl', 'good.jsonl', 'torn.jsonl']);
  });

  it('looks where CLAUDE_CONFIG_DIR says, else in both usual places', () => {
    const { roots } = findSource('claude');
    expect(roots({ ...ana, env: { CLAUDE_CONFIG_DIR: '~/c' } })).toEqual(['/home/ana/c/projects']);
    expect(roots(ana)).toEqual(['/home/ana/.claude/projects', '/home/ana/.config/claude/projects']);
  });

  it('21: a plugin’s skill is kept under the name of its folder', async () => {
    expect((await digestOf('claude', 'good.jsonl'))!.skillsUsed).toEqual(['cart-rules']);
  });

  it('does not follow a link out of its folder', async () => {
    using folder = tempFolder();
    const { symlinkSync, mkdirSync } = await import('node:fs');
    mkdirSync(join(folder.path, '.claude'));
    symlinkSync(join(fixtureHome('claude'), '.claude/projects'), join(folder.path, '.claude/link'));
    expect(await findSource('claude').list(join(folder.path, '.claude'))).toEqual([]);
  });
});

describe('codex', () => {
  it('15: reads the sessions of the command line, each message once', async () => {
    expect(await digestOf('codex', 'good.jsonl')).toMatchObject({
      sessionId: 'x-1',
      project: '~/api',
      gitBranch: 'feature/x',
      startedAt: '2026-03-01T10:00:00.000Z',
      endedAt: '2026-03-01T10:05:01.000Z',
      userPrompts: ['Add pagination to the orders endpoint', 'continue', 'continue', 'It is still failing'],
      assistantFinals: ['Pagination is in place.', 'Added a test.', 'Fixed the off-by-one.'],
      toolsUsed: ['exec_command', 'apply_patch', 'web_search'],
      skillsUsed: ['paging'],
      filesTouched: ['~/api/orders.ts'],
      feedbackSignals: ['neg:still failing'],
      nUserTurns: 4,
      nAssistantTurns: 3,
    });
  });

  it('reads the archive, where messages are events', async () => {
    expect(await digestOf('codex', 'desktop')).toMatchObject({
      project: '~/site',
      userPrompts: ['Rename the landing page and its tests'],
      assistantFinals: ['Renamed.'],
      toolsUsed: ['exec_command'],
    });
  });

  it('14: leaves out our own calls and sub-agents', async () => {
    expect(await digestOf('codex', 'own.jsonl')).toMatchObject({ leftOut: 'own-call' });
    expect(await digestOf('codex', 'sub.jsonl')).toMatchObject({ leftOut: 'sub-agent' });
  });

  it('looks where CODEX_HOME says, and prefers the plain file to the compressed one', async () => {
    const { roots, list } = findSource('codex');
    expect(roots({ ...ana, env: { CODEX_HOME: '/c' } })).toEqual(['/c/sessions', '/c/archived_sessions']);
    using folder = tempFolder({ 'a.jsonl': '', 'a.jsonl.zst': '', 'b.jsonl.zst': '', 'c.txt': '' });
    const names = (await list(folder.path)).map(({ path }) => path.slice(folder.path.length + 1));
    expect(names).toEqual(['a.jsonl', 'b.jsonl.zst']);
  });
});

describe('gemini', () => {
  it('takes the last record of an id, and what a rewind left', async () => {
    expect(await digestOf('gemini', 'good.jsonl')).toMatchObject({
      sessionId: 'g-1',
      project: '~/blog',
      startedAt: '2026-03-01T10:00:00.000Z',
      endedAt: '2026-03-01T10:02:11.000Z',
      userPrompts: ['Write a post about tea', 'No, the title is wrong'],
      assistantFinals: ['Here is the post.', 'Changed the title.'],
      toolsUsed: ['activate_skill', 'write_file'],
      skillsUsed: ['blog-style'],
      feedbackSignals: ['neg:no', 'neg:wrong'],
    });
  });

  it('reads files of earlier versions, and leaves out sub-agents', async () => {
    expect(await digestOf('gemini', 'old.json')).toMatchObject({
      sessionId: 'g-old',
      userPrompts: ['Translate the post about tea into German'],
      assistantFinals: ['Done.'],
    });
    expect(await digestOf('gemini', '11-00-sub')).toMatchObject({ leftOut: 'sub-agent' });
    expect((await filesIn('gemini')).some(({ path }) => path.includes('g-1/'))).toBe(false);
  });

  it('looks where GEMINI_CLI_HOME says', () => {
    expect(findSource('gemini').roots({ ...ana, env: { GEMINI_CLI_HOME: '/g' } })).toEqual(['/g/.gemini/tmp']);
  });
});

describe('qwen', () => {
  it('reads parts that are spoken, not thought', async () => {
    expect(await digestOf('qwen', 'good.jsonl')).toMatchObject({
      sessionId: 'q-1',
      project: '~/game',
      gitBranch: 'main',
      userPrompts: ['Add a high score list to the game', 'Funktioniert nicht, die Liste ist leer'],
      assistantFinals: ['I read the skill first.', 'The list is there.', 'Now it is filled.'],
      toolsUsed: ['skill', 'write_file'],
      skillsUsed: ['scores'],
      feedbackSignals: ['neg:funktioniert nicht'],
    });
  });

  it('looks where QWEN_RUNTIME_DIR or QWEN_HOME says', () => {
    const { roots } = findSource('qwen');
    expect(roots({ ...ana, env: { QWEN_RUNTIME_DIR: '/r', QWEN_HOME: '/q' } })).toEqual(['/r/projects']);
    expect(roots({ ...ana, env: { QWEN_HOME: '/q' } })).toEqual(['/q/projects']);
  });
});

describe('pi', () => {
  it('takes the branch that the last entry ends', async () => {
    expect(await digestOf('pi', 'good.jsonl')).toMatchObject({
      sessionId: 'p-1',
      project: '~/tool',
      userPrompts: ['Parse the configuration file of the tool', 'That is wrong, it must keep comments'],
      assistantFinals: ['Reading.', 'Parsed.', 'Comments are kept.'],
      toolsUsed: ['read'],
      skillsUsed: ['toml'],
      feedbackSignals: ['neg:wrong'],
    });
  });

  const read = async (version: unknown, ...entries: readonly [string, string | null][]) => {
    const header = { type: 'session', version, id: 'h', cwd: '/p' };
    const messages = entries.map(([id, parentId]) => ({
      type: 'message',
      id,
      parentId,
      message: { role: 'user', content: id },
    }));
    using folder = tempFolder({ 'a.jsonl': [header, ...messages].map((line) => `${JSON.stringify(line)}\n`).join('') });
    const [file] = await findSource('pi').list(folder.path);
    const { sessions, trouble } = await findSource('pi').read(file!, { place: ana });
    return { prompts: sessions.flatMap(({ userPrompts }) => userPrompts), trouble };
  };

  it('fact 33: the branch of the last entry; a tangled tree and an unknown version give nothing', async () => {
    expect((await read(3, ['a', null], ['b', 'a'], ['c', 'a'])).prompts).toEqual(['a', 'c']);
    expect((await read(3, ['a', null], ['b', null])).prompts).toEqual(['b']);
    expect(await read(3, ['a', 'b'], ['b', null])).toEqual({ prompts: [], trouble: { unreadable: 1 } });
    expect(await read(3, ['a', null], ['a', null])).toEqual({ prompts: [], trouble: { unreadable: 1 } });
    expect(await read(4, ['a', null])).toEqual({ prompts: [], trouble: { 'unknown-version': 1 } });
    expect(await read(true, ['a', null])).toEqual({ prompts: [], trouble: { 'unknown-version': 1 } });
    expect((await read(undefined, ['a', null], ['b', 'x'], ['c', 'a'])).prompts).toEqual(['a', 'b', 'c']);
  });

  it('fact 33, differs: one malformed line does not lose the session', async () => {
    expect((await digestOf('pi', 'corrupt.jsonl'))!.assistantFinals).toEqual(['Repaired.']);
  });

  it('looks where its variables say', () => {
    const { roots } = findSource('pi');
    expect(roots({ ...ana, env: { PI_CODING_AGENT_DIR: '/p' } })).toEqual(['/p/sessions']);
    const env = { PI_CODING_AGENT_SESSION_DIR: '/s', PI_AGENT_DIR: '/t' };
    expect(roots({ ...ana, env })).toEqual(['/s', '/t', '/home/ana/.pi/agent/sessions']);
  });
});

describe('the table', () => {
  it('finds a source by its name, with either dash', () => {
    expect(findSource('claude').name).toBe('claude');
    expect(findSource(' Codex ').name).toBe('codex');
  });

  it('an unknown source is an error that lists all', () => {
    const names = transcriptSources.map(({ name }) => name).join(', ');
    expect(() => findSource('claud')).toThrow(`source must be one of ${names}, auto, got "claud"`);
    expect(() => findSource('claud')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', hint: 'Did you mean claude?' }),
    );
  });

  it('auto is all that are found', async () => {
    using folder = tempFolder({ '.codex/sessions/a.jsonl': '', '.pi/agent/sessions/a.jsonl': '' });
    const place = { ...ana, home: folder.path };
    expect((await foundSources(place)).map(({ name }) => name)).toEqual(['codex', 'pi']);
    expect((await chooseSources(['auto', 'qwen'], place)).map(({ name }) => name)).toEqual(['codex', 'qwen', 'pi']);
    expect((await chooseSources(['qwen', 'claude'], place)).map(({ name }) => name)).toEqual(['qwen', 'claude']);
  });
});
