import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { CONFIG_NAMES } from '../../project/index.ts';

/** Throws unless the path is a folder, or can become one. */
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
