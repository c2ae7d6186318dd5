import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findMemory, findSkill, resolveSkill, SleepSettings } from '../../../src/sleep/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const NAME = 'skillopt-sleep-learned';

/** A home with a project in it, and files: a text, or `→` and what it is a link to. Gone after the test. */
function documentWorld(files: Readonly<Record<string, string>> = {}) {
  const temp = tempFolder();
  const home = realpathSync(temp.path);
  const project = join(home, 'shop');
  mkdirSync(project);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    if (text.startsWith('→')) symlinkSync(text.slice(1), join(home, name));
    else writeFileSync(join(home, name), text);
  }
  const search = (agent: string, settings: object = {}, env: Record<string, string> = {}) => ({
    ...{ agent, project, settings: SleepSettings.parse(settings) },
    place: { env, home, platform: 'linux' as const },
  });
  return { home, project, search, [Symbol.dispose]: () => temp[Symbol.dispose]() };
}

describe('the skill of our own', () => {
  const forAll = { skillScope: 'user' };

  it.each([
    ['claude', '.claude/skills', 'CLAUDE_CONFIG_DIR', 'skills'],
    ['codex', '.codex/skills', 'CODEX_HOME', 'skills'],
    ['gemini', '.gemini/skills', 'GEMINI_CLI_HOME', '.gemini/skills'],
    ['qwen', '.qwen/skills', 'QWEN_HOME', 'skills'],
    ['opencode', '.config/opencode/skills', 'XDG_CONFIG_HOME', 'opencode/skills'],
    ['copilot-cli', '.copilot/skills', 'COPILOT_HOME', 'skills'],
    ['pi', '.pi/agent/skills', 'PI_CODING_AGENT_DIR', 'skills'],
    ['claude-cli', '.claude/skills', 'CLAUDE_CONFIG_DIR', 'skills'],
  ])('of %s for all projects is in ~/%s, or where %s says', async (agent, folder, variable, below) => {
    using world = documentWorld();
    const found = await findSkill(world.search(agent, forAll));
    expect(found).toMatchObject({ kind: 'skill', name: NAME, isNewAllowed: true });
    expect(found.live).toMatchObject({ path: join(world.home, folder, NAME, 'SKILL.md'), bytes: null });
    expect(found.text).toMatch(new RegExp(`^---\nname: ${NAME}\n`));
    const elsewhere = join(world.home, 'elsewhere');
    const moved = await findSkill(world.search(agent, forAll, { [variable]: elsewhere }));
    expect(moved.live.path).toBe(join(elsewhere, below, NAME, 'SKILL.md'));
    const tilde = await findSkill(world.search(agent, forAll, { [variable]: '~/elsewhere' }));
    expect(tilde.live.path).toBe(moved.live.path);
  });

  it.each([
    ['claude', '.claude/skills'],
    ['codex', '.codex/skills'],
    ['copilot-cli', '.github/skills'],
    ['novel', '.agents/skills'],
  ])('of %s in a project is in its %s, under a name that no skill of the user hides', async (agent, folder) => {
    using world = documentWorld();
    const found = await findSkill(world.search(agent));
    expect(found).toMatchObject({ name: `${NAME}-project`, isNewAllowed: true, userWide: { name: NAME } });
    expect(found.live.path).toBe(join(world.project, folder, `${NAME}-project`, 'SKILL.md'));
  });

  it('of an agent that is not known is where most of them look', async () => {
    using world = documentWorld();
    expect((await findSkill(world.search('novel', forAll))).live.path).toBe(
      join(world.home, '.agents/skills', NAME, 'SKILL.md'),
    );
  });

  it('is read when it is there', async () => {
    using world = documentWorld({ [`.claude/skills/${NAME}/SKILL.md`]: 'Mine.\n' });
    expect((await findSkill(world.search('claude', forAll))).text).toBe('Mine.\n');
  });

  it('gives way to one that is named, which must be there', async () => {
    using world = documentWorld({ 'shop/skills/deploy/SKILL.md': 'Deploy.\n' });
    const found = await findSkill(world.search('claude', { targetSkillPath: 'skills/deploy/SKILL.md' }));
    expect(found).toMatchObject({ name: 'deploy', text: 'Deploy.\n', isNewAllowed: false });
    await expect(findSkill(world.search('claude', { targetSkillPath: 'skills/other/SKILL.md' }))).rejects.toMatchObject(
      {
        code: 'SKILL_NOT_FOUND',
        message: expect.stringContaining('skills/other/SKILL.md is not there'),
      },
    );
  });
});

describe('a skill by its path', () => {
  const at = (world: ReturnType<typeof documentWorld>, targetSkillPath: string) =>
    findSkill(world.search('claude', { targetSkillPath }));

  it('fact 52, differs: is made canonical, also where it climbs: a person has typed it; only a SKILL.md is one', async () => {
    using world = documentWorld({ 'shop/skills/deploy/SKILL.md': 'Deploy.\n', 'shop/skills/deploy/notes.md': 'n' });
    const path = join(world.project, 'skills/deploy/SKILL.md');
    for (const given of ['skills//deploy//SKILL.md', 'skills/deploy', '../shop/skills/deploy/', 'skills/x/../deploy'])
      expect((await at(world, given)).live.path).toBe(path);
    await expect(at(world, 'skills/deploy/notes.md')).rejects.toThrow(/expected the SKILL\.md of a skill/);
    await expect(at(world, 'skills/deploy/SKILL.txt')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('in a package is somebody else’s; a folder above the project says nothing', async () => {
    using world = documentWorld({
      'shop/vendor/kit/deploy/SKILL.md': 'a',
      '.claude/plugins/kit/skills/deploy/SKILL.md': 'b',
      'plugins/mine/.claude/skills/deploy/SKILL.md': 'c',
    });
    for (const given of ['vendor/kit/deploy', '../.claude/plugins/kit/skills/deploy'])
      await expect(at(world, given)).rejects.toMatchObject({ code: 'DOCUMENT_REFUSED' });
    const search = { ...world.search('claude'), project: join(world.home, 'plugins/mine') };
    expect(await resolveSkill('deploy', search)).toMatchObject({ status: 'found', document: { text: 'c' } });
  });

  it('whose link leads out of its folder is refused', async () => {
    using world = documentWorld({ 'secrets.md': 'Mine.\n', 'shop/skills/deploy/SKILL.md': '→../../../secrets.md' });
    await expect(at(world, 'skills/deploy')).rejects.toMatchObject({ code: 'DOCUMENT_REFUSED' });
  });
});

describe('the memory file', () => {
  it.each([
    ['claude', 'CLAUDE.md', ['AGENTS.md']],
    ['codex', 'AGENTS.md', ['CLAUDE.md']],
    ['gemini', 'GEMINI.md', ['AGENTS.md']],
    ['qwen', 'QWEN.md', []],
    ['opencode', 'AGENTS.md', []],
    ['copilot-cli', 'AGENTS.md', []],
    ['pi', 'AGENTS.md', []],
  ])('of %s is %s when none is there, whatever others there are', async (agent, usual, others) => {
    using world = documentWorld(Object.fromEntries(others.map((name) => [`shop/${name}`, 'Of others.\n'])));
    const { live, name, text } = await findMemory(world.search(agent));
    expect({ name, path: live.path, bytes: live.bytes, text }).toEqual({
      ...{ name: usual, path: join(world.project, usual), bytes: null, text: '' },
    });
  });

  it.each([
    ['qwen', 'AGENTS.md'],
    ['opencode', 'CLAUDE.md'],
    ['copilot-cli', 'GEMINI.md'],
    ['copilot-cli', '.github/copilot-instructions.md'],
    ['pi', 'CLAUDE.md'],
  ])('of %s is %s when it is the only one', async (agent, there) => {
    using world = documentWorld({ [`shop/${there}`]: 'Be kind.\n' });
    expect(await findMemory(world.search(agent))).toMatchObject({ name: there, text: 'Be kind.\n' });
  });

  it('that is a link to another one is that one, found once', async () => {
    using world = documentWorld({ 'shop/AGENTS.md': 'Be kind.\n', 'shop/CLAUDE.md': '→AGENTS.md' });
    const { live, text } = await findMemory(world.search('claude'));
    expect(text).toBe('Be kind.\n');
    expect(live).toMatchObject({ path: join(world.project, 'CLAUDE.md'), realPath: join(world.project, 'AGENTS.md') });
    expect((await findMemory(world.search('codex'))).live.realPath).toBe(live.realPath);
  });

  it('that leads out of the project is refused in the evening', async () => {
    using world = documentWorld({ 'secrets.md': 'Mine.\n', 'shop/CLAUDE.md': '→../secrets.md' });
    await expect(findMemory(world.search('claude'))).rejects.toMatchObject({ code: 'DOCUMENT_REFUSED' });
  });
});

describe('a skill by the name that sessions know it by', () => {
  const resolve = (world: ReturnType<typeof documentWorld>, hint: string, settings: object = {}) =>
    resolveSkill(hint, world.search('claude', settings));

  it('is found in the project, in the home, and in the roots of the settings', async () => {
    using world = documentWorld({
      'shop/.claude/skills/deploy/SKILL.md': 'a',
      '.claude/skills/review/SKILL.md': 'b',
      'more/write/SKILL.md': 'c',
    });
    const skillRoots = [join(world.home, 'more')];
    for (const [name, text] of [
      ['deploy', 'a'],
      ['review', 'b'],
      ['write', 'c'],
    ] as const) {
      expect(await resolve(world, name, { skillRoots })).toMatchObject({
        status: 'found',
        document: { name, text, isNewAllowed: false },
      });
    }
  });

  it('is missing when no file has it', async () => {
    using world = documentWorld();
    expect(await resolve(world, 'deploy')).toMatchObject({ status: 'missing' });
  });

  it('is ambiguous when two files have it, and not when both are one', async () => {
    const files = { 'shop/.claude/skills/deploy/SKILL.md': 'a' };
    using two = documentWorld({ ...files, '.claude/skills/deploy/SKILL.md': 'b' });
    expect(await resolve(two, 'deploy')).toMatchObject({
      status: 'ambiguous',
      why: expect.stringContaining('there are 2 of that name'),
    });
    using one = documentWorld({ ...files, more: '→shop/.claude/skills' });
    expect(await resolve(one, 'deploy', { skillRoots: [join(one.home, 'more')] })).toMatchObject({ status: 'found' });
  });

  it.each([
    ['é', 'found'],
    ['trail.', 'bad-name'],
    ['C:x', 'vendored'],
    ['plugin:skill', 'vendored'],
  ])('fact 51: %j is %s', async (hint, status) => {
    using world = documentWorld({ '.claude/skills/é/SKILL.md': 'a', '.claude/skills/x/SKILL.md': 'b' });
    expect(await resolve(world, hint)).toMatchObject({ status });
  });

  it('defect 21, fact 50 differs: of a plugin, or in a package, belongs to somebody else', async () => {
    using world = documentWorld({ 'node_modules/kit/skills/deploy/SKILL.md': 'a' });
    expect(await resolve(world, 'kit:deploy')).toMatchObject({ status: 'vendored' });
    const skillRoots = [join(world.home, 'node_modules/kit/skills')];
    expect(await resolve(world, 'deploy', { skillRoots })).toMatchObject({ status: 'vendored' });
  });

  it.each(['../deploy', 'a/b', '', '..', 'a:b:c', 'x\0y'])('%j is no name', async (hint) => {
    using world = documentWorld({ 'deploy/SKILL.md': 'a' });
    expect(await resolve(world, hint)).toMatchObject({ status: 'bad-name' });
  });
});
