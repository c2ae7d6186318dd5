import { join } from 'node:path';
import { findConfigFile, type LoadedProject, loadProject, resolvePath } from '../../project/index.ts';
import { typedSettings } from '../flags/project-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The project that is named or that is here; tasks can be worked on without one. */
export async function projectOf(
  { config, ...flags }: Readonly<Record<string, unknown>> & { readonly config?: string | undefined },
  { io }: Terminal,
): Promise<LoadedProject | undefined> {
  const cwd = io.cwd();
  if (config === undefined && findConfigFile(cwd) === undefined) return undefined;
  return loadProject({ ...typedSettings(flags), config, cwd });
}

/** The file of tasks that is meant: the one that is typed, the project's, or the usual one. */
export function tasksPath(typed: string | undefined, loaded: LoadedProject | undefined, { io }: Terminal): string {
  if (typed !== undefined) return resolvePath(io.cwd(), typed);
  return loaded?.project.tasks ?? join(loaded?.directory ?? io.cwd(), 'tasks.jsonl');
}
