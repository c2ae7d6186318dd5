import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type SandboxRequest, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, lacksBubblewrap, sh } from './kinds.ts';

describe.each(kinds)('a request to %s', (_, open) => {
  const run = (script: string, request: Partial<SandboxRequest> = {}) =>
    open().run({ timeoutMs: 60_000, command: sh(script), ...request });

  it('works in a workspace, which keeps what is done to it', async () => {
    using folder = tempFolder({ 'a.txt': 'A' });
    const { stdout } = await run('cat a.txt; echo B > b.txt; pwd >&2', { workspace: { path: folder.path } });
    expect(stdout).toBe('A');
    expect(readFileSync(join(folder.path, 'b.txt'), 'utf8')).toBe('B\n');
  });

  it('sees mounts by their own names where it can, and may write into those that are writable', async () => {
    using folder = tempFolder({ 'data/in.txt': 'IN', 'home/x': '' });
    const [data, home] = [join(folder.path, 'data'), join(folder.path, 'home')];
    const mounts = [
      { from: data, to: '/data' },
      { from: home, to: '/home/agent', isWritable: true },
    ];
    const { hasOwnNames } = open();
    const [seenData, seenHome] = hasOwnNames ? ['/data', '/home/agent'] : [data, home];
    const script = `cat ${seenData}/in.txt; echo OUT > $HOME/out.txt; ${hasOwnNames ? `touch ${seenData}/x 2>/dev/null || echo refused` : 'echo refused'}`;
    const { stdout } = await run(script, { mounts, env: { HOME: seenHome } });
    expect(stdout).toBe('INrefused');
    expect(readFileSync(join(home, 'out.txt'), 'utf8')).toBe('OUT\n');
  });

  it('finds programs of the system, and before them those in folders of the caller', async () => {
    using folder = tempFolder({ 'bin/own-tool': '#!/bin/sh\necho own' });
    const bin = join(folder.path, 'bin');
    const mounts = [{ from: bin, to: '/opt-bin' }];
    const path = open().hasOwnNames ? '/opt-bin' : bin;
    const { stdout } = await open().run({
      timeoutMs: 60_000,
      mounts,
      env: { PATH: path },
      command: sh('sh "$1/own-tool"; echo "$PATH"').concat('sh', path),
    });
    const [first, own, ...others] = stdout.split('\n')[1]!.split(':');
    expect(stdout.split('\n')[0]).toBe('own');
    expect([first?.endsWith('tools'), own]).toEqual([true, path]);
    expect(others).toContain('/usr/bin');
  });

  it('hands over lines as they come', async () => {
    const lines: [string, boolean][] = [];
    let isOver = false;
    const running = run('echo one; echo two >&2; sleep 0.3; printf "three\\nfour"', {
      onLine: (line) => lines.push([line, isOver]),
    });
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    isOver = (await Promise.race([running, 'running'])) !== 'running';
    const { stdout } = await running;
    expect(lines.map(([line]) => line)).toEqual(['one', 'three', 'four']);
    expect(lines[0]).toEqual(['one', false]);
    expect(stdout).toBe('one\nthree\nfour');
  });

  it('throws what the caller throws at a line, and ends the command', async () => {
    const failing = run('echo one; sleep 600', {
      onLine: () => {
        throw new Error('enough');
      },
    });
    await expect(failing).rejects.toThrow('enough');
  });

  it('keeps the beginning of a long output, reads the rest, and ends as the command did', async () => {
    const { stdout, exitCode } = await run('yes abcdefg | head -c 3000000; exit 7', { maxOutputBytes: 1000 });
    expect([stdout.length, exitCode]).toEqual([999, 7]);
  });

  it('has a temporary folder of its own, which goes away', async () => {
    const first = await run('test -w "$TMPDIR" && echo x > "$TMPDIR/kept" && ls "$TMPDIR"');
    const second = await run('ls "$TMPDIR"');
    expect([first.stdout, second.stdout]).toEqual(['kept', '']);
  });
});

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
