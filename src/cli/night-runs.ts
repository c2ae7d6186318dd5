import { isNight, nightPath } from '../app/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { placeOfProcess } from '../sleep/index.ts';
import { stateFolderOf } from '../stores/index.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Where the nights of the project in this folder are. */
export const placeOfNights = (terminal: Terminal) => ({
  cwd: terminal.io.cwd(),
  stateFolder: stateFolderOf(placeOfProcess(terminal.io.env)),
});

/** What to look for, and where: nights are found by the names that `runs` shows. */
export function runPlace(name: string, root: string, terminal: Terminal) {
  const cwd = terminal.io.cwd();
  if (!isNight(name)) return [name, { cwd, root }] as const;
  const { path, hasRun } = nightPath(name, placeOfNights(terminal));
  if (hasRun) return [path ?? name, { cwd, root }] as const;
  const hint = `Its report: skillopt show ${name}`;
  throw new SkillError('RUN_NOT_FOUND', `${name} has trained nothing, so it has no run`, { hint });
}
