import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, type Sandbox, type SandboxRequest } from 'skillopt/workspaces';
import { describe, expect, it, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';
import { kinds, newMark, processesWith, sh } from '../unit/workspaces/kinds.ts';

/** A container too, where somebody names an image with a shell that is on this machine: `SKILLOPT_IMAGE=debian`. */
const { SKILLOPT_IMAGE: image } = process.env;
const rows: typeof kinds = image ? [...kinds, ['container', () => openSandbox({ container: image })]] : kinds;

describe.each(rows)('%s is a sandbox', (_, open) => {
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
      const request = { command: sh('true'), cwd: folder.path, files: { 'a.txt': 'A' }, tools: ['good', name] };
      const message = expect.stringContaining('cannot be the name of a tool');
      await expect(run(request)).rejects.toMatchObject({ code: 'TASKS_INVALID', message });
      expect(readdirSync(folder.path)).toEqual([]);
    },
  );

  it.each(['/etc/x', '../x', 'a/../../x', '', 'C:x', 'a\\b'])('lays no file at %j', async (path) => {
    await expect(run({ command: sh('true'), files: { [path]: 'x' } })).rejects.toThrow('cannot be the name of a file');
  });
});

describe.each(rows)('a request to %s', (_, open) => {
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
