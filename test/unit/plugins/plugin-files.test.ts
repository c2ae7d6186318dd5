import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lintFolder } from '../../../src/skills/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const PARTS = ['package.json', 'scripts/plugin', 'plugin', '.claude-plugin', '.agents'];

/** Runs the script that writes the plugin, for a copy of what it reads and writes. */
function copyOfPlugin() {
  const folder = tempFolder();
  for (const part of PARTS) cpSync(part, join(folder.path, part), { recursive: true });
  const at = (path: string) => join(folder.path, path);
  return {
    ...folder,
    at,
    read: (path: string) => readFileSync(at(path), 'utf8'),
    run(...args: readonly string[]) {
      const env = { ...process.env, SKILLOPT_PLUGIN_ROOT: folder.path };
      const { status, stderr } = spawnSync(process.execPath, ['scripts/plugin.mjs', ...args], {
        env,
        encoding: 'utf8',
      });
      return { code: status, problems: stderr.trimEnd().split('\n').slice(0, -1), stderr };
    },
    async edit(path: string, change: (text: string) => string) {
      const { writeFile } = await import('node:fs/promises');
      await writeFile(at(path), change(readFileSync(at(path), 'utf8')));
    },
  };
}

describe('the files of the plugin', () => {
  it('are those that scripts/plugin.mjs writes', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/plugin.mjs', '--check'], {
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([0, 'All 14 files of the plugin are those of version 0.1.0.\n', '']);
  });

  it.each(['plugin/plugin.json', 'plugin/skills/skillopt-sleep/SKILL.md', '.agents/plugins/marketplace.json'])(
    'are checked byte for byte: %s',
    async (path) => {
      using copy = copyOfPlugin();
      await copy.edit(path, (text) => `${text} `);
      expect(copy.run('--check')).toMatchObject({ code: 1, problems: [`${path} differs from what the script writes`] });
      expect([copy.run().code, copy.run('--check').code]).toEqual([0, 0]);
    },
  );

  it('do not change without a new version, since agents keep a plugin by its version', async () => {
    using copy = copyOfPlugin();
    await copy.edit('scripts/plugin/skill.md', (text) => `${text}\nOne more sentence.\n`);
    const before = copy.read('plugin/skills/skillopt-sleep/SKILL.md');
    expect(copy.run('--check').stderr).toContain('raise the version in package.json first');
    expect(copy.run()).toMatchObject({ code: 1, stderr: expect.stringContaining('raise the version') });
    expect(copy.read('plugin/skills/skillopt-sleep/SKILL.md')).toBe(before);
    await copy.edit('package.json', (text) => text.replace(/"version": "[^"]+"/, '"version": "7.8.9"'));
    expect(copy.run('--check').code).toBe(1);
    expect([copy.run().code, copy.run('--check').code]).toEqual([0, 0]);
    expect(copy.read('plugin/skills/skillopt-sleep/SKILL.md')).toContain('One more sentence.');
    const manifests = [
      'plugin.json',
      '.claude-plugin/plugin.json',
      '.codex-plugin/plugin.json',
      'gemini-extension.json',
      'qwen-extension.json',
    ];
    expect(manifests.map((path) => JSON.parse(copy.read(`plugin/${path}`)).version)).toEqual(
      manifests.map(() => '7.8.9'),
    );
  });

  it('that nobody else put there are all there are', async () => {
    using copy = copyOfPlugin();
    cpSync(copy.at('plugin/plugin.json'), copy.at('plugin/hooks.json'));
    expect(copy.run('--check')).toMatchObject({
      code: 1,
      problems: ['plugin/hooks.json is not written by the script'],
    });
  });

  it('hold a skill without findings, of at most 150 lines', async () => {
    const { findings, file } = await lintFolder('plugin/skills/skillopt-sleep');
    expect(findings).toEqual([]);
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(150);
  });

  it('name commands as Agent Plugins allows: a path in the plugin, and no absolute one', () => {
    const { $schema, mcpServers, ...others } = JSON.parse(readFileSync('plugin/mcp.json', 'utf8'));
    expect([$schema, others]).toEqual(['https://agent-plugins.org/schemas/1.0.0/mcp.schema.json', {}]);
    expect(mcpServers).toEqual({ skillopt: { type: 'stdio', command: './bin/skillopt-mcp', args: [] } });
    const manifest = JSON.parse(readFileSync('plugin/plugin.json', 'utf8'));
    expect(Object.keys(manifest)).toEqual(['$schema', 'name', 'version', 'description', 'license', 'author']);
    expect(manifest.$schema).toBe('https://agent-plugins.org/schemas/1.0.0/plugin.schema.json');
    expect(manifest.name).toMatch(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/);
  });
});
