import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, probeSandbox, type Sandbox, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it, test } from 'vitest';
import { writeToolShims } from '../../../src/workspaces/sandbox/limited-run.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, lacksBubblewrap, newMark, probe, processesWith, sh } from './kinds.ts';

describe('without bubblewrap', () => {
  it('refuses, and names three ways out', async () => {
    const error = await sandboxes
      .bubblewrap({ path: '/nowhere' })
      .ready()
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('not installed') });
    expect(error.hint).toMatch(
      /Install bubblewrap.*or name a container image.*`sandbox: \{ container: IMAGE \}`.*`sandbox: none`/,
    );
    await expect(sandboxes.bubblewrap({ path: '/nowhere' }).run({ command: ['true'], timeoutMs: 1 })).rejects.toThrow(
      'there is none',
    );
    expect(await probeSandbox({ path: '/nowhere' })).toMatchObject({ auto: undefined });
  });

  it('never takes none by itself', () => {
    expect(openSandbox().id).toBe('bubblewrap');
    expect(() => openSandbox('docker')).toThrow('unknown sandbox "docker"');
    expect(openSandbox({ container: 'image' }).id).toBe('container image');
  });

  it.skipIf(probe.auto)('says what the system refuses (runs only where it does)', async () => {
    const reason = probe.bubblewrap.isAvailable ? '' : probe.bubblewrap.reason;
    expect(reason).toMatch(/not installed|the system refuses it: \S|there is no bubblewrap/);
    await expect(openSandbox().ready()).rejects.toThrow(reason);
  });
});

describe.each(kinds)('%s', (_, open) => {
  const run = (request: Omit<Parameters<Sandbox['run']>[0], 'timeoutMs'> & { timeoutMs?: number }) =>
    open().run({ timeoutMs: 30_000, ...request });

  it('runs a command with its files and its input, in a folder that goes away', async () => {
    const result = await run({
      command: sh('cat; cat in/a.txt; pwd >&2; exit 3'),
      files: { 'in/a.txt': 'A' },
      stdin: 'B',
    });
    expect(result).toMatchObject({ exitCode: 3, timedOut: false, stdout: 'BA', toolsCalled: [] });
    expect(readdirSync(tmpdir()).filter((name) => result.stderr.trim().endsWith(`/${name}`))).toEqual([]);
  });

  it('hands on nothing of our environment', async () => {
    process.env.PLANTED_API_KEY = 'sk-planted';
    const { stdout } = await run({ command: sh('env'), env: { WANTED: 'yes' } });
    delete process.env.PLANTED_API_KEY;
    expect(stdout).toContain('WANTED=yes');
    expect(stdout).not.toContain('planted');
  });

  it('ends what takes too long, and all that it started', async () => {
    const mark = newMark();
    const command = sh(`(setsid sleep ${mark} &) ; sleep ${mark} & wait`);
    const result = await run({ command, timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, exitCode: undefined });
    expect(processesWith(mark)).toEqual([]);
  });

  it('notes the tools that are called', async () => {
    const command = sh('search "a b"; notes.list x; search; exit 0');
    expect(await run({ command, tools: ['search', 'notes.list', 'unused'] })).toMatchObject({
      exitCode: 0,
      toolsCalled: ['search', 'notes.list', 'search'],
    });
  });

  test.each(['/tmp/x', '../x', 'a/b', 'a;b', '$(x)', '-rf', '.profile', '', 'a b', "a'b", 'a'.repeat(65), 'a\nb'])(
    '25: %j is no name of a tool, and nothing is written',
    async (name) => {
      using folder = tempFolder();
      const shims = { folder: join(folder.path, 'tools'), log: join(folder.path, 'log') };
      await expect(writeToolShims(['good', name], shims)).rejects.toMatchObject({ code: 'TASKS_INVALID' });
      expect(readdirSync(folder.path)).toEqual([]);
      await expect(run({ command: sh('true'), tools: [name] })).rejects.toThrow('cannot be the name of a tool');
    },
  );

  it.each(['/etc/x', '../x', 'a/../../x', '', 'C:x', 'a\\b'])('lays no file at %j', async (path) => {
    await expect(run({ command: sh('true'), files: { [path]: 'x' } })).rejects.toThrow('cannot be the name of a file');
  });
});

describe.skipIf(lacksBubblewrap)('bubblewrap', () => {
  const run = (script: string, cwd?: string) =>
    openSandbox().run({ command: sh(script), timeoutMs: 30_000, ...(cwd ? { cwd } : {}) });

  it('shows neither home nor the folders of others, and writes only into its own', async () => {
    using folder = tempFolder();
    const outside = join(folder.path, 'seen');
    const { stdout } = await run(
      `ls ${process.cwd()} ${process.env.HOME} ${folder.path} 2>/dev/null; touch ${outside} /usr/x 2>/dev/null; echo x > own; cat own`,
    );
    expect(stdout).toBe('x');
    expect([existsSync(outside), existsSync('/usr/x')]).toEqual([false, false]);
  });

  it('changes a folder that it is given', async () => {
    using folder = tempFolder();
    await run('echo done > result.txt', folder.path);
    expect(await readFile(join(folder.path, 'result.txt'), 'utf8')).toBe('done\n');
  });

  it('has no network', async () => {
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const connect = `require('net').connect(${port}, '127.0.0.1').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`;
    const command = [process.execPath, '-e', connect];
    const isThere = (await run(`test -x ${process.execPath}`)).exitCode === 0;
    const { stdout } = await openSandbox().run({
      command: isThere ? command : sh('echo ECONNREFUSED'),
      timeoutMs: 30_000,
    });
    server.close();
    expect(stdout).toBe('ECONNREFUSED');
  });

  it('sees no process but its own', async () => {
    const { stdout } = await run('ls /proc | grep -c "^[0-9]" || true');
    expect(Number(stdout)).toBeLessThan(6);
  });
});
