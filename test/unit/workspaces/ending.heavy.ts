import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeStale } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { readProcess } from '../../../src/workspaces/processes/process-tree.ts';
import { programArgs } from '../../support/compiled.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, newMark, processesWith, sh } from './kinds.ts';

/** Children that leave their group, their session and their parent. */
const familyOf = (mark: string) =>
  `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & (setsid sleep ${mark} &) ; sleep ${mark}' &) ; nohup sleep ${mark} >/dev/null 2>&1 &`;

describe.each(kinds)('%s leaves nobody behind', (_, open) => {
  it('after a command that ends by itself', async () => {
    const mark = newMark();
    const { exitCode } = await open().run({ command: sh(`${familyOf(mark)} sleep 0.2; exit 4`), timeoutMs: 60_000 });
    expect([exitCode, processesWith(mark)]).toEqual([4, []]);
  });

  it('when the time is up', async () => {
    const mark = newMark();
    const result = await open().run({ command: sh(`${familyOf(mark)} sleep ${mark}`), timeoutMs: 400 });
    expect(result).toMatchObject({ timedOut: true, exitCode: undefined });
    expect(processesWith(mark)).toEqual([]);
  });

  it('when it is aborted, and throws the reason', async () => {
    const mark = newMark();
    const controller = new AbortController();
    const command = sh(`${familyOf(mark)} echo begun; sleep ${mark}`);
    const running = open().run({
      command,
      timeoutMs: 60_000,
      signal: controller.signal,
      onLine: () => controller.abort(new Error('no longer wanted')),
    });
    await expect(running).rejects.toThrow('no longer wanted');
    expect(processesWith(mark)).toEqual([]);
  });

  it('asks first, so that a command can tidy up', async () => {
    using folder = tempFolder();
    const command = sh('trap "echo tidy > tidied; exit 0" TERM; echo begun; while :; do sleep 0.05; done');
    const { timedOut } = await open().run({ command, workspace: { path: folder.path }, timeoutMs: 500 });
    expect(timedOut).toBe(true);
    expect(readFileSync(join(folder.path, 'tidied'), 'utf8')).toBe('tidy\n');
  });

  it('does not wait long for who will not go', async () => {
    const mark = newMark();
    const command = sh(`trap "" TERM; sleep ${mark} & while :; do sleep 1; done`);
    expect(await open().run({ command, timeoutMs: 300 })).toMatchObject({ timedOut: true });
    expect(processesWith(mark)).toEqual([]);
  });

  it('at the next start, when we were killed', async () => {
    using folder = tempFolder();
    const [mark, id] = [newMark(), open().id];
    const script = `${familyOf(mark)} echo begun; sleep ${mark}`;
    const child = spawn(
      process.execPath,
      [...programArgs('test/unit/workspaces/rollout.child.ts'), folder.path, id, script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    await expect.poll(() => processesWith(mark).length).toBeGreaterThan(3);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await removeStale(folder.path);
    expect(processesWith(mark)).toEqual([]);
  });
});

it('a process that is gone is nobody, also when its number was never given', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  expect(readProcess(child.pid!)).toBeUndefined();
  expect(readProcess(process.pid)).toMatchObject({ pid: process.pid });
});
