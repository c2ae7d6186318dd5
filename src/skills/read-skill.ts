import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { SkillError, type SkillPackage } from '../core/contracts/index.ts';
import { fileReason, isFileError, isMissing } from '../stores/index.ts';

/** In order of preference. */
const NAMES = ['SKILL.md', 'skill.md'];

/** The skill at a path. A file with another name, such as a version in a run, has no folder of its own. */
export async function readSkillFile(path: string) {
  const file = await skillFileAt(path);
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw notFound(path, cause);
  });
  return { file, folder: NAMES.includes(basename(file)) ? dirname(file) : undefined, text };
}

/** Bytes as text, or undefined if they are none, such as a picture. The end may be cut within a letter. */
export function skillTextOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

export const NO_SKILL_TEXT = 'expected a text in UTF-8, got other bytes';

/** The SKILL.md of a folder that has one, or else the path itself. Absolute. */
export const skillFileAt = async (path: string): Promise<string> => resolve((await skillFileIn(path)) ?? path);

/** The skills at a path: the file itself, the one in the folder, or those in its folders. */
export async function findSkillFiles(path: string): Promise<string[]> {
  const entries = await namesIn(path);
  if (entries === undefined) return [path];
  const own = await skillFileIn(path);
  if (own !== undefined) return [own];
  const below = await Promise.all(entries.sort().map((name) => skillFileIn(join(path, name))));
  const files = below.filter((file) => file !== undefined);
  if (files.length === 0) throw notFound(path);
  return files;
}

async function skillFileIn(folder: string): Promise<string | undefined> {
  const entries = await namesIn(folder);
  const name = NAMES.find((candidate) => entries?.includes(candidate));
  return name === undefined ? undefined : join(folder, name);
}

const namesIn = (folder: string): Promise<string[] | undefined> => readdir(folder).catch(() => undefined);

function notFound(path: string, cause?: NodeJS.ErrnoException): SkillError {
  return new SkillError('SKILL_NOT_FOUND', `${path} ${problemOf(cause)}`, {
    cause,
    hint: 'Name a SKILL.md, a folder with one, or a folder of such folders.',
  });
}

function problemOf(cause: NodeJS.ErrnoException | undefined): string {
  if (cause === undefined) return 'holds no SKILL.md, and no folder in it does';
  if (cause.code === 'EISDIR') return 'is a folder without a SKILL.md';
  return isMissing(cause) ? 'is not there' : `cannot be read: ${fileReason(cause)}`;
}

const FOREIGN =
  /(?:^|\/)(?:\.git|node_modules|__pycache__|runs|evals)(?:\/|$)|(?:^|\/)(?:\.DS_Store|\.env[^/]*)$|^skillopt\.config\./;

const MOST_BYTES = 20_000_000;

/** A skill with its folder. `without` names paths that the agent must not see, such as tasks. A document with another name is alone. */
export async function readPackage(path: string, without: readonly string[] = []): Promise<SkillPackage> {
  try {
    return await readFiles(await skillFileAt(path), without);
  } catch (error) {
    throw isFileError(error) ? notFound(path, error) : error;
  }
}

async function readFiles(file: string, without: readonly string[]): Promise<SkillPackage> {
  if (basename(file).toLowerCase() !== 'skill.md') return { files: { 'SKILL.md': await readFile(file, 'utf8') } };
  const folder = dirname(file);
  const files: Record<string, string> = {};
  const binaries: Record<string, Uint8Array> = {};
  let bytes = 0;
  const hidden = without.map((one) => relative(folder, one).split(sep).join('/'));
  const isHidden = (name: string) => hidden.some((one) => name === one || name.startsWith(`${one}/`));
  for (const name of await filesIn(folder)) {
    if (isHidden(name)) continue;
    const content = await readFile(join(folder, name));
    bytes += content.length;
    if (bytes > MOST_BYTES) throw tooBig(folder);
    const text = content.toString('utf8');
    const place = name.toLowerCase() === 'skill.md' ? 'SKILL.md' : name;
    if (Buffer.from(text).equals(content)) files[place] = text;
    else binaries[place] = content;
  }
  return { files, ...(Object.keys(binaries).length === 0 ? {} : { binaries }) };
}

/** Plain files below a folder. Links are left out, since they may lead out of it. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !FOREIGN.test(name))
    .sort();
}

function tooBig(folder: string): SkillError {
  const problem = `${folder} holds more than ${MOST_BYTES / 1e6} MB, which is no skill folder`;
  const hint = 'Name a folder that holds SKILL.md and what belongs to it, and nothing else.';
  return new SkillError('SKILL_NOT_FOUND', problem, { hint });
}
