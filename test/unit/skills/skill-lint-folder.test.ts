import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSkillFiles, lintFolder } from '../../../src/skills/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const skill = (name: string, body = '# S\n') => `---\nname: ${name}\ndescription: Does it.\n---\n${body}`;

async function lint(path: string) {
  const { file, findings } = await lintFolder(path);
  return [basename(file), ...findings.map(({ line, level, rule }) => `${line} ${level} ${rule}`)];
}

describe('lintFolder', () => {
  it('reads SKILL.md, and skill.md where there is no other', async () => {
    using folder = tempFolder({ 'a/SKILL.md': skill('a'), 'a/skill.md': 'nothing', 'b/skill.md': skill('b') });
    expect(await lint(join(folder.path, 'a'))).toEqual(['SKILL.md']);
    expect(await lint(join(folder.path, 'b'))).toEqual(['skill.md']);
  });

  it('knows the folder of a SKILL.md, and none of another file', async () => {
    using folder = tempFolder({
      'a/SKILL.md': skill('b', '[x](x.md)\n'),
      'a/best_skill.md': skill('b', '[x](x.md)\n'),
    });
    expect(await lint(join(folder.path, 'a/SKILL.md'))).toEqual([
      'SKILL.md',
      '2 error name-folder',
      '5 warning link-missing',
    ]);
    expect(await lint(join(folder.path, 'a/best_skill.md'))).toEqual(['best_skill.md']);
  });

  it.each(['missing', 'missing/SKILL.md', 'a'])('says so when there is no skill at %s', async (path) => {
    using folder = tempFolder({ 'a/readme.md': '' });
    await expect(lintFolder(join(folder.path, path))).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('says so when SKILL.md is a folder', async () => {
    using folder = tempFolder();
    mkdirSync(join(folder.path, 'a/SKILL.md'), { recursive: true });
    await expect(lintFolder(join(folder.path, 'a'))).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });
});

describe('links', () => {
  const lintBody = async (body: string) => {
    using folder = tempFolder({ 's/SKILL.md': skill('s', body), 's/docs/a b.md': '', 's/docs/c(1).md': '' });
    return (await lint(join(folder.path, 's'))).slice(1);
  };

  it.each([
    '[x](docs/a%20b.md)',
    '[x](<docs/a b.md>)',
    '[x](./docs/a%20b.md#part)',
    '[x](docs/c(1).md "title")',
    '[x](docs)',
    '![x](docs/a%20b.md?raw)',
    '[x]: docs/a%20b.md',
  ])('lead to a file: %s', async (link) => expect(await lintBody(`${link}\n`)).toEqual([]));

  it.each([
    '[x](none.md)',
    '![x](none.png "title")',
    'see [x](<no ne.md>) there',
    '[x]: none.md',
    '  [x]: <none.md>',
    '[x](docs/none.md#part)',
    '[x](docs/%00)',
    '[x](docs/50%.md)',
    '[x](docs/c(2).md)',
  ])('lead nowhere: %s', async (link) => {
    expect(await lintBody(`# S\n\n${link}\n`)).toEqual(['7 warning link-missing']);
  });

  it.each([
    '[x](https://example.com/none.md)',
    '[x](mailto:a@example.com)',
    '[x](//example.com/none.md)',
    '[x](/none.md)',
    '[x](#part)',
    '[x]()',
    '[x](../none.md)',
    '[^1]: none.md',
    '`[x](none.md)`',
    '``a ` [x](none.md)``',
    '```md\n[x](none.md)\n```js\n[x](none.md)\n```',
    '- list\n\n     ~~~~\n     [x](none.md)\n     ~~~\n     [x](none.md)\n     ~~~~',
    '```\n[x](none.md)',
  ])('are left alone: %j', async (link) => expect(await lintBody(`${link}\n`)).toEqual([]));

  it('count again after a fence and in every place', async () => {
    const body = '```\n[x](a.md)\n```\n```not a fence``` [x](b.md), [y](c.md)\n';
    expect(await lintBody(body)).toEqual(['8 warning link-missing', '8 warning link-missing']);
  });
});

describe('findSkillFiles', () => {
  const found = async (path: string, root: string) =>
    (await findSkillFiles(join(root, path))).map((file) => file.slice(root.length + 1));

  it('finds the file, the skill of a folder, or those of its folders by name', async () => {
    using folder = tempFolder({
      'all/b/SKILL.md': '',
      'all/a/skill.md': '',
      'all/c/readme.md': '',
      'all/d/deep/SKILL.md': '',
      'all/readme.md': '',
    });
    expect(await found('all/b/SKILL.md', folder.path)).toEqual(['all/b/SKILL.md']);
    expect(await found('all/b', folder.path)).toEqual(['all/b/SKILL.md']);
    expect(await found('all', folder.path)).toEqual(['all/a/skill.md', 'all/b/SKILL.md']);
    await expect(found('all/c', folder.path)).rejects.toThrow('holds no SKILL.md');
  });
});
