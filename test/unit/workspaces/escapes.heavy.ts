import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { openTemplate, openWorkspace, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksBubblewrap, sh } from './kinds.ts';

/** What a command in bubblewrap tries in a workspace, beside a folder of ours that it knows of. */
async function attempt(script: string, outside: string) {
  using root = tempFolder();
  const sandbox = sandboxes.bubblewrap({ root: root.path });
  const template = await openTemplate({ sandbox, root: root.path, files: { 'a.txt': 'a\n' } });
  await using workspace = await openWorkspace({ template, sandbox, root: root.path });
  const env = { OUTSIDE: outside, PARENT: String(process.pid), ROOT: root.path };
  const result = await sandbox.run({ command: sh(script), workspace: workspace.view, timeoutMs: 60_000, env });
  return { ...result, diff: await workspace.diff() };
}

describe.skipIf(lacksBubblewrap)('from inside bubblewrap (runs where it works)', () => {
  it.each([
    ['a folder of ours', 'echo x > "$OUTSIDE/written"'],
    ['where rollouts lie', 'echo x > "$ROOT/written" || mkdir "$ROOT/x"'],
    ['the system', 'echo x > /usr/bin/written-by-a-test'],
    ['the root folder', 'echo x > /written'],
    ['devices', 'echo x > /dev/written'],
    ['settings of users', 'echo x >> /etc/passwd'],
    [
      'settings of the kernel',
      'cat /proc/sys/kernel/core_pattern > /tmp/same && cat /tmp/same > /proc/sys/kernel/core_pattern',
    ],
    ['a link out of the workspace', 'ln -s "$OUTSIDE" out; echo x > out/written'],
    ['files through the first process', 'echo x > "/proc/1/root/$OUTSIDE/written"'],
  ])('nothing can be written into %s', async (_, script) => {
    using outside = tempFolder();
    const { stdout } = await attempt(`(${script}) 2>/dev/null && echo written || echo refused`, outside.path);
    expect(stdout).toBe('refused');
    expect(existsSync(join(outside.path, 'written'))).toBe(false);
  });

  it.each([
    ['the home folder', (secret: string) => `cat ${secret}`],
    ['a folder beside it', () => 'cat "$OUTSIDE/secret"'],
    ['our environment', () => 'cat /proc/$PARENT/environ'],
    // Of root, who would own them inside too.
    ['private keys of this machine', () => 'ls -d /etc/ssl/private'],
    ['passwords of this machine', () => 'cat /etc/shadow'],
    ['a link to it', () => 'ln -s "$OUTSIDE/secret" s; cat s'],
    [
      'the folder of our root through the first process',
      () => 'cat "/proc/1/root/$OUTSIDE/secret" "/proc/1/cwd/../../../../$OUTSIDE/secret"',
    ],
  ])('%s cannot be read', async (_, script) => {
    using outside = tempFolder({ secret: 'SECRET' });
    const home = mkdtempSync(join(homedir(), '.skillopt-test-'));
    writeFileSync(join(home, 'secret'), 'SECRET');
    const { stdout, stderr } = await attempt(`${script(join(home, 'secret'))} && echo read`, outside.path);
    rmSync(home, { recursive: true });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/No such file|denied/);
  });

  it('ports of this machine and sockets without a name cannot be reached', async () => {
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
    const named = createServer((socket) => socket.end('reached')).listen(`\0skillopt-test-${process.pid}`);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    using outside = tempFolder({
      'connect.cjs': `for (const to of [{ port: ${port}, host: '127.0.0.1' }, { path: '\\0skillopt-test-${process.pid}' }])
        require('net').connect(to).on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`,
    });
    const { stdout } = await sandboxes.bubblewrap().run({
      command: ['/node/bin/node', '/outside/connect.cjs'],
      mounts: [
        { from: join(process.execPath, '../..'), to: '/node' },
        { from: outside.path, to: '/outside' },
      ],
      timeoutMs: 60_000,
    });
    for (const one of [server, named]) one.close();
    expect(stdout.split('\n').sort()).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });

  it('processes of others cannot be ended', async () => {
    using outside = tempFolder();
    expect((await attempt('kill -9 "$PARENT" 2>/dev/null && echo ended || echo refused', outside.path)).stdout).toBe(
      'refused',
    );
  });

  it('nothing can be mounted over, made writable, or seen by a namespace of its own', async () => {
    using outside = tempFolder({ secret: 'SECRET' });
    const tries = [
      'mount -o remount,rw /usr',
      'umount /usr',
      'mount -t tmpfs none /mnt',
      'unshare -Urm mount -o remount,rw,bind /usr',
      'unshare -Urm umount /usr',
      'unshare -Urm sh -c "mount -t proc proc /proc && cat /proc/$PARENT/environ"',
      'unshare -Urpmf --mount-proc true',
      'mknod disk b 254 0',
      'nsenter -t 1 -m cat "$OUTSIDE/secret"',
    ];
    const script = tries.map((one) => `(${one}) >/dev/null 2>&1 && echo '${one.replaceAll("'", '')}'`).join('\n');
    expect((await attempt(`${script}\ntrue`, outside.path)).stdout).toBe('');
  });

  it('links in a workspace lead neither the diff nor a copy out of it', async () => {
    using outside = tempFolder({ secret: 'SECRET', 'folder/secret': 'SECRET' });
    const { diff } = await attempt(
      'ln -s "$OUTSIDE/secret" file; ln -s "$OUTSIDE" folder; ln -sf "$OUTSIDE/secret" a.txt',
      outside.path,
    );
    expect(diff.changes.map(({ path, note }) => [path, note])).toEqual([
      ['a.txt', 'a link'],
      ['file', 'a link'],
      ['folder', 'a link'],
    ]);
    expect(JSON.stringify(diff)).not.toContain('SECRET');
    expect(readFileSync(join(outside.path, 'secret'), 'utf8')).toBe('SECRET');
  });
});
