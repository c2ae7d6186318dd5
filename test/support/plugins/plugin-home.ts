import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { runCli } from '../../../src/cli/index.ts';
import { PLUGIN_AGENTS } from '../../../src/plugins/index.ts';
import { captureIo } from '../capture-io.ts';
import { tempFolder } from '../temp-folder.ts';

export const MCP_STAND_IN = resolve('test/support/plugins/mcp-stand-in.mjs');
const AGENT_STAND_IN = resolve('test/support/plugins/agent-stand-in.mjs');

/** Settings of a person, in the form in which people write them. */
export const SETTINGS: Readonly<Record<(typeof PLUGIN_AGENTS)[number], readonly [path: string, text: string]>> = {
  claude: [
    '.claude/settings.json',
    '{\n    "model": "sonnet",\n    "env": {"ANTHROPIC_API_KEY": "sk-ant-dummy-0123456789abcdef"}}',
  ],
  codex: ['.codex/config.toml', '# mine\nmodel = "gpt-5"   # keep\n'],
  copilot: ['.copilot/settings.json', '{"theme":"dark"}\n'],
  gemini: ['.gemini/settings.json', '{ "security": {} }'],
  qwen: ['.qwen/settings.json', '{}'],
  opencode: [
    '.config/opencode/opencode.jsonc',
    '{\n  // mine\n  "theme": "system",\n  "mcp": { "other": { "type": "local", "command": ["true"], "enabled": false }, },\n}\n',
  ],
};

/** A home with the programs of all agents, and a folder to work in. */
export function pluginHome() {
  const home = tempFolder();
  const at = (path: string) => join(home.path, path);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const program = (path: string, text: string) => {
    write(path, text);
    chmodSync(at(path), 0o755);
  };
  for (const agent of PLUGIN_AGENTS) {
    program(`bin/${agent}`, `#!/bin/sh\nexec '${process.execPath}' '${AGENT_STAND_IN}' ${agent} "$@"\n`);
    write(...SETTINGS[agent]);
  }
  mkdirSync(at('work'));
  const env = { HOME: home.path, PATH: `${at('bin')}:/usr/bin:/bin`, SKILLOPT_HOME: at('state') };
  /** Every file of the person, but ours and the list of calls. */
  const files = (folder = '') =>
    readdirSync(at(folder), { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() &&
          !/^(?:state|bin)\b|calls\.jsonl/.test(join(entry.parentPath, entry.name).slice(home.path.length + 1)),
      )
      .map((entry) => join(entry.parentPath, entry.name).slice(home.path.length + 1))
      .sort();
  async function runWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const io = captureIo({ cwd: at('work'), env: variables });
    const code = await runCli(['plugin', ...args], io);
    return { code, out: io.out(), err: io.err() };
  }
  return {
    ...home,
    ...{ env, at, write, program },
    place: { env, cwd: at('work') },
    read: (path: string) => readFileSync(at(path), 'utf8'),
    /** The files below a folder that hold a text. */
    grep: (folder: string, text: string) =>
      readdirSync(at(folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => readFileSync(path, 'latin1').includes(text)),
    has: (path: string) => existsSync(at(path)),
    bytes: () => Object.fromEntries(files().map((path) => [path, readFileSync(at(path), 'latin1')])),
    calls: () =>
      readFileSync(at('calls.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)) as { words: string[]; cwd: string; path: string }[],
    run: (...args: readonly string[]) => runWith(env, ...args),
    runWith,
  };
}
