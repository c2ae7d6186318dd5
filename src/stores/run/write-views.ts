import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { type Views, WHOLE_FOLDER } from '../../core/run/index.ts';
import { isFileError } from '../file-error.ts';
import { makeOwnFolder } from '../own-place.ts';
import { shownPath } from '../shown-path.ts';

/** Writes each view below `directory`. A reader finds the old text or the new one, never half of it. */
export async function writeViews(directory: string, views: Views): Promise<void> {
  const files = Object.entries(views).map(([name, text]) => ({ path: pathWithin(directory, name), text }));
  const folders = new Set(files.map((file) => dirname(file.path)));
  for (const folder of folders) if (folder !== directory) await makeOwnFolder(directory, folder);
  for (const { path, text } of files) {
    await writeDraft(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  }
  if (Object.keys(views).some((name) => name.startsWith(WHOLE_FOLDER))) await dropEarlier(directory, views);
}

async function dropEarlier(directory: string, views: Views): Promise<void> {
  const entries = await readdir(join(directory, WHOLE_FOLDER), { recursive: true, withFileTypes: true });
  const kept = new Set(Object.keys(views).map((name) => pathWithin(directory, name)));
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of files) if (!kept.has(path)) await rm(path, { force: true });
}

/** Into a new file. What stands there was left by a crash, or is a link that somebody planted: it goes, and is not followed. */
async function writeDraft(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch(async (error) => {
    if (!isFileError(error) || error.code !== 'EEXIST') throw error;
    await rm(path);
    await writeFile(path, text, { flag: 'wx' });
  });
}

function pathWithin(directory: string, name: string): string {
  const path = normalize(name);
  const isWithin = name !== '' && path !== '.' && !isAbsolute(path) && !path.split(/[/\\]/).includes('..');
  if (isWithin) return join(directory, path);
  const message = `A view must lie within ${shownPath(directory)}, got the path "${name}"`;
  throw new SkillError('RUN_UNWRITABLE', message, { hint: 'Give a relative path without "..".' });
}
