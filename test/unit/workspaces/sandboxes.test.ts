import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openSandbox, probeSandbox, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksBubblewrap, probe, sh } from './kinds.ts';

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
