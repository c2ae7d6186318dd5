import { existsSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { CONFIG_NAMES, type FolderFindings, type LeftOut, resolvePath } from '../../project/index.ts';
import { skillFileAt } from '../../skills/index.ts';

type NamedParts = { readonly skill?: string | undefined; readonly tasks?: string | undefined };

/** Keeps only what the flags name. Throws for what is not there, and for a skill that is no text. */
export async function onlyNamed(
  found: FolderFindings,
  { skill, tasks }: NamedParts,
  cwd: string,
): Promise<FolderFindings> {
  const { directory } = found;
  const kept = skill === undefined ? found : await withSkill(found, skill, cwd);
  const [unread] = kept.brokenSkills;
  if (unread && kept.skills.length === 0) throw unreadable(unread, directory);
  if (tasks === undefined) return kept;
  const path = relative(directory, resolvePath(cwd, tasks));
  const chosen = found.tasks.filter((file) => file.path === path);
  if (chosen.length === 0) throw notFound(found, `--tasks ${tasks}`, found.tasks);
  return { ...kept, tasks: chosen, envs: [], skillOptConfigs: [] };
}

/** Compares real files: a skill that several links lead to was found once. */
async function withSkill(found: FolderFindings, typed: string, cwd: string): Promise<FolderFindings> {
  const wanted = await realSkill(resolvePath(cwd, typed));
  const pick = async <Thing extends { readonly path: string }>(things: readonly Thing[]) => {
    const files = await Promise.all(things.map(({ path }) => realSkill(join(found.directory, path))));
    return things.filter((_, index) => files[index] === wanted);
  };
  const [skills, brokenSkills] = [await pick(found.skills), await pick(found.brokenSkills)];
  if (skills.length + brokenSkills.length === 0) throw notFound(found, `--skill ${typed}`, found.skills);
  return { ...found, skills, brokenSkills };
}

async function realSkill(path: string): Promise<string> {
  const file = await skillFileAt(path);
  return realpath(file).catch(() => file);
}

function notFound(
  { directory }: FolderFindings,
  flag: string,
  things: readonly { readonly path: string }[],
): SkillError {
  const hint = things.length === 0 ? 'There is none.' : `There is: ${things.map(({ path }) => path).join(', ')}`;
  return new SkillError('USAGE', `${flag} is none of what was found in ${directory}`, { hint });
}

function unreadable({ path, why }: LeftOut, directory: string): SkillError {
  const hint =
    'Save it as text in UTF-8, or name another skill: --skill PATH. Without a skill, a new one is written: remove the file.';
  return new SkillError('SKILL_NOT_FOUND', `${join(directory, path)} is no skill: ${why}`, { hint });
}

export function requireFolder(path: string): void {
  const parent = dirname(path);
  if (!existsSync(path) && parent !== path) requireFolder(parent);
  if (!existsSync(path) || statSync(path).isDirectory()) return;
  const hint = 'Name a folder: skillopt init DIR. To use that file, name it: --skill FILE or --tasks FILE.';
  throw new SkillError('USAGE', `expected a folder for the project, got a file: ${path}`, { hint });
}

type Meant = { readonly format: string; readonly force?: boolean };

/** Throws where a project file is in the way. Even by force there are never two: `train` would not know which to take. */
export function requireNoOther(path: string, { format, force = false }: Meant): void {
  const there = CONFIG_NAMES.filter((name) => existsSync(join(path, name)));
  const isReplaced = there.length === 1 && there[0] === `skillopt.config.${format}`;
  if (there.length === 0 || (force && isReplaced)) return;
  throw new SkillError('USAGE', `${path} already has ${there.join(' and ')}`, { hint: hintFor(there, isReplaced) });
}

function hintFor([first = '', ...more]: readonly string[], isReplaced: boolean): string {
  const format = first.replace('skillopt.config.', '');
  if (more.length > 0)
    return `A project has one of them: remove all but one. To overwrite that one: --force --format ${format}.`;
  const other = 'Choose another folder: skillopt init DIR.';
  if (isReplaced) return `${other} Or overwrite it: --force.`;
  return `${other} Or overwrite it: --force --format ${format}. Or remove it first.`;
}
