import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { SkillError } from '../core/errors.ts';
import type { Views } from '../core/run-store.ts';
import { shownPath } from './shown-path.ts';

/** Writes each view below `directory`. A reader finds the old text or the new one, never half of it. */
export async function writeViews(directory: string, views: Views): Promise<void> {
  const files = Object.entries(views).map(([name, text]) => ({ path: pathWithin(directory, name), text }));
  for (const folder of new Set(files.map((file) => dirname(file.path)))) await mkdir(folder, { recursive: true });
  for (const { path, text } of files) {
    await writeFile(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  }
}

function pathWithin(directory: string, name: string): string {
  const path = normalize(name);
  const isWithin = name !== '' && path !== '.' && !isAbsolute(path) && !path.split(/[/\\]/).includes('..');
  if (isWithin) return join(directory, path);
  const message = `A view must lie within ${shownPath(directory)}, got the path "${name}"`;
  throw new SkillError('RUN_UNWRITABLE', message, { hint: 'Give a relative path without "..".' });
}
