import { execFile } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { PLUGIN_AGENTS } from '../../src/plugins/index.ts';
import { pluginHome, SETTINGS } from '../support/plugins/plugin-home.ts';
import { agentWithPlugin, rowOf } from './agent-with-plugin.ts';

const run = promisify(execFile);
/** A part without an apostrophe, which some agents escape. */
const DESCRIPTION = 'past coding-agent sessions, and makes a skill measurably better';
/** What only a result of `sleep_status` holds. */
const STATUS = 'everyDayAt';

const rows = PLUGIN_AGENTS.map((agent) => ({ agent, installed: inject('clis')[`${agent}-cli`] }));

describe.each(rows)('the plugin in the real $agent', ({ agent, installed }) => {
  if (installed === undefined || installed.missing !== undefined) return it.skip(installed?.missing ?? 'not tried');

  it('is installed, its skill is offered, a call of the real server returns, and settings are as before', {
    timeout: 300_000,
  }, async () => {
    await using at = await agentWithPlugin(agent, installed.program, ['sleep_status']);
    const { home, work, ask, plugin } = at;
    await ask(); // an agent settles its settings at its first start
    const own = Object.keys(rowOf(agent).homeFiles?.('') ?? {});
    const settings = () =>
      Object.entries(home.bytes()).filter(([path]) => path === SETTINGS[agent][0] || own.includes(path));
    const before = settings();

    expect(await plugin('install')).toMatchObject({ code: 0, out: expect.stringContaining('is installed in') });
    expect(settings().length).toBe(before.length);
    expect(await plugin('doctor')).toMatchObject({
      code: 0,
      out: expect.stringContaining('it is listed, and its server answers'),
    });
    const { sent, shown } = await ask();
    expect(sent, shown).toContain(DESCRIPTION);
    expect(sent, shown).toContain(STATUS);
    expect(sent).toContain(work);

    const io = await plugin('uninstall');
    expect([io.code, io.out]).toEqual([0, `skillopt is removed from ${agent}.\n`]);
    expect(settings()).toEqual(before);
    expect((await ask()).sent).not.toContain(DESCRIPTION);
  });
});

describe('validators of agents', () => {
  const programOf = (cli: 'claude-cli' | 'gemini-cli') =>
    (inject('clis')[cli] as { program?: string } | undefined)?.program;

  it('find nothing in the folder of the plugin, nor in its marketplace', async () => {
    using home = pluginHome();
    const env = {
      HOME: home.path,
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    };
    const [claude, gemini] = [programOf('claude-cli'), programOf('gemini-cli')];
    for (const folder of ['plugin', '.'].map((path) => resolve(path))) {
      if (claude === undefined) continue;
      const { stdout } = await run(claude, ['plugin', 'validate', '--strict', folder], { env, cwd: home.at('work') });
      expect(stdout).toContain('Validation passed');
    }
    if (gemini === undefined) return;
    const { stdout, stderr } = await run(gemini, ['extensions', 'validate', resolve('plugin')], {
      env,
      cwd: home.at('work'),
    });
    expect(stdout + stderr).toContain('successfully validated');
  });
});
