import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, relative, sep, win32 } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import {
  fileReason,
  isFileError,
  isTaken,
  makeFolder as makeAll,
  NO_FOLLOW,
  orIfMissing,
  shownPath,
  syncFolder,
  writeSynced,
} from './own-files.ts';

const HINT = 'Choose another folder with the variable SKILLOPT_HOME.';

type Machine = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
};

/** Where data about a person is kept: `SKILLOPT_HOME`, otherwise the platform's folder for such data. */
export function stateFolderOf({ env, home, platform }: Machine): string {
  const { join, isAbsolute, resolve } = platform === 'win32' ? win32 : posix;
  // No shell expands `~` in a file of variables.
  if (env.SKILLOPT_HOME) return resolve(env.SKILLOPT_HOME.replace(/^~(?=$|[\\/])/, () => home));
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'skillopt');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'skillopt');
  const given = env.XDG_STATE_HOME ?? '';
  // As the XDG specification says: a relative path there is invalid and ignored.
  return join(isAbsolute(given) ? given : join(home, '.local', 'state'), 'skillopt');
}

/**
 * Makes the state folder, for this user alone. Throws `STATE_UNUSABLE` for a link, a file, a folder of somebody else, and one
 * that we did not make: the variable may point to somebody's home by mistake, and `purge` deletes in it.
 */
export async function openStateFolder(path: string): Promise<string> {
  try {
    await makeAll(dirname(path), { mode: 0o700 });
    if (!(await makeFolder(path))) await requireOurs(path);
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
    if (!(await makeFolder(path)) && (await isOpen(path))) await chmod(path, 0o700); // below the state folder all is ours
  }
}

/** Answers whether it is new. */
async function makeFolder(path: string): Promise<boolean> {
  const isNew = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error) => {
      if (!isTaken(error)) throw error;
      return false;
    },
  );
  await requireOwn(path, 'folder');
  return isNew;
}

const isOpen = async (path: string) => process.platform !== 'win32' && ((await lstat(path)).mode & 0o077) !== 0;

/** What models said about sessions, so that nothing is paid for twice. */
export const ANSWERS_FOLDER = 'mined';

/** The old bytes of documents that a person let us change, and how far such a change got. */
export const ADOPTIONS_FOLDER = 'adoptions';

/** The same of documents that trained skills were put into. */
export const APPLIED_FOLDER = 'applied';

/** Scripts and logs of nightly jobs. */
export const SCHEDULES_FOLDER = 'schedules';

/** Nights that were started in the background: how far each is, and how it ended. */
export const JOBS_FOLDER = 'jobs';

/** Copies of the plugin that agents were given, and what was changed for them. */
export const PLUGINS_FOLDER = 'plugins';

/** Only we write such files, damaged ones that were set aside among them. */
const MARK = /^(?:state\.json|state\.lock|index\.db|agents\.json)/;
const FOR_LATER = [SCHEDULES_FOLDER, JOBS_FOLDER, PLUGINS_FOLDER];
const OUR_FOLDERS = ['nights', ANSWERS_FOLDER, ADOPTIONS_FOLDER, APPLIED_FOLDER, ...FOR_LATER];
const OUR_FILES = ['config.yaml', '.skilloptignore', ...OUR_FOLDERS];

async function requireOurs(path: string): Promise<void> {
  const names = await readdir(path);
  const isMarked = names.some((name) => MARK.test(name));
  const others = names.filter((name) => !OUR_FILES.includes(name));
  if (!isMarked && others.length > 0) {
    const hint = `Name a folder of its own: SKILLOPT_HOME=${join(path, 'skillopt')}`;
    throw unusable(path, `holds files that are not ours, such as ${others[0]}`, hint);
  }
  if (!(await isOpen(path))) return;
  const isSticky = ((await lstat(path)).mode & 0o1000) !== 0;
  if (isMarked && !isSticky) return chmod(path, 0o700); // We made it private once.
  throw unusable(path, 'can be read by others, and was not made by us', `Make it private: chmod 700 ${path}`);
}

/** Throws unless nothing stands at `path`, or a file or folder of this user. A link may lead to a file of somebody's choice. */
export async function requireOwn(path: string, kind: 'file' | 'folder'): Promise<void> {
  const found = await orIfMissing(lstat(path), undefined);
  if (found === undefined) return;
  if (found.isSymbolicLink()) throw unusable(path, `is a link, and a ${kind} was expected`, LINK_HINT);
  if (kind === 'folder' ? !found.isDirectory() : !found.isFile()) throw unusable(path, `is no ${kind}`);
  const user = process.getuid?.();
  if (user !== undefined && found.uid !== user) {
    throw unusable(path, `belongs to user ${found.uid}, and this is user ${user}`);
  }
}

const LINK_HINT = 'Delete the link, or name the folder that it leads to in the variable SKILLOPT_HOME.';

export const unusable = (path: string, what: string, hint = HINT): SkillError =>
  new SkillError('STATE_UNUSABLE', `${shownPath(path)} ${what}`, { hint });

/** The text of a file of ours, or `undefined` when there is none. */
export async function readPrivate(path: string): Promise<string | undefined> {
  await requireOwn(path, 'file');
  await using file = await orIfMissing(open(path, constants.O_RDONLY | NO_FOLLOW), undefined);
  return await file?.readFile('utf8');
}

/** Readers find the old text or the new one, also after a crash of the machine. Nobody else can read it at any moment. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  await requireOwn(path, 'file');
  await rm(draft, { force: true }); // Left by a crash, or a planted link: it goes, and is not followed.
  await writeSynced(draft, text, 0o600);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** An empty file, unless one is there: for what a library opens by its path. Its companions get the same mode. */
export async function createPrivate(path: string): Promise<void> {
  await requireOwn(path, 'file');
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}
