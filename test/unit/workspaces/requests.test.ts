import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type SandboxRequest, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksBubblewrap, sh } from './kinds.ts';

describe.skipIf(lacksBubblewrap)('a request to bubblewrap (runs where it works)', () => {
  const run = (script: string, request: Partial<SandboxRequest> = {}) =>
    sandboxes.bubblewrap().run({ timeoutMs: 60_000, command: sh(script), ...request });

  it('calls its workspace /workspace', async () => {
    using folder = tempFolder();
    expect((await run('pwd', { workspace: { path: folder.path } })).stdout).toBe('/workspace');
    expect((await run('pwd', { cwd: folder.path })).stdout).toBe('/work');
  });

  it('knows users, time and certificates without a network', async () => {
    const { stdout } = await run(
      'id -un 0; test -r /etc/group && test -d /etc/ssl && echo there; test -e /etc/resolv.conf || echo no network',
    );
    expect(stdout).toBe('root\nthere\nno network');
  });

  it('reaches this machine only with an open network', async () => {
    const server = createServer((socket) => socket.end('reached\n')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    using folder = tempFolder();
    mkdirSync(join(folder.path, 'node'));
    writeFileSync(
      join(folder.path, 'connect.cjs'),
      `require('net').connect(${port}, '127.0.0.1').on('data', (d) => console.log(String(d).trim())).on('error', (e) => console.log(e.code))`,
    );
    const request = {
      command: ['/node/bin/node', 'connect.cjs'],
      workspace: { path: folder.path },
      mounts: [{ from: join(process.execPath, '../..'), to: '/node' }],
    };
    const [closed, opened] = [await run('', request), await run('', { ...request, network: 'open' })];
    server.close();
    expect([closed.stdout, opened.stdout]).toEqual(['ECONNREFUSED', 'reached']);
    expect((await run('cat /etc/hosts', { network: 'open' })).stdout).toBe(
      readFileSync('/etc/hosts', 'utf8').trimEnd(),
    );
  });
});
