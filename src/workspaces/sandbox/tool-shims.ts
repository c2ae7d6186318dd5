import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';

/** A plain file name that no shell and no path reads otherwise. */
const TOOL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

const EXPECTED = 'letters, digits, "_", "." and "-", at most 64, with neither "." nor "-" at the beginning';

/** Throws `TASKS_INVALID` for a name that would be more than a file in our own folder. */
export function requireToolNames(names: readonly string[]): void {
  const bad = names.find((name) => !TOOL_NAME.test(name));
  if (bad === undefined) return;
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(bad)} cannot be the name of a tool: expected ${EXPECTED}`, {
    hint: 'Name the tool as it is called, without its path and arguments.',
  });
}

export type ToolShims = {
  /** Goes onto the PATH. */
  readonly folder: string;
  readonly log: string;
};

/**
 * Programs of these names that write down that they were called and end well. `seenAt` is where the log lies for who calls
 * them. Nothing is written unless all names are good.
 */
export async function writeToolShims(
  names: readonly string[],
  { folder, log }: ToolShims,
  seenAt = log,
): Promise<void> {
  requireToolNames(names);
  await mkdir(folder, { recursive: true });
  await writeFile(log, '');
  for (const name of new Set(names)) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\nprintf '%s\\n' '${name}' >> '${seenAt.replaceAll("'", `'\\''`)}'\n`);
    await chmod(path, 0o755);
  }
}

/** What was called. A line that is none of the names was not written by a shim. */
export async function readToolCalls(names: readonly string[], { log }: ToolShims): Promise<string[]> {
  if (names.length === 0) return [];
  const lines = (await readFile(log, 'utf8').catch(() => '')).split('\n');
  return lines.filter((line) => names.includes(line));
}
