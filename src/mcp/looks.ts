import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { describeRun } from '../app/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { findSkillFiles, lintFolder } from '../skills/index.ts';
import { JOURNAL_FILE } from '../stores/index.ts';
import type { ToolContext } from './tool-context.ts';

/** What was found at an absolute path. An agent may work anywhere, so nothing is relative. */
async function requirePath(path: string, what: string): Promise<Awaited<ReturnType<typeof stat>>> {
  const found = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined;
  if (found !== undefined) return found;
  throw new SkillError('USAGE', `expected the absolute path of ${what}, got ${JSON.stringify(path)}`, {
    hint: 'Relative paths and ~ mean nothing here.',
  });
}

export async function showRun({ run }: { readonly run: string }) {
  const found = await requirePath(run, 'a run folder');
  if (!existsSync(join(run, JOURNAL_FILE))) {
    const hint = 'A run folder holds a journal: skillopt runs lists the runs of a project.';
    throw new SkillError('RUN_NOT_FOUND', `there is no run in ${run}`, { hint });
  }
  const { row, read } = await describeRun({ name: basename(run), path: run, modifiedAt: found.mtime });
  return { facts: { ...row, isRunning: read?.isRunning ?? false } };
}

export async function lint({ path }: { readonly path: string }, _: ToolContext) {
  await requirePath(path, 'a skill or a folder of skills');
  const skills = await Promise.all((await findSkillFiles(path)).map(lintFolder));
  const findings = skills.flatMap((skill) => skill.findings);
  const count = (level: 'error' | 'warning') => findings.filter((finding) => finding.level === level).length;
  const shown = skills.map(({ file, findings: own }) => ({ path: file, findings: own }));
  return { facts: { isOk: count('error') === 0, errors: count('error'), warnings: count('warning'), skills: shown } };
}
