import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join, sep } from 'node:path';
import type { Place } from '../../transcripts/index.ts';

export const placeOfProcess = (env: Place['env'] = process.env): Place => ({
  env,
  home: env.HOME || homedir(),
  platform: process.platform,
});

/** Whether a project is this folder or one above it: nights belong to a whole project. */
export const isProjectOf = (folder: string) => (project: string) =>
  folder === project || folder.startsWith(project.endsWith(sep) ? project : project + sep);

export const STATE_FILE = 'state.json';
export const HANDOFF_FOLDER = 'handoff';
export const NIGHTS_FOLDER = 'nights';

/** Readable, and with a part of a hash, since many projects are called `app`. */
export function projectFolderName(project: string): string {
  const readable = basename(project.replaceAll('\\', '/'))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|(?<![.-])[.-]+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 8);
  return `${readable || 'project'}-${hash}`;
}

export const projectFolder = (stateFolder: string, project: string): string =>
  join(stateFolder, NIGHTS_FOLDER, projectFolderName(project));

/** Of a night by its number, or of one of its documents: `12`, `12.memory`. */
export const nightFolder = (stateFolder: string, project: string, night: number | string): string =>
  join(projectFolder(stateFolder, project), String(night));
