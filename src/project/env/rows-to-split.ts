import { isBenchmark } from '../../benchmarks/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { withPlace } from '../origin.ts';
import type { Project } from '../project.ts';

/** Throws where `splitBy` would protect nothing: without rows that are drawn. */
export async function requireRowsToSplit({ project, findOrigin }: LoadedProject): Promise<void> {
  if (project.splitBy === undefined || readsRows(project)) return;
  const problem = `splitBy names a column of a task file, and env: ${project.env} reads none here`;
  const hint = 'Remove splitBy, or name a task file of questions: tasks: tasks.csv';
  throw await withPlace(new SkillError('CONFIG_INVALID', problem, { hint }), ['splitBy'], findOrigin);
}

/** Modules and registered environments read their tasks as they like. */
function readsRows({ env, tasks }: Project): boolean {
  if (env === 'qa') return tasks !== undefined;
  return env !== 'workspace' && env !== 'trigger' && !isBenchmark(env);
}
