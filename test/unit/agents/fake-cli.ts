import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** What a fake CLI was given. */
export type Given = {
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly entries: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The files that an argument or a variable names, and those in the CLI's private home, by their content. */
  readonly texts: readonly string[];
};

/** What a fake CLI does. The shell does it, which starts many times faster than Node. */
export type Does = {
  /** Printed in answer to `--version`, in place of the rest. */
  readonly version?: string;
  readonly out?: string;
  readonly err?: string;
  readonly code?: number;
  /** Shell commands before and after it prints. */
  readonly before?: string;
  readonly after?: string;
};

/** Prints texts as they are, and other values as lines of JSON. */
export const prints = (...values: readonly (object | string)[]): Does => ({
  out: values.map((value) => (typeof value === 'string' ? value : `${JSON.stringify(value)}\n`)).join(''),
});

export const warns = (err: string, code = 0): Does => ({ err, code });

/** Waits to be ended. */
export const hangs = (does: Does = {}): Does => ({ ...does, after: 'exec sleep 600' });

/** Files of a fake CLI: what it prints, and what it was given. */
const HOMES = ['CODEX_HOME', 'GEMINI_CLI_HOME', 'GEMINI_SYSTEM_MD', 'QWEN_SYSTEM_MD', 'XDG_CONFIG_HOME'];

const noting = (folder: string) => `#!/bin/sh
folder='${folder}'
rm -rf "$folder/given" && mkdir -p "$folder/given/texts"
printf '%s\\0' "$@" > "$folder/given/args"
[ "$1" = --version ] || cat > "$folder/given/input"
pwd > "$folder/given/cwd"
ls -A > "$folder/given/entries"
env -0 > "$folder/given/env"
at=0
for named in "$@" ${HOMES.map((name) => `"$${name}"`).join(' ')}; do
  case "$named" in /*) at=$((at + 1)); cp -rL "$named" "$folder/given/texts/$at" 2> /dev/null ;; esac
done
`;

const program = (folder: string, { version, out, err, code = 0, before = '', after = '' }: Does) =>
  [
    noting(folder),
    version === undefined ? '' : `if [ "$1" = --version ]; then echo '${version}'; exit; fi`,
    before,
    out === undefined ? '' : `cat "$folder/out"`,
    err === undefined ? '' : `cat "$folder/err" >&2`,
    after,
    `exit ${code}`,
  ].join('\n');

/**
 * A folder with a program `binary` in it, and a home of its user with `homeFiles`. Gone after the test. The program notes what
 * it was given, and then does what it is told, in words of the shell or as a script for Node.
 */
export function fakeCli(binary: string, does: Does | string, homeFiles: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-fake-cli-'));
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')];
  if (typeof does !== 'string') for (const name of ['out', 'err'] as const) write(join(folder, name), does[name] ?? '');
  write(join(folder, 'script.cjs'), `const fs = require('node:fs');\n${does}`);
  const run = { after: `exec '${process.execPath}' "$folder/script.cjs" "$@"` };
  write(join(bin, binary), program(folder, typeof does === 'string' ? run : does));
  chmodSync(join(bin, binary), 0o755);
  for (const [name, text] of Object.entries({ '.keep': '', ...homeFiles })) write(join(home, name), text);
  return {
    path: join(bin, binary),
    home,
    env: { HOME: home, PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, CODEX_HOME: undefined },
    given: () => readGiven(join(folder, 'given')),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function readGiven(folder: string): Given {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const args = read('args').split('\0').slice(0, -1);
  const variables = read('env').split('\0').slice(0, -1);
  const env = Object.fromEntries(variables.map((one) => [one.split('=', 1)[0]!, one.slice(one.indexOf('=') + 1)]));
  const input = args[0] === '--version' ? '' : read('input');
  const entries = read('entries').split('\n').filter(Boolean);
  return { args, input, cwd: read('cwd').trim(), entries, env, texts: textsBelow(join(folder, 'texts')) };
}

const textsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
