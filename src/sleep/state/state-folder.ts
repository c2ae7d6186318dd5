import { chmod, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, relative, sep, win32 } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { fileReason, isFileError, isMissing } from '../../stores/file-error.ts';
import { shownPath } from '../../stores/shown-path.ts';
import type { Place } from '../../transcripts/transcript-source.ts';

const HINT = 'Choose another folder with the variable SKILLOPT_HOME.';

/** Where sleep keeps what it knows of a person: `SKILLOPT_HOME`, else the platform's folder for such things. */
export function stateFolderOf({ env, home, platform }: Place): string {
  const { join, isAbsolute, resolve } = platform === 'win32' ? win32 : posix;
  if (env.SKILLOPT_HOME) return resolve(env.SKILLOPT_HOME);
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'skillopt');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'skillopt');
  const given = env.XDG_STATE_HOME ?? '';
  // As the XDG specification says: a relative path there is invalid and ignored.
  return join(isAbsolute(given) ? given : join(home, '.local', 'state'), 'skillopt');
}

/** Makes the state folder, for this user alone. Throws `STATE_UNUSABLE` for a link, a file, or a folder of somebody else. */
export async function openStateFolder(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await makePrivateFolder(path);
    return path;
  } catch (error) {
    throw isFileError(error) ? unusable(path, `cannot be written: ${fileReason(error)}`) : error;
  }
}

/** Makes the folders from the state folder down to `folder`, each for this user alone. */
export async function makeFolderBelow(stateFolder: string, folder: string): Promise<void> {
  const below = relative(stateFolder, folder);
  if (below.startsWith('..') || isAbsolute(below)) throw unusable(folder, `does not lie below ${stateFolder}`);
  let path = stateFolder;
  for (const name of below.split(sep)) {
    path = join(path, name);
    await makePrivateFolder(path);
  }
}

async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error) => {
    if (!isFileError(error) || error.code !== 'EEXIST') throw error;
  });
  await requireOwn(path, 'folder');
  const { mode } = await lstat(path);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  if (!(await isOurs(path))) {
    throw unusable(
      path,
      'can be read by others and holds files that are not ours',
      `Make it private: chmod 700 ${path}`,
    );
  }
  await chmod(path, 0o700);
}

/** What models said about sessions, so that nothing is paid for twice. */
export const ANSWERS_FOLDER = 'mined';

const OUR_FILES = ['state.json', 'index.db', 'nights', 'config.yaml', ANSWERS_FOLDER];

/** Only such a folder is made private without asking: the variable may point to somebody's home by mistake. */
async function isOurs(path: string): Promise<boolean> {
  const names = await readdir(path);
  return names.length === 0 || names.some((name) => OUR_FILES.includes(name));
}

/** Throws unless nothing stands at `path`, or a file or folder of this user. A link may lead to a file of somebody's choice. */
export async function requireOwn(path: string, kind: 'file' | 'folder'): Promise<void> {
  const found = await lstat(path).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (found.isSymbolicLink()) throw unusable(path, `is a link, and a ${kind} was expected`, LINK_HINT);
  if (kind === 'folder' ? !found.isDirectory() : !found.isFile()) throw unusable(path, `is no ${kind}`);
  const user = process.getuid?.();
  if (user !== undefined && found.uid !== user) {
    throw unusable(path, `belongs to user ${found.uid}, and this is user ${user}`);
  }
}

const LINK_HINT = 'Delete the link, or name the folder that it leads to in the variable SKILLOPT_HOME.';

export function unusable(path: string, what: string, hint = HINT): SkillError {
  return new SkillError('STATE_UNUSABLE', `${shownPath(path)} ${what}`, { hint });
}
