import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadIgnore } from '../../../../src/sleep/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { placeAt } from '../notes-source.ts';

const PROJECT = 'code/app';

/** Which of these sessions are ignored, by the names of their projects below the home. */
async function ignoredOf(files: Record<string, string>, sessions: readonly string[]) {
  using home = tempFolder({ 'state/.keep': '', ...files });
  const isIgnored = await loadIgnore({
    place: placeAt(home.path),
    stateFolder: join(home.path, 'state'),
  });
  return sessions.filter((session) => {
    const [project = '', source = 'claude', sessionId = 'id'] = session.split(' ');
    return isIgnored({ source, sessionId, project });
  });
}

const SESSIONS = ['~/code/app', '~/code/app/sub', '~/code/app/sub/deep', '~/code/apple', '~/play', '/srv/x', ''];

it.each<[string, string, string[]]>([
  ['nothing', '# only a comment\n\n', []],
  ['a folder and below it', '~/code/app\n', ['~/code/app', '~/code/app/sub', '~/code/app/sub/deep']],
  ['an absolute folder', '/srv/x/\n', ['/srv/x']],
  ['a path from the home', 'code/app/sub\n', ['~/code/app/sub', '~/code/app/sub/deep']],
  ['a name and all below it', 'sub\n', ['~/code/app/sub', '~/code/app/sub/deep']],
  ['letters within a name', '~/code/app*\n', ['~/code/app', '~/code/app/sub', '~/code/app/sub/deep', '~/code/apple']],
  ['any folders between', '~/**/deep\n', ['~/code/app/sub/deep']],
  ['but not one of them', '~/code\n!~/code/app/sub\n', ['~/code/app', '~/code/apple']],
  [
    'everything',
    '*\n',
    ['~/code/app', '~/code/app/sub', '~/code/app/sub/deep', '~/code/apple', '~/play', '/srv/x', ''],
  ],
  ['a name anywhere', 'x\n', ['/srv/x']],
])('.skilloptignore in the home or the state folder: %s', async (_, text, ignored) => {
  expect(await ignoredOf({ '.skilloptignore': text }, SESSIONS)).toEqual(ignored);
  expect(await ignoredOf({ 'state/.skilloptignore': text }, SESSIONS)).toEqual(ignored);
});

it.each<[string, string, string[]]>([
  ['the whole project', '*\n', ['~/code/app', '~/code/app/sub', '~/code/app/sub/deep']],
  ['a folder in it', './sub\n', ['~/code/app/sub', '~/code/app/sub/deep']],
  ['the project but for a folder', '.\n!sub/deep\n', ['~/code/app', '~/code/app/sub']],
  ['nothing outside of it', 'apple\nplay\n', []],
])('.skilloptignore in a project: %s', async (_, text, ignored) => {
  expect(await ignoredOf({ [`${PROJECT}/.skilloptignore`]: text }, SESSIONS)).toEqual(ignored);
});

it('by agent and by session', async () => {
  const sessions = ['/p claude a', '/p codex b', '/p codex c', ' cursor-cli d'];
  const text = 'source:codex\n!session:c\nsession: d\na\n';
  expect(await ignoredOf({ '.skilloptignore': text }, sessions)).toEqual([
    '/p claude a',
    '/p codex b',
    ' cursor-cli d',
  ]);
});

it('one in a folder above counts too, and the word of the home is the last', async () => {
  const files = { 'code/.skilloptignore': 'app\n' };
  expect(await ignoredOf(files, ['~/code/app/sub'])).toEqual(['~/code/app/sub']);
  expect(await ignoredOf({ ...files, '.skilloptignore': '!~/code/app/sub\n' }, ['~/code/app/sub'])).toEqual([]);
});

it('one that is too large is an error: it is there for a reason', async () => {
  const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('.skilloptignore cannot be read') };
  await expect(ignoredOf({ '.skilloptignore': '#'.repeat(70_000) }, [])).rejects.toMatchObject(refused);
});

it('names of other machines are not asked for', async () => {
  expect(
    await ignoredOf({}, ['//host/share', '\\\\host\\share', '/net/host/x', 'relative', '/nowhere/at/all']),
  ).toEqual([]);
});
