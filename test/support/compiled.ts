import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { runCli } from '../../src/cli/index.ts';

/** Whether the sources were compiled before the tests (`test/support/package.ts`); otherwise processes take a second longer each to begin. */
const isCompiled = !process.env.WITHOUT_PACKAGE;

/** The package that a user would install; the clone stands in for it where it was not packed. */
export const PACKAGE = resolve(isCompiled ? '.cache/package' : '.');

/** The command as a program of its own: the packed one. */
export const COMMAND = join(PACKAGE, 'bin/skillopt.mjs');

/** What Node is given to run a program in TypeScript: `*.child.ts` beside a test, or one of the examples. */
export function programArgs(program: URL | string): string[] {
  const path = program instanceof URL ? fileURLToPath(program) : resolve(program);
  if (!isCompiled) return ['--import', 'tsx', path];
  return [resolve('.cache/compiled', relative(resolve('.'), path).replace(/\.ts$/, '.js'))];
}

/** The front door of the packed command, in this process: loading it for each answer would take a second. */
export async function packedCli(): Promise<typeof runCli> {
  const door = isCompiled ? resolve('.cache/package/dist/cli/index.js') : resolve('src/cli/index.ts');
  return ((await import(pathToFileURL(door).href)) as { readonly runCli: typeof runCli }).runCli;
}
