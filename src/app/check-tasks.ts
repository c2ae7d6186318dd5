import { existsSync, statSync } from 'node:fs';
import { SkillError } from '../core/contracts/index.ts';
import type { LoadedProject } from '../project/index.ts';
import { readSkillFiles } from '../skills/index.ts';
import { shownPath } from '../stores/index.ts';
import {
  checkMeasured,
  type Finding,
  type LoadedCheck,
  lineOf,
  withoutRepeated,
  writeTaskLines,
} from '../tasks/index.ts';
import { type CheckedFile, checkInputs, type OnDoing } from './check-inputs.ts';
import { calibrateSkill, type MeasureOptions } from './scoring/calibrate.ts';
import { inlineFiles, readSkill } from './wire-run.ts';

/** What is wrong with the tasks at a path, by the skill and the settings of their project. Asks no model. */
export async function checkTaskFile(
  path: string,
  loaded: LoadedProject | undefined,
  onDoing?: OnDoing,
): Promise<CheckedFile> {
  const named = loaded?.project.skill;
  const document = named === undefined ? undefined : await readSkill(named);
  const skill = document ? document.text + inlineFiles((await readSkillFiles(document)).files) : '';
  return checkInputs(path, loaded?.project, skill, onDoing);
}

export async function measureTasks(loaded: LoadedProject, passes: number, options: MeasureOptions): Promise<Finding[]> {
  const { evidence, calibration } = await calibrateSkill(loaded, { passes }, options);
  return checkMeasured(evidence, calibration);
}

/** Writes each task once into a new file, so that no file of the user is overwritten. */
export async function writeWithoutRepeated({ tasks, rowsOf }: LoadedCheck, path: string, target: string) {
  if (statSync(path).isDirectory()) {
    const hint = 'Remove the folders of tasks that are not to stay yourself.';
    throw new SkillError('USAGE', 'only a file of tasks can be written, and these tasks are folders', { hint });
  }
  if (target === path || existsSync(target)) {
    const hint = 'Name a file that does not exist yet.';
    throw new SkillError('USAGE', `${shownPath(target)} is there already, and this overwrites nothing`, { hint });
  }
  const lines = (await rowsOf(withoutRepeated(tasks))).map(lineOf);
  await writeTaskLines(target, lines);
  return { tasks: lines.length, removed: tasks.length - lines.length };
}
