import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'vitest';

/** The packed tool; `test/support/package.ts` makes it. */
const PACKAGE = resolve('.cache/package');

type Typed = { readonly command: string; readonly printed: string };

/**
 * Somebody who has just installed the packed tool, in an empty home, with a folder of files. `follow` types one command, and
 * then only what the tool prints as the next one. Nothing else is written.
 */
export async function createNewcomer(
  files: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
) {
  const home = await mkdtemp(join(tmpdir(), 'skillopt-newcomer-'));
  const folder = join(home, 'project');
  await install(home);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const type = (command: string) => typeCommand(command, { folder, home, variables });
  return {
    read: (name: string) => readFile(join(folder, name), 'utf8'),
    follow: (first: string) => follow(first, type),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** As `npm install` does: `npx` finds the command in the folder above. */
async function install(home: string): Promise<void> {
  const bin = join(PACKAGE, 'bin/skillopt.mjs');
  await mkdir(join(home, 'node_modules/.bin'), { recursive: true });
  await mkdir(join(home, 'project'));
  await chmod(bin, 0o755);
  await symlink(PACKAGE, join(home, 'node_modules/skillopt'));
  await symlink('../skillopt/bin/skillopt.mjs', join(home, 'node_modules/.bin/skillopt'));
}

const MOST_COMMANDS = 8;

async function follow(first: string, type: (command: string) => Promise<string>): Promise<Typed[]> {
  const typed: Typed[] = [];
  for (let command: string | undefined = first; command !== undefined && typed.length < MOST_COMMANDS; ) {
    const printed = await type(command);
    typed.push({ command, printed });
    command = nextIn(printed);
  }
  return typed;
}

/** `next:  COMMAND  why`. */
function nextIn(printed: string): string | undefined {
  return [...printed.matchAll(/^next: +(npx skillopt .*?)(?: {2,}.*)?$/gm)].at(-1)?.[1];
}

type Place = {
  readonly folder: string;
  readonly home: string;
  readonly variables: Readonly<Record<string, string>>;
};

/** In a shell, as a person would. */
async function typeCommand(command: string, { folder, home, variables }: Place): Promise<string> {
  const { PATH = '' } = process.env;
  const quiet = { NO_COLOR: '1', npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: { PATH, HOME: home, ...quiet, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const code = await new Promise<number | null>((done) => child.on('close', done));
  expect(code, `${command}\n${printed}`).toBe(0);
  return printed;
}
