import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeRun } from '../app/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { findSkillFiles, type LintedSkill, lintFolder } from '../skills/index.ts';
import { JOURNAL_FILE } from '../stores/index.ts';
import { costFacts } from './cost-facts.ts';
import { requireFolder, requirePath } from './paths.ts';
import type { ToolContext } from './tool-context.ts';

export async function showRun({ run }: { readonly run: string }) {
  const found = await requireFolder(run, 'the folder of a run');
  if (!existsSync(join(run, JOURNAL_FILE))) {
    const hint = 'A run folder holds a journal: skillopt runs lists the runs of a project.';
    throw new SkillError('RUN_NOT_FOUND', `there is no run in ${run}`, { hint });
  }
  const { row, read } = await describeRun({ name: basename(run), path: run, modifiedAt: found.mtime });
  const cost = row.cost && costFacts(row.cost);
  return { facts: { ...row, cost, isRunning: read?.isRunning ?? false } };
}

export async function lint({ path }: { readonly path: string }, _: ToolContext) {
  await requirePath(path, 'a SKILL.md or a folder of skills');
  const skills: LintedSkill[] = [];
  for (const file of await findSkillFiles(path)) skills.push(await lintFolder(file)); // one by one: there may be thousands
  const findings = skills.flatMap((skill) => skill.findings);
  const count = (level: 'error' | 'warning') => findings.filter((finding) => finding.level === level).length;
  const shown = skills.map(({ file, findings: own }) => ({ path: file, findings: own }));
  return { facts: { isOk: count('error') === 0, errors: count('error'), warnings: count('warning'), skills: shown } };
}
