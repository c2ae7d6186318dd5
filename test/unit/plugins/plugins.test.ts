import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { installPlugin, PLUGIN_AGENTS } from '../../../src/plugins/index.ts';
import { MCP_STAND_IN, pluginHome, SETTINGS } from '../../support/plugins/plugin-home.ts';

const pinned = { node: process.execPath, entry: MCP_STAND_IN };

describe.each(PLUGIN_AGENTS)('the plugin in %s', (agent) => {
  it('is installed, listed, examined and taken out, and all files are as before', async () => {
    using home = pluginHome();
    const before = home.bytes();
    const { standing } = await installPlugin(agent, home.place, { pinned });
    expect(standing).toBe('installed');
    expect((await home.run('list')).out).toMatch(new RegExp(`^${agent} +0\\.1\\.0$`, 'm'));
    const doctor = await home.run('doctor', agent, '--json');
    expect(JSON.parse(doctor.out)).toMatchObject({
      isOk: true,
      plugins: [{ agent, standing: 'good', version: '0.1.0', listedVersion: '0.1.0', runningVersion: '0.1.0' }],
    });
    expect(await home.run('uninstall', agent)).toEqual({
      code: 0,
      out: `skillopt is removed from ${agent}.\n`,
      err: '',
    });
    expect(home.bytes()).toEqual(before);
    expect(home.has(`state/plugins/0.1.0`)).toBe(false);
    expect((await home.run('uninstall', agent)).out).toContain('was not installed');
  });

  it('is not installed twice, and a dry run changes nothing', async () => {
    using home = pluginHome();
    const before = home.bytes();
    const planned = await home.run('install', agent, '--dry-run', '--json');
    expect(JSON.parse(planned.out)).toMatchObject({ agent, standing: 'planned', version: '0.1.0' });
    expect([home.bytes(), home.has('state')]).toEqual([before, false]);
    const done = JSON.parse((await home.run('install', agent, '--json')).out);
    expect(done).toEqual({ ...JSON.parse(planned.out), standing: 'installed' });
    for (const path of done.files) expect(home.has(path.slice(home.path.length + 1))).toBe(true);
    expect((await home.run('install', agent)).out).toContain('already');
  });

  it('calls the agent in an empty folder, with nothing of the project on its search path', async () => {
    using home = pluginHome();
    home.write('work/.git/HEAD', '');
    home.program('work/node_modules/.bin/node', '#!/bin/sh\nexit 9\n');
    const env = { ...home.env, PATH: `${home.at('work/node_modules/.bin')}:${home.at('work')}:.:${home.env.PATH}` };
    await installPlugin(agent, { env, cwd: home.at('work') }, { pinned });
    for (const { cwd, path } of home.calls()) {
      if (!cwd.endsWith('work'))
        expect(path.split(':').filter((folder) => !folder.startsWith('/') || folder.includes('/work'))).toEqual([]);
      expect(cwd).not.toBe(home.at('work'));
    }
  });

  it('takes back everything when the agent fails', async () => {
    using home = pluginHome();
    const before = home.bytes();
    const verb =
      agent === 'opencode'
        ? 'debug config'
        : agent === 'codex'
          ? 'plugin add'
          : agent === 'gemini' || agent === 'qwen'
            ? 'extensions install'
            : 'plugin install';
    home.write(`fail ${verb}`, '');
    const { code, err } = await home.run('install', agent);
    expect(code).toBe(2);
    expect(err).toContain('did not do what was asked');
    expect(home.bytes()).toEqual({ ...before, [`fail ${verb}`]: '' });
  });
});

describe('what a person wrote since', () => {
  it('stays, and what the agent leaves over is named', async () => {
    using home = pluginHome();
    await installPlugin('copilot', home.place, { pinned });
    const [path] = SETTINGS.copilot;
    const settings = JSON.parse(home.read(path));
    home.write(path, JSON.stringify({ ...settings, mine: 'new' }));
    const { code, out } = await home.run('uninstall', 'copilot');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/stays +.*settings\.json: it still names skillopt, .*it was changed since the install/),
    ]);
    expect(JSON.parse(home.read(path))).toMatchObject({ mine: 'new', theme: 'dark' });
  });

  it('stays in the settings of OpenCode, and only our key goes', async () => {
    using home = pluginHome();
    await installPlugin('opencode', home.place, { pinned });
    const [path, text] = SETTINGS.opencode;
    home.write(path, home.read(path).replace('// mine', '// mine, still'));
    expect((await home.run('uninstall', 'opencode')).code).toBe(0);
    expect(home.read(path)).toBe(text.replace('// mine', '// mine, still'));
  });

  const OTHER = '"other":{"type":"local","command":["x"]}';
  it.each([
    ['{ "mcp": {} }', (text: string) => text.replace(/\} \}$/, `,\n ${OTHER}} }`)],
    ['{ "mcp": {} }', (text: string) => text.replace('"mcp": {', `"mcp": {${OTHER},`)],
    ['{}', (text: string) => text.replace(/\}$/, ',\n  "theme": "mine"\n}')],
    ['{}', (text: string) => JSON.stringify(JSON.parse(text), null, 4)],
    ['{ "mcp": { "a": 1 } }', (text: string) => JSON.stringify(JSON.parse(text), null, '\t')],
  ])('stays in the settings of OpenCode, which were %s', async (text, edit) => {
    using home = pluginHome();
    const [path] = SETTINGS.opencode;
    home.write(path, text);
    await installPlugin('opencode', home.place, { pinned });
    home.write(path, edit(home.read(path)));
    const { mcp, ...others } = JSON.parse(home.read(path));
    delete mcp.skillopt;
    expect(await home.run('uninstall', 'opencode')).toMatchObject({
      code: 0,
      out: 'skillopt is removed from opencode.\n',
    });
    expect({ mcp: {}, ...JSON.parse(home.read(path)) }).toEqual({ mcp, ...others });
  });

  it('stays in files of the plugin', async () => {
    using home = pluginHome();
    await installPlugin('opencode', home.place, { pinned });
    home.write('.config/opencode/commands/sleep.md', 'my own');
    expect((await home.run('doctor', 'opencode')).out).toContain('1 of its files');
    expect((await home.run('uninstall', 'opencode')).out).toContain('sleep.md: it was changed since the install');
    expect(home.read('.config/opencode/commands/sleep.md')).toBe('my own');
    expect(home.has('.config/opencode/skills')).toBe(false);
  });
});

describe('a plugin is refused', () => {
  it('where a file of that name is not ours', async () => {
    using home = pluginHome();
    home.write('.config/opencode/commands/sleep.md', 'my own');
    const before = home.bytes();
    const { code, err } = await home.run('install', 'opencode');
    expect([code, err]).toEqual([2, expect.stringContaining('sleep.md')]);
    expect(home.bytes()).toEqual(before);
  });

  it.each([
    ['{"mcp": null}', 'expected an object in the key mcp of', 'got null'],
    ['[]', 'expected an object in', 'opencode.jsonc'],
    ['{"mcp":{"a":{}},"mcp":{"b":{}}}', 'mcp may stand there twice', ''],
  ])('where the settings of OpenCode are %s', async (text, ...words) => {
    using home = pluginHome();
    home.write(SETTINGS.opencode[0], text);
    const before = home.bytes();
    const { code, err } = await home.run('install', 'opencode');
    expect(code).toBe(2);
    for (const word of words) expect(err).toContain(word);
    expect(home.bytes()).toEqual(before);
  });

  it.each([
    ['claude', '{"extraKnownMarketplaces":{"skillopt":{"source":{"path":"/elsewhere"}}}}'],
    ['codex', '[marketplaces.skillopt]\nsource = "/elsewhere"\n'],
    ['opencode', '{"mcp":{"skillopt":{"type":"local","command":["mine"]}}}'],
  ] as const)('where %s has one of that name from elsewhere', async (agent, text) => {
    using home = pluginHome();
    home.write(SETTINGS[agent][0], text);
    const before = home.bytes();
    const { code, err } = await home.run('install', agent);
    expect([code, err]).toEqual([2, expect.stringContaining('that this command did not install')]);
    expect(home.bytes()).toEqual(before);
  });

  it('by an agent that is not there, or only in the project', async () => {
    using home = pluginHome();
    home.write('work/.git/HEAD', '');
    home.program('work/bin/claude', '#!/bin/sh\ntouch ran\n');
    const env = { ...home.env, PATH: `${home.at('work/bin')}:/usr/bin:/bin` };
    await expect(installPlugin('claude', { env, cwd: home.at('work') })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('never used'),
    });
    expect([home.has('work/ran'), home.has('state')]).toEqual([false, false]);
    expect((await home.run('install', 'vim')).err).toContain('expected the name of an agent');
  });
});

describe('a receipt', () => {
  const RECEIPT = 'state/plugins/receipts/codex.json';

  it.each([
    ['a file elsewhere', { files: [{ path: 'HOME/elsewhere/mine.txt', digest: '0'.repeat(64) }] }],
    [
      'a way out of its folder',
      { files: [{ path: 'HOME/state/plugins/0.1.0/codex/../../../../elsewhere/mine.txt', digest: '0'.repeat(64) }] },
    ],
    [
      'settings elsewhere',
      { settings: [{ path: 'HOME/elsewhere/mine.txt', before: null, after: '0'.repeat(64), back: [] }] },
    ],
    ['another version', { version: '../..' }],
    ['a key that nobody knows', { run: ['touch', 'ran'] }],
  ])('that was tampered with is refused: %s', async (_, changed) => {
    using home = pluginHome();
    await installPlugin('codex', home.place, { pinned });
    home.write('work/mine.txt', 'mine');
    const receipt = JSON.stringify({ ...JSON.parse(home.read(RECEIPT)), ...changed }).replaceAll('HOME', home.path);
    home.write(RECEIPT, receipt);
    const before = home.bytes();
    for (const args of [['uninstall', 'codex'], ['install', 'codex'], ['list']]) {
      const { code, err } = await home.run(...args);
      expect([code, err]).toEqual([2, expect.stringContaining('is damaged')]);
    }
    expect(home.bytes()).toEqual(before);
  });

  it('holds no key of the settings, also after the agent wrote them again', async () => {
    using home = pluginHome();
    await installPlugin('claude', home.place, { pinned });
    expect(home.read(SETTINGS.claude[0])).toContain('sk-ant-dummy');
    expect(home.read('state/plugins/receipts/claude.json')).not.toContain('sk-ant-dummy');
    expect(home.grep('state', 'sk-ant-dummy')).toEqual([]);
  });

  it('of an install that was cut off is undone by the next one', async () => {
    using home = pluginHome();
    const before = home.bytes();
    await installPlugin('codex', home.place, { pinned });
    home.write(RECEIPT, JSON.stringify({ ...JSON.parse(home.read(RECEIPT)), isWhole: false, settings: [] }));
    expect((await home.run('doctor', 'codex')).out).toMatch(
      /its install was cut off\n +→ npx skillopt plugin install codex\n$/,
    );
    expect((await installPlugin('codex', home.place, { pinned })).standing).toBe('installed');
    await home.run('uninstall', 'codex');
    expect(home.bytes()).toEqual(before);
  });
});

describe('an install that was killed after its edit of settings', () => {
  const [path] = SETTINGS.opencode;

  it('is taken back by what comes next, and leaves no key behind', async () => {
    using home = pluginHome();
    home.write(path, '{ "provider": { "apiKey": "sk-dummy-0123456789abcdefghij" } }');
    const before = home.bytes();
    const program = `${process.cwd()}/bin/skillopt.mjs`;
    const options = { cwd: home.at('work'), env: home.env, stdio: 'ignore' } as const;
    const child = spawn(process.execPath, [program, 'plugin', 'install', 'opencode'], options);
    const ended = new Promise((resolve) => child.on('close', resolve));
    while (!home.read(path).includes('skillopt') && child.exitCode === null) await setImmediate();
    child.kill('SIGKILL');
    await ended;
    await home.run('doctor', 'codex');
    expect(home.grep('state', 'sk-dummy')).toEqual([]);
    expect((await home.run('install', 'opencode')).err).toBe('');
    expect((await home.run('uninstall', 'opencode')).out).toBe('skillopt is removed from opencode.\n');
    expect(home.bytes()).toEqual(before);
  });
});

describe('doctor', () => {
  it('tells what the launcher lacks, and a server of another version', async () => {
    using home = pluginHome();
    home.write('old.mjs', `process.env.STAND_IN_VERSION = '0.0.9';\nawait import(${JSON.stringify(MCP_STAND_IN)});\n`);
    await installPlugin('qwen', home.place, { pinned: { ...pinned, entry: home.at('old.mjs') } });
    const old = await home.run('doctor');
    expect([old.code, old.out]).toEqual([
      1,
      expect.stringContaining('expected its server to be of version 0.1.0, got 0.0.9'),
    ]);
    expect(old.out).toContain('restart the agent: a reload keeps the old server');
    await installPlugin('qwen', home.place, { pinned: { ...pinned, entry: home.at('gone.mjs') } });
    const { out } = await home.run('doctor', 'qwen');
    expect(out).toContain(`its launcher starts ${home.at('gone.mjs')}, which is not there any more`);
    expect(out).toContain('Write this launcher again: skillopt plugin install qwen');
  });
});

describe('the launcher of an install', () => {
  it('keeps to the state of the person, whatever a project sets', async () => {
    using home = pluginHome();
    home.write('work/.git/HEAD', '');
    for (const path of ['ca.pem', 'work/ca.pem']) home.write(path, '');
    home.write(
      'entry.mjs',
      'console.log(Object.keys(process.env).filter((name) => /NODE|SSL|PROXY/.test(name)).sort().join(), process.env.SKILLOPT_HOME);\n',
    );
    await installPlugin('qwen', home.place, { pinned: { ...pinned, entry: home.at('entry.mjs') } });
    const [launcher] = home.grep('state/plugins', "entry.mjs'");
    const started = (more: Record<string, string>) =>
      execFileSync(launcher!, {
        cwd: home.at('work'),
        env: { ...HOSTILE, HOME: home.path, ...more },
        encoding: 'utf8',
      });
    expect(started({ SKILLOPT_HOME: home.at('work/state') })).toBe(`HTTPS_PROXY ${home.at('state')}\n`);
    const names = (path: string) => started({ NODE_EXTRA_CA_CERTS: path }).split(' ')[0];
    expect(names(home.at('ca.pem'))).toBe('HTTPS_PROXY,NODE_EXTRA_CA_CERTS');
    for (const path of [home.at('work/ca.pem'), 'ca.pem', '../ca.pem', '/proc/self/cwd/ca.pem'])
      expect([path, names(path)]).toEqual([path, 'HTTPS_PROXY']);
  });
});

/** What an agent may take from a file of a project. */
const HOSTILE = {
  NODE_OPTIONS: '--require ./evil.cjs',
  NODE_V8_COVERAGE: './coverage',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  OPENSSL_CONF: './openssl.cnf',
  OPENSSL_MODULES: './modules',
  OPENSSL_ENGINES: './engines',
  SSL_CERT_FILE: './ca.pem',
  SSL_CERT_DIR: './certificates',
  'NODE_X;touch ran': 'a name that is none',
  NODE_LINES: "a\nexport NODE_Q=$(touch ran)\nEND\n'\nexport PATH=/none",
  HTTPS_PROXY: 'http://proxy.example',
};

/** Runs the launcher of the repository in a folder, with this search path. */
function launch(cwd: string, env: Record<string, string>) {
  try {
    return execFileSync('/bin/sh', [`${process.cwd()}/plugin/bin/skillopt-mcp`], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: string };
    return `${status}: ${stderr}`;
  }
}

describe("the launcher of the repository's copy", () => {
  const FAKES = ['skillopt', 'node', 'readlink', 'dirname', 'sh', 'env'];

  it('starts the skillopt of the person, and nothing that a project brings along', () => {
    using home = pluginHome();
    home.program(
      'bin/skillopt',
      '#!/usr/bin/env node\nconsole.log(["own", ...process.argv.slice(2)].join(" "), process.env.PATH, Object.keys(process.env).filter((name) => /NODE|SSL/.test(name)).join() || "none")\n',
    );
    home.write('work/.git/HEAD', '');
    for (const folder of ['work', 'work/node_modules/.bin', 'work/tools', 'work/sub'])
      for (const name of FAKES) home.program(`${folder}/${name}`, `#!/bin/sh\necho ran > '${home.at('ran')}'\n`);
    for (const name of ['node_modules/skillopt/index.js', 'skillopt_sleep/__main__.py', 'evil.cjs'])
      home.write(`work/${name}`, `require('fs').writeFileSync('${home.at('ran')}', '')`);
    home.write('work/.npmrc', 'script-shell=./sh\n');
    home.write('work/.mcp.json', '{"mcpServers":{"skillopt":{"command":"./skillopt"}}}');
    symlinkSync(home.at('work/tools'), home.at('linked'));
    const hostile = [
      '.',
      '',
      'tools',
      home.at('work/node_modules/.bin'),
      home.at('work/tools'),
      home.at('linked'),
      home.at('work'),
    ];
    const node = dirname(process.execPath);
    const PATH = [...hostile, home.at('bin'), node, '/usr/bin', '/bin'].join(':');
    for (const folder of ['work', 'work/sub']) {
      const printed = launch(home.at(folder), { ...HOSTILE, HOME: home.path, PATH });
      expect(printed).toContain('own mcp ');
      expect(printed).toMatch(/ none\n$/);
      expect(printed).not.toContain('/work');
    }
    expect(home.has('ran')).toBe(false);
  });

  it('says how to install skillopt, where there is only the one of the project', () => {
    using home = pluginHome();
    home.write('work/.git/HEAD', '');
    home.program('work/node_modules/.bin/skillopt', `#!/bin/sh\necho ran > '${home.at('ran')}'\n`);
    mkdirSync(home.at('mine'));
    symlinkSync(home.at('work/node_modules/.bin/skillopt'), home.at('mine/skillopt'));
    const PATH = `${home.at('work/node_modules/.bin')}:${home.at('mine')}:/usr/bin:/bin`;
    expect(launch(home.at('work'), { HOME: home.path, PATH })).toMatch(
      /^127: skillopt is not installed.*npm install -g skillopt\n$/,
    );
    expect(home.has('ran')).toBe(false);
  });

  it.each([
    ['/elsewhere/state', '/elsewhere/state'],
    ['~/mine', '~/mine'],
    ['~/project/state', ''],
    ['state', ''],
    ['./state', ''],
  ])('passes the state folder %s on as %j', (given, passed) => {
    using home = pluginHome();
    home.write('project/.git/HEAD', '');
    home.program('bin/skillopt', '#!/bin/sh\necho "$SKILLOPT_HOME,$XDG_STATE_HOME"\n');
    const env = { HOME: home.path, PATH: `${home.at('bin')}:/usr/bin:/bin`, SKILLOPT_HOME: given };
    expect(launch(home.at('project'), { ...env, XDG_STATE_HOME: home.at('project/x') })).toBe(`${passed},\n`);
  });

  it('finds the skillopt of the person in their home too', () => {
    using home = pluginHome();
    writeFileSync(home.at('bin/skillopt'), '#!/bin/sh\necho own "$@"\n');
    chmodSync(home.at('bin/skillopt'), 0o755);
    expect(launch(home.path, { HOME: home.path, PATH: `${home.at('bin')}:/usr/bin:/bin` })).toBe('own mcp\n');
  });
});
