import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** A program that adds arguments to ours, since not every CLI takes its provider from the environment. */
export async function wrap(program: string, args: readonly string[], home: string): Promise<string> {
  if (args.length === 0) return program;
  const quoted = args.map((argument) => `'${argument}'`);
  const path = join(home, 'wrapped');
  await writeFile(path, `#!/bin/sh\nexec '${program}' ${quoted.join(' ')} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

/** Without the proxies of this machine and without what the keys of its user would change. */
export function cleanEnvironment(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => !['PATH', 'LANG', 'TMPDIR'].includes(name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
