import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { SkillError, type SkillPackage } from '../core/contracts/index.ts';
import { isFileError } from '../stores/index.ts';
import { notFound, skillFileAt } from './read-skill-file.ts';

/** What is no part of a skill, though it may lie in its folder. */
const FOREIGN =
  /(?:^|\/)(?:\.git|node_modules|__pycache__|runs|evals)(?:\/|$)|(?:^|\/)(?:\.DS_Store|\.env[^/]*)$|^skillopt\.config\./;

/** More than any skill that an agent could use. */
const MOST_BYTES = 20_000_000;

/**
 * A skill with all that lies in its folder, but for paths that `without` names: tasks may lie there, and are none of the
 * agent's business. A document that is not called SKILL.md is a skill by itself.
 */
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

/** Plain files below a folder. A link may lead out of it, and is left out. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !FOREIGN.test(name))
    .sort();
}

function tooBig(folder: string): SkillError {
  return new SkillError(
    'SKILL_NOT_FOUND',
    `${folder} holds more than ${MOST_BYTES / 1e6} MB, which is no skill folder`,
    {
      hint: 'Name a folder that holds SKILL.md and what belongs to it, and nothing else.',
    },
  );
}
