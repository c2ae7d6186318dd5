import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  readonly pid: number;
};

/** Notes what it was given, then does what `script` says with `print`, `warn` and `given`. */
const program = (script: string, note: string) => `#!${process.execPath}
const fs = require('node:fs');
const path = require('node:path');
const walk = (at) => { try { return fs.statSync(at).isDirectory() ? fs.readdirSync(at).flatMap((name) => walk(path.join(at, name))) : [fs.readFileSync(at, 'utf8')]; } catch { return []; } };
const args = process.argv.slice(2);
const input = args.includes('--version') ? '' : fs.readFileSync(0, 'utf8');
const named = [...args, ...['CODEX_HOME', 'GEMINI_CLI_HOME', 'GEMINI_SYSTEM_MD', 'QWEN_SYSTEM_MD', 'XDG_CONFIG_HOME'].map((name) => process.env[name] ?? '')];
const texts = named.filter((value) => value.startsWith('/')).flatMap(walk);
const given = { args, input, cwd: process.cwd(), entries: fs.readdirSync('.'), env: process.env, texts, pid: process.pid };
fs.writeFileSync(${JSON.stringify(note)}, JSON.stringify(given));
const print = (value) => process.stdout.write(typeof value === 'string' ? value : JSON.stringify(value) + '\\n');
const warn = (value) => process.stderr.write(value);
${script}
`;

/** A folder with a program `binary` in it, and a home of its user with `homeFiles`. Gone after the test. */
export function fakeCli(binary: string, script: string, homeFiles: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-fake-cli-'));
  const [bin, home, note] = [join(folder, 'bin'), join(folder, 'home'), join(folder, 'given.json')];
  write(join(bin, binary), program(script, note));
  chmodSync(join(bin, binary), 0o755);
  for (const [name, text] of Object.entries({ '.keep': '', ...homeFiles })) write(join(home, name), text);
  return {
    path: join(bin, binary),
    home,
    env: { HOME: home, PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, CODEX_HOME: undefined },
    given: (): Given => JSON.parse(readFileSync(note, 'utf8')),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
