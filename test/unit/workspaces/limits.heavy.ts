import { execFile } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ResourceLimits, SandboxResult } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { programArgs } from '../../support/compiled.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, newMark, processesWith, sh } from './kinds.ts';

const limits: ResourceLimits = { processes: 40, memoryMb: 400, diskMb: 64 };

type Case = readonly [what: string, limit: keyof ResourceLimits, script: (mark: string) => string];
const cases: readonly Case[] = [
  ['processes without end', 'processes', (mark) => `i=0; while :; do sleep ${mark} & done; wait`],
  ['processes of processes', 'processes', (mark) => `b() { sleep ${mark} & b | b & }; b; sleep ${mark}`],
  ['memory', 'memoryMb', () => 'yes | head -c 4000000000 | sort -S 3G > /dev/null'],
  ['one large file', 'diskMb', (mark) => `dd if=/dev/zero of=big bs=1M count=10000 2>/dev/null; sleep ${mark}`],
  ['many files', 'diskMb', () => 'i=0; while :; do i=$((i+1)); head -c 3000000 /dev/zero > f$i; done'],
  ['temporary files', 'diskMb', () => 'i=0; while :; do i=$((i+1)); head -c 3000000 /dev/zero > "$TMPDIR/f$i"; done'],
];

describe.each(kinds)('limits in %s', (_, open) => {
  it.each(cases)('%s end that rollout, by %s, and no other', async (_, limit, script) => {
    using folder = tempFolder();
    const [mark, other] = [newMark(), newMark()];
    const run = (command: readonly string[], path: string) =>
      open().run({ command, workspace: { path }, timeoutMs: 120_000, limits });
    using beside = tempFolder();
    const [result, unharmed] = await Promise.all([
      run(sh(script(mark)), folder.path),
      run(sh(`timeout 1 sleep ${other}; echo done`), beside.path),
    ]);
    expect(result).toMatchObject({ exceeded: limit, exitCode: undefined, timedOut: false });
    expect(unharmed).toMatchObject({ exitCode: 0, stdout: 'done' });
    expect(processesWith(mark)).toEqual([]);
  });

  it('ends what writes many files at once soon after its limit', async () => {
    using folder = tempFolder();
    const script = 'for i in 1 2 3 4 5 6 7 8; do head -c 400000000 /dev/zero > f$i & done; wait; sleep 60';
    const own = { diskMb: 512 };
    const result = await open().run({
      command: sh(script),
      workspace: { path: folder.path },
      timeoutMs: 120_000,
      limits: own,
    });
    const { stdout } = await promisify(execFile)('du', ['-sm', folder.path]);
    expect([result.exceeded, Number.parseInt(stdout, 10)]).toEqual(['diskMb', expect.toSatisfy((mb) => mb < 1_024)]);
  });

  it('lets a file with holes be, and one that is within them', async () => {
    using folder = tempFolder();
    const command = sh('truncate -s 60M holes && head -c 1000 /dev/zero > small && echo done');
    expect(await open().run({ command, workspace: { path: folder.path }, timeoutMs: 60_000, limits })).toMatchObject({
      exitCode: 0,
      stdout: 'done',
    });
  });

  it('counts what is written, not what was there', async () => {
    using folder = tempFolder();
    await open().run({
      command: sh('head -c 80000000 /dev/zero > old'),
      workspace: { path: folder.path },
      timeoutMs: 60_000,
    });
    const command = sh('sleep 1.2; rm old; echo done');
    expect(await open().run({ command, workspace: { path: folder.path }, timeoutMs: 60_000, limits })).toMatchObject({
      stdout: 'done',
    });
  });

  it('leaves no group behind', () => {
    expect(readGroups().filter((path) => path.includes(`-${process.pid}-`))).toEqual([]);
  });
});

function readGroups(): string[] {
  const own = readFileSync('/proc/self/cgroup', 'utf8').matchAll(/^\d+:(pids|memory)?[^:]*:(.*)$/gm);
  return [...own].flatMap(([, tree = '', path]) => {
    try {
      return readdirSync(join('/sys/fs/cgroup', tree, path!));
    } catch {
      return []; // another system
    }
  });
}

const canChangeUser = process.getuid?.() === 0 && !isMissing('setpriv');

/** As somebody who may make no groups, nor mount anything but in a namespace of users. */
describe.runIf(canChangeUser).each(kinds)('without rights, in %s (runs as root, which can give them up)', (kind) => {
  const runAsNobody = async (script: string, limits: ResourceLimits) => {
    using folder = tempFolder();
    chownSync(folder.path, 65_534, 65_534);
    chmodSync(folder.path, 0o700);
    const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', 'env', '-i', `PATH=${process.env.PATH}`];
    const child = [...programArgs('test/unit/workspaces/rollout.child.ts'), folder.path, kind, script];
    const args = [...nobody, `TMPDIR=${folder.path}`, process.execPath, ...child, JSON.stringify(limits)];
    const { stdout } = await promisify(execFile)('setpriv', args);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
    return last as { result: SandboxResult; diff: { changes: object[] }; limiter: string; workspaces: string };
  };

  it('has a workspace of its own, and sees what was done to it', async () => {
    const { result, diff } = await runAsNobody(
      'id -u; rm -r folder; mkdir folder; echo b > folder/b.txt; echo more >> kept.txt',
      {},
    );
    expect(result).toMatchObject({ exitCode: 0, stdout: '65534' });
    expect(diff.changes).toMatchObject([
      { path: 'folder/a.txt', change: 'deleted' },
      { path: 'folder/b.txt', change: 'added' },
      { path: 'kept.txt', change: 'changed' },
    ]);
  });

  it.each(cases.filter(([, limit]) => limit !== 'diskMb'))('%s end it, by %s', async (_, limit, script) => {
    const mark = newMark();
    const { result, limiter } = await runAsNobody(script(mark), limits);
    expect([limiter, result.exceeded]).toEqual(['watcher', limit]);
    expect(processesWith(mark)).toEqual([]);
  });
});
