import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function cli(argv: string, options: Parameters<typeof captureIo>[0]) {
  const io = captureIo(options);
  const code = await runCli(argv.split(' '), io);
  return { code, out: io.out(), err: io.err() };
}

const skill = (name: string, body = '# S\n') => `---\nname: ${name}\ndescription: Does it.\n---\n${body}`;
const skills = { 'all/a/SKILL.md': skill('a'), 'all/b/SKILL.md': skill('B'), 'all/c/SKILL.md': skill('c', '') };

describe('skillopt skill lint', () => {
  it('prints a line for each finding and a summary, and exits with 1 for errors', async () => {
    using folder = tempFolder(skills);
    const { code, out, err } = await cli('skill lint all', { cwd: folder.path });
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatchInlineSnapshot(`
      "all/b/SKILL.md:2  error  name: expected lowercase letters, digits and hyphens, got "B"
      all/b/SKILL.md:2  error  name: expected the folder's name "b", got "B"
      all/c/SKILL.md:4  warning  expected instructions after the frontmatter
      3 skills: 2 errors, 1 warning
      "
    `);
  });

  it('exits with 0 for warnings alone, and without any', async () => {
    using folder = tempFolder(skills);
    const warned = await cli('skill lint all/c', { cwd: folder.path });
    expect(warned.code).toBe(0);
    expect(warned.out).toMatch(/^all\/c\/SKILL\.md:4 {2}warning {2}.*\n1 skill: 0 errors, 1 warning\n$/);
    const clean = await cli('skill lint all/a', { cwd: folder.path });
    expect(clean).toEqual({ code: 0, out: '1 skill: 0 errors, 0 warnings\n', err: '' });
  });

  it('takes this folder when none is named, and counts no skill twice', async () => {
    using folder = tempFolder(skills);
    expect((await cli('skill lint', { cwd: `${folder.path}/all/a` })).out).toBe('1 skill: 0 errors, 0 warnings\n');
    const twice = await cli('skill lint all/a all/a/SKILL.md all/c', { cwd: folder.path });
    expect(twice.out).toContain('2 skills: 0 errors, 1 warning\n');
  });

  it('answers with one object for machines', async () => {
    using folder = tempFolder(skills);
    const { code, out } = await cli('skill lint all/a all/b --json', { cwd: folder.path });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      isOk: false,
      errors: 2,
      warnings: 0,
      skills: [
        { path: 'all/a/SKILL.md', findings: [] },
        {
          path: 'all/b/SKILL.md',
          findings: [
            { line: 2, level: 'error', rule: 'name-characters', message: expect.any(String) },
            { line: 2, level: 'error', rule: 'name-folder', message: expect.any(String) },
          ],
        },
      ],
    });
  });

  it('has colours on a terminal only', async () => {
    using folder = tempFolder(skills);
    const red = '\u001b[31merror\u001b[39m';
    expect((await cli('skill lint all', { cwd: folder.path, isTTY: true })).out).toContain(red);
    expect((await cli('skill lint all', { cwd: folder.path })).out).not.toContain('\u001b');
  });

  it('lets no skill write escape sequences to the terminal', async () => {
    using folder = tempFolder({
      'a/SKILL.md': `---\nname: a\ndescription: d\n"\\e]0;title\\a\\u009b2J": x\n---\nbody\n`,
    });
    const { out } = await cli('skill lint a', { cwd: folder.path });
    expect(out).toContain('a/SKILL.md:4  error  ');
    for (const control of ['\u001b', '\u0007', '\u009b']) expect(out).not.toContain(control);
  });

  it('says what it looked for when there is nothing, with exit code 2', async () => {
    using folder = tempFolder({ 'all/readme.md': '' });
    const { code, out, err } = await cli('skill lint all', { cwd: folder.path });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('holds no SKILL.md');
    expect(err).toContain('hint: Name a SKILL.md, a folder with one, or a folder of such folders.');
  });

  it('has examples in its help', async () => {
    const { code, out } = await cli('skill lint --help', {});
    expect(code).toBe(0);
    expect(out).toContain('usage: npx skillopt skill lint [options] [path...]');
    expect(out).toContain('examples:\n  npx skillopt skill lint ');
  });
});

describe('the skill of a new project', () => {
  const initAndLint = async (folderName: string, cwd: string) => {
    const io = captureIo({ cwd });
    expect(await runCli(['init', folderName], io)).toBe(0);
    const lint = captureIo({ cwd });
    const code = await runCli(['skill', 'lint', folderName, '--json'], lint);
    const { errors, warnings } = JSON.parse(lint.out());
    return { code, errors, warnings };
  };

  it.each([
    ...['my-skill', 'größe', '2026', '007', 'null', 'true', '技能', 'a/b/deep-one'],
    ...['.', `${'long-'.repeat(12)}name`],
  ])('has no finding in the folder %s', async (name) => {
    using folder = tempFolder({ 'valid-name/keep': '' });
    expect(await initAndLint(name, `${folder.path}/valid-name`)).toEqual({ code: 0, errors: 0, warnings: 0 });
  });

  it.each([
    ...['My Skill', 'PDF', 'snake_case', 'dashes--', 'v1.2', 'Ärger Ⅳ', '🎉', 'ünïcode & more'],
    'x'.repeat(80),
    `${'long-'.repeat(12)}nam-e`.padEnd(70, 'x'),
  ])('is no error in the folder %s, which cannot be a skill’s name', async (name) => {
    using folder = tempFolder();
    expect(await initAndLint(name, folder.path)).toEqual({ code: 0, errors: 0, warnings: 1 });
  });

  it('is told to rename such a folder; another name in it is an error all the same', async () => {
    using folder = tempFolder({ 'My Skill/SKILL.md': skill('my-skill'), 'Your Skill/SKILL.md': skill('my-skill') });
    const lint = async (name: string) => {
      const io = captureIo({ cwd: folder.path });
      return [await runCli(['skill', 'lint', name], io), io.out().split('\n')[0]];
    };
    const advice = 'name: is "my-skill", but the folder is "My Skill"; name it "my-skill" before agents use it';
    expect(await lint('My Skill')).toEqual([0, `My Skill/SKILL.md:2  warning  ${advice}`]);
    const wrong = `name: expected the folder's name "Your Skill", got "my-skill"`;
    expect(await lint('Your Skill')).toEqual([1, `Your Skill/SKILL.md:2  error  ${wrong}`]);
  });
});
