import { spawn } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { installPlugin } from '../../../src/plugins/index.ts';
import { digestOf } from '../../../src/skills/index.ts';
import { MCP_STAND_IN, pluginHome, SETTINGS } from '../../support/plugins/plugin-home.ts';

const pinned = { node: process.execPath, entry: MCP_STAND_IN };
const RECEIPT = 'state/plugins/receipts/claude.json';
const [CLAUDE] = SETTINGS.claude;
type Home = ReturnType<typeof pluginHome>;

/** Runs `then` after each call of Claude Code that begins with these words. */
function after(home: Home, verb: string, then: string): void {
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
    expect(out).toContain(`left as it is: ${home.at(CLAUDE)}: `);
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
    after(home, verb, setting(home, key, value));
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

  it('leaves settings whose way back is not known, and says so', async () => {
    using home = pluginHome();
    after(home, 'plugin marketplace add', 'kill -9 $PPID');
    const program = `${process.cwd()}/bin/skillopt.mjs`;
    const options = { cwd: home.at('work'), env: home.env, stdio: 'ignore' } as const;
    const child = spawn(process.execPath, [program, 'plugin', 'install', 'claude'], options);
    await new Promise((resolve) => child.on('close', resolve));
    const { code, out } = await home.run('uninstall', 'claude');
    const why = 'it was changed by an install that was cut off';
    expect([code, out]).toEqual([0, expect.stringContaining(`left as it is: ${home.at(CLAUDE)}: ${why}`)]);
    expect(home.has(RECEIPT)).toBe(false);
  });
});

describe('an uninstall that cannot do all', () => {
  it('removes our files where the agent is gone, and says what stays', async () => {
    using home = pluginHome();
    await installPlugin('copilot', home.place, { pinned });
    rmSync(home.at('bin/copilot'));
    const { code, out } = await home.run('uninstall', 'copilot');
    expect([code, out]).toEqual([0, expect.stringContaining('is not on PATH, so its own entry of skillopt')]);
    expect([home.has('state/plugins/0.1.0'), home.has('state/plugins/receipts/copilot.json')]).toEqual([false, false]);
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
