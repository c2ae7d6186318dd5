import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { installPlugin } from '../../../src/plugins/index.ts';
import { digestOf } from '../../../src/skills/index.ts';
import { MCP_STAND_IN, pluginHome, SETTINGS } from '../../support/plugins/plugin-home.ts';

const pinned = { node: process.execPath, entry: MCP_STAND_IN };
const RECEIPT = 'state/plugins/receipts/claude.json';
const [CLAUDE] = SETTINGS.claude;
type Home = ReturnType<typeof pluginHome>;

/** Runs `then` after each call of Claude Code that begins with these words. */
function afterVerb(home: Home, verb: string, then: string): void {
  const own = home.has('bin/claude-own') ? home.read('bin/claude-own') : home.read('bin/claude');
  home.program('bin/claude-own', own);
  home.program(
    'bin/claude',
    `#!/bin/sh\n'${home.at('bin/claude-own')}' "$@"; c=$?\ncase "$*" in '${verb}'*) ${then};; esac\nexit $c\n`,
  );
}

const setting = (home: Home, key: string, value: unknown) => {
  const path = JSON.stringify(home.at(CLAUDE));
  home.write(
    'set.mjs',
    `import { readFileSync, writeFileSync } from 'node:fs';
writeFileSync(${path}, JSON.stringify({ ...JSON.parse(readFileSync(${path})), ${key}: ${JSON.stringify(value)} }));\n`,
  );
  return `'${process.execPath}' '${home.at('set.mjs')}'`;
};

type Kept = {
  settings: { path: string; before: string | null; after: string }[];
  folders: string[];
  inserted: unknown;
};

async function tampered(home: Home, change: (receipt: Kept) => void) {
  await installPlugin('claude', home.place, { pinned });
  const receipt = JSON.parse(home.read(RECEIPT)) as Kept;
  change(receipt);
  home.write(RECEIPT, JSON.stringify(receipt));
  return home.run('uninstall', 'claude');
}

describe('a receipt that was tampered with', () => {
  it.each([
    '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}]}}',
    '{"enabledPlugins":{"skillopt@skillopt":true},"extraKnownMarketplaces":{"skillopt":{"source":{"path":"/evil"}}}}',
    '{"enabledPlugins":{"evil@evil":true}}',
  ])('brings nothing into settings: %s', async (evil) => {
    using home = pluginHome();
    home.write(CLAUDE, '{}');
    const { out } = await tampered(home, (receipt) => {
      const [file] = receipt.settings;
      receipt.settings = [{ ...file!, before: digestOf(Buffer.from(evil)), back: [{ add: [evil] }] } as never];
    });
    expect(out).toContain(`stays    ${home.at(CLAUDE)}: `);
    expect(JSON.parse(home.read(CLAUDE))).toEqual({ enabledPlugins: {}, extraKnownMarketplaces: {} });
  });

  it('deletes no settings of the person', async () => {
    using home = pluginHome();
    await tampered(home, ({ settings }) => {
      for (const file of settings) file.before = null;
    });
    expect(home.read(CLAUDE)).toContain('sonnet');
  });

  it.each([
    ['folders', (home: Home) => ({ folders: [home.at('work')] })],
    ['a way out', (home: Home) => ({ folders: [`${home.at('.claude')}/../work`] })],
    ['text in settings', (home: Home) => ({ inserted: { path: home.at(CLAUDE), text: '"sonnet"' } })],
  ])('is refused: %s', async (_, changed) => {
    using home = pluginHome();
    const { code, err } = await tampered(home, (receipt) => Object.assign(receipt, changed(home)));
    expect([code, err]).toEqual([2, expect.stringContaining('is damaged')]);
    expect([home.has('work'), home.read(CLAUDE)]).toEqual([true, expect.stringContaining('sonnet')]);
  });
});

describe('what a person writes into settings', () => {
  it.each([
    ['during the install', 'plugin install', 'theme', 'dark'],
    ['during the uninstall', 'plugin uninstall', 'verbose', true],
  ])('%s stays', async (_, verb, key, value) => {
    using home = pluginHome();
    home.write(CLAUDE, '{ "verbose": false, "autoUpdates": true }');
    afterVerb(home, verb, setting(home, key, value));
    await installPlugin('claude', home.place, { pinned });
    const { code, out } = await home.run('uninstall', 'claude');
    expect([code, out]).toEqual([0, expect.stringContaining('it was changed during the install or the uninstall')]);
    expect(JSON.parse(home.read(CLAUDE))).toMatchObject({ autoUpdates: true, [key]: value });
  });
});

describe('an install that did not end', () => {
  it('calls no verb of the agent to undo what it did not do', async () => {
    using home = pluginHome();
    const folders = ['state', 'state/plugins', 'state/plugins/0.1.0', 'state/plugins/0.1.0/claude'];
    home.write('state/plugins/0.1.0/claude/plugin/plugin.json', 'not yours');
    for (const folder of [...folders, 'state/plugins/0.1.0/claude/plugin']) chmodSync(home.at(folder), 0o700);
    const before = home.bytes();
    expect((await home.run('install', 'claude')).err).toContain('plugin.json');
    expect(home.bytes()).toEqual(before);
    expect(home.calls().map(({ words }) => words.join(' '))).not.toContain('plugin uninstall skillopt@skillopt');
    expect(home.has(RECEIPT)).toBe(false);
  });

  /** Kills an install after the agent's first verb, before the receipt says what that did. */
  async function killed(home: Home): Promise<void> {
    afterVerb(home, 'plugin marketplace add', 'kill -9 $PPID');
    const program = `${process.cwd()}/bin/skillopt.mjs`;
    const options = { cwd: home.at('work'), env: home.env, stdio: 'ignore' } as const;
    const child = spawn(process.execPath, [program, 'plugin', 'install', 'claude'], options);
    await new Promise((resolve) => child.on('close', resolve));
    home.program('bin/claude', home.read('bin/claude-own'));
  }

  it.each([[['uninstall']], [['install', 'uninstall']]])('gives the old bytes back after %j', async (commands) => {
    using home = pluginHome();
    const before = home.read(CLAUDE);
    await killed(home);
    expect(home.read(CLAUDE)).not.toBe(before);
    expect(home.grep('state', 'sk-ant-dummy')).toEqual([]);
    for (const command of commands) {
      const { code, out } = await home.run(command, 'claude');
      expect([code, out]).toEqual([0, expect.not.stringContaining('stays')]);
    }
    expect([home.read(CLAUDE), home.has(RECEIPT)]).toEqual([before, false]);
  });

  it('leaves settings that were changed after it, and the next install says so', async () => {
    using home = pluginHome();
    await killed(home);
    home.write(CLAUDE, JSON.stringify({ ...JSON.parse(home.read(CLAUDE)), theme: 'dark' }));
    const why = 'it was changed after the install was cut off';
    expect((await home.run('install', 'claude')).out).toMatch(new RegExp(`stays +.*settings.json: .*${why}`));
    await home.run('uninstall', 'claude');
    expect(JSON.parse(home.read(CLAUDE))).toMatchObject({ model: 'sonnet', theme: 'dark' });
  });

  it('by Ctrl-C says which command undoes it', async () => {
    using home = pluginHome();
    const before = home.read(CLAUDE);
    afterVerb(home, 'plugin marketplace add', 'exec sleep 20');
    const program = `${process.cwd()}/bin/skillopt.mjs`;
    const child = spawn(process.execPath, [program, 'plugin', 'install', 'claude'], {
      ...{ cwd: home.at('work'), env: home.env, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    let printed = '';
    child.stderr!.on('data', (text) => (printed += text));
    const ended = new Promise((resolve) => child.on('close', resolve));
    while (home.read(CLAUDE) === before && child.exitCode === null) await delay(20);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(printed).toMatch(/The install was cut off\. To undo what it did: .*plugin uninstall claude\n$/);
    home.program('bin/claude', home.read('bin/claude-own'));
    expect((await home.run('uninstall', 'claude')).out).toBe('skillopt is removed from claude.\n');
    expect(home.read(CLAUDE)).toBe(before);
  });
});

const FOREIGN = { skillopt: { command: '/bin/false', args: ['foreign'] } };
const OWN = { skillopt: { command: '/usr/local/bin/skillopt', args: ['mcp'] } };
const asJson = (key: string, servers: unknown) => JSON.stringify({ [key]: servers });
const asToml = (_: string, { skillopt: { command, args } }: typeof FOREIGN) =>
  `[mcp_servers.skillopt]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`;

describe.each([
  ['claude', '.claude.json', asJson, 'claude mcp remove --scope user skillopt'],
  ['codex', '.codex/config.toml', asToml, 'codex mcp remove skillopt'],
  ['copilot', '.copilot/mcp-config.json', asJson, 'copilot mcp remove skillopt'],
  ['gemini', '.gemini/settings.json', asJson, 'gemini mcp remove --scope user skillopt'],
  ['qwen', '.qwen/settings.json', asJson, 'qwen mcp remove --scope user skillopt'],
] as const)('a server of that name in %s', (agent, path, written, remove) => {
  it('that is not ours is refused by an install, and named by doctor', async () => {
    using home = pluginHome();
    home.write(path, written('mcpServers', FOREIGN));
    const before = home.bytes();
    const { code, err } = await home.run('install', agent);
    expect([code, err]).toEqual([2, expect.stringContaining('it starts /bin/false')]);
    expect(err).toContain(remove);
    expect(home.bytes()).toEqual(before);
    const examined = await home.run('doctor', agent);
    expect([examined.code, examined.out]).toEqual([1, expect.stringContaining(`→ ${remove}`)]);
  });

  it('that came after the install is a finding', async () => {
    using home = pluginHome();
    await installPlugin(agent, home.place, { pinned });
    const present = home.has(path) ? home.read(path) : '';
    const isToml = path.endsWith('.toml');
    const more = written('mcpServers', FOREIGN);
    home.write(
      path,
      isToml ? `${present}\n${more}` : JSON.stringify({ ...JSON.parse(present || '{}'), ...JSON.parse(more) }),
    );
    const { code, out } = await home.run('doctor', agent);
    expect([code, out]).toEqual([1, expect.stringContaining('it starts /bin/false')]);
  });

  it('that the person added by hand is called so', async () => {
    using home = pluginHome();
    home.write(path, written('mcpServers', OWN));
    const { err } = await home.run('install', agent);
    expect(err).toContain('the same server was added by hand');
    expect(err).toContain(remove);
    const { code, out } = await home.run('doctor', agent);
    expect([code, out]).toEqual([0, expect.stringContaining('its server was added by hand')]);
  });
});

describe('an uninstall that cannot do all', () => {
  it('removes our files where the agent is gone, and says what stays', async () => {
    using home = pluginHome();
    await installPlugin('copilot', home.place, { pinned });
    const program = home.read('bin/copilot');
    rmSync(home.at('bin/copilot'));
    const { code, out } = await home.run('uninstall', 'copilot');
    expect([code, out]).toEqual([0, expect.stringContaining('is not on PATH, so its own entry of skillopt')]);
    expect([home.has('state/plugins/0.1.0'), home.has('state/plugins/receipts/copilot.json')]).toEqual([false, false]);
    home.program('bin/copilot', program);
    const verbs = 'copilot plugin uninstall skillopt@skillopt; copilot plugin marketplace remove skillopt';
    const examined = await home.run('doctor', 'copilot');
    expect([examined.code, examined.out]).toEqual([
      1,
      expect.stringContaining(`→ ${verbs}; npx skillopt plugin install copilot`),
    ]);
    for (const verb of verbs.split('; ')) execFileSync('/bin/sh', ['-c', verb], { env: home.env });
    expect((await home.run('install', 'copilot')).err).toBe('');
  });

  it.each([
    ['a key', (text: string) => text.replace('"enabled":true', '"enabled":true,"environment":{"A":"1"}')],
    ['a comment', (text: string) => text.replace('"enabled":true', '"enabled":true\n// why\n')],
  ])('leaves the server of OpenCode that got %s, and says so', async (_, edit) => {
    using home = pluginHome();
    const [path] = SETTINGS.opencode;
    await installPlugin('opencode', home.place, { pinned });
    const edited = edit(home.read(path));
    expect(edited).not.toBe(home.read(path));
    home.write(path, edited);
    const { code, err } = await home.run('uninstall', 'opencode');
    expect([code, err]).toEqual([2, expect.stringContaining('is not as the install wrote it')]);
    expect(home.read(path)).toBe(edited);
  });

  it('deletes nothing through a link in the place of the copy', async () => {
    using home = pluginHome();
    await installPlugin('codex', home.place, { pinned });
    renameSync(home.at('state/plugins/0.1.0/codex'), home.at('mine'));
    symlinkSync(home.at('mine'), home.at('state/plugins/0.1.0/codex'));
    const before = home.bytes();
    const { code, err } = await home.run('uninstall', 'codex');
    expect([code, err]).toEqual([2, expect.stringContaining('a link leads from there')]);
    expect(home.bytes()).toEqual(before);
  });

  it('names the key to remove by hand', async () => {
    using home = pluginHome();
    const [path] = SETTINGS.opencode;
    await installPlugin('opencode', home.place, { pinned });
    home.write(path, home.read(path).replace('skillopt-mcp"]', 'skillopt-mcp", "--mine"]'));
    const { code, err } = await home.run('uninstall', 'opencode');
    expect([code, err]).toEqual([2, expect.stringContaining(`Remove the key mcp.skillopt from ${home.at(path)}`)]);
  });

  it('is not needed where a folder has a line break in its name', async () => {
    using home = pluginHome();
    const env = { ...home.env, SKILLOPT_HOME: home.at('a\nb') };
    const { code, err } = await home.runWith(env, 'install', 'claude');
    expect([code, err]).toEqual([2, expect.stringContaining('without control characters')]);
    expect(err).not.toContain('Markdown');
  });
});

describe('what the commands print', () => {
  it('names after an install what was called, where the files are, and no long path', async () => {
    using home = pluginHome();
    const { out } = await home.run('install', 'claude');
    expect(out.split('\n').slice(1, 4)).toEqual([
      '  called   claude plugin marketplace add ~/state/plugins/0.1.0/claude',
      '  called   claude plugin install skillopt@skillopt',
      '  written  14 files in ~/state/plugins/0.1.0/claude',
    ]);
    const listed = JSON.parse((await home.run('list', '--json')).out).plugins;
    expect(listed.slice(0, 2)).toMatchObject([
      { agent: 'claude', installed: true },
      { agent: 'codex', installed: false },
    ]);
  });

  it('shows examples of each command, and names the commands once', async () => {
    using home = pluginHome();
    for (const name of ['list', 'doctor'])
      expect((await home.run(name, '--help')).out).toContain(`plugin ${name} --json`);
    const { err } = await home.run();
    expect(err).toMatch(/After ".*skillopt plugin" write one of: install, uninstall, list, doctor/);
  });
});
