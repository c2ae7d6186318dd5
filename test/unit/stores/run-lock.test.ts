import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { processStart, takeRunLock } from '../../../src/stores/run/run-lock.ts';
import { startChild, temporaryDirectory } from './run-directory.fixture.ts';

const lockTaker = new URL('./run-lock.child.ts', import.meta.url);

const ownerOf = async (directory: string) => JSON.parse(await readFile(join(directory, 'run.lock'), 'utf8'));

/** A pid that is in use again: the process with that number is not the one that took the lock. */
const recycled = { pid: process.pid, startedAt: 'before this process', host: hostname() };

const heirNameOf = (owner: unknown) =>
  `run.lock.after-${createHash('sha256').update(JSON.stringify(owner)).digest('hex').slice(0, 16)}`;

async function directoryLockedBy(owner: unknown) {
  const folder = await temporaryDirectory();
  await writeFile(join(folder.path, 'run.lock'), typeof owner === 'string' ? owner : JSON.stringify(owner));
  return folder;
}

describe('takeRunLock', () => {
  it('leaves a file that says who writes, and removes it on release', async () => {
    await using folder = await temporaryDirectory();
    const lock = await takeRunLock(folder.path);
    expect(await readdir(folder.path)).toEqual(['run.lock']);
    expect(await ownerOf(folder.path)).toMatchObject({ pid: process.pid, host: hostname() });
    await lock.release();
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('keeps out a second writer of the same process', async () => {
    await using folder = await temporaryDirectory();
    const lock = await takeRunLock(folder.path);
    const message = expect.stringContaining(`is being written by this process, ${process.pid}`);
    await expect(takeRunLock(folder.path)).rejects.toMatchObject({ code: 'RUN_LOCKED', message });
    await lock.release();
    await (await takeRunLock(folder.path)).release();
  });

  it('keeps out another process, names it, and takes over its lock once it was killed', async () => {
    await using folder = await temporaryDirectory();
    await using child = startChild(lockTaker);
    expect(await child.ask(folder.path)).toBe('taken');
    const message = expect.stringContaining(`is being written by process ${child.pid}`);
    await expect(takeRunLock(folder.path)).rejects.toMatchObject({ code: 'RUN_LOCKED', message });
    await child.kill();
    const lock = await takeRunLock(folder.path);
    expect(await ownerOf(folder.path)).toMatchObject({ pid: process.pid });
    expect(await readdir(folder.path)).toEqual(['run.lock']);
    await lock.release();
  });

  it('takes over the lock of a process whose pid is in use again', async () => {
    await using folder = await directoryLockedBy(recycled);
    await takeRunLock(folder.path);
    expect(await ownerOf(folder.path)).toMatchObject({ pid: process.pid, startedAt: await processStart(process.pid) });
  });

  it.each(['', '{"pid":', 'null', '{"pid":0,"startedAt":"","host":""}'])('takes over a torn lock: %j', async (text) => {
    await using folder = await directoryLockedBy(text);
    await takeRunLock(folder.path);
    expect(await ownerOf(folder.path)).toMatchObject({ pid: process.pid });
  });

  it('does not judge a process on another machine', async () => {
    await using folder = await directoryLockedBy({ pid: 1, startedAt: '1', host: 'elsewhere' });
    const hint = expect.stringMatching(/machine is gone, delete .*run\.lock/);
    const message = expect.stringContaining('process 1 on elsewhere');
    await expect(takeRunLock(folder.path)).rejects.toMatchObject({ code: 'RUN_LOCKED', message, hint });
    expect(await readdir(folder.path)).toEqual(['run.lock']);
  });

  it('continues a takeover that was cut off before the heir moved in', async () => {
    await using folder = await directoryLockedBy(recycled);
    await writeFile(join(folder.path, heirNameOf(recycled)), JSON.stringify({ ...recycled, id: 'heir' }));
    await takeRunLock(folder.path);
    expect(await ownerOf(folder.path)).toMatchObject({ startedAt: await processStart(process.pid) });
    expect(await readdir(folder.path)).toEqual(['run.lock']);
  });

  it('keeps others out while an heir moves in', async () => {
    await using folder = await directoryLockedBy(recycled);
    const heir = { ...recycled, startedAt: await processStart(process.pid) };
    await writeFile(join(folder.path, heirNameOf(recycled)), JSON.stringify(heir));
    await expect(takeRunLock(folder.path)).rejects.toMatchObject({ code: 'RUN_LOCKED' });
  });

  it('releases only what is still its own, and never throws', async () => {
    await using folder = await temporaryDirectory();
    const lock = await takeRunLock(folder.path);
    await writeFile(join(folder.path, 'run.lock'), JSON.stringify(recycled));
    await lock.release();
    expect(await ownerOf(folder.path)).toEqual(recycled);
    await folder[Symbol.asyncDispose]();
    await lock.release();
  });

  it('leaves the next lock of the same process alone when it is released twice', async () => {
    await using folder = await temporaryDirectory();
    const first = await takeRunLock(folder.path);
    await first.release();
    await takeRunLock(folder.path);
    await first.release();
    expect(await readdir(folder.path)).toEqual(['run.lock']);
  });

  it('gives one stale lock to one of many takers in one process', async () => {
    await using folder = await directoryLockedBy(recycled);
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => takeRunLock(folder.path)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(folder.path)).toEqual(['run.lock']);
  });

  it('gives each of many stale locks to one of four processes', async () => {
    await using folder = await temporaryDirectory();
    await using crowd = startCrowd(4);
    for (let round = 0; round < 15; round += 1) {
      const directory = join(folder.path, String(round));
      await mkdir(directory);
      await writeFile(join(directory, 'run.lock'), JSON.stringify(recycled));
      const outcomes = await Promise.all(crowd.children.map((child) => child.ask(directory)));
      expect(outcomes.sort()).toEqual([...Array(3).fill('RUN_LOCKED'), 'taken']);
    }
  });
});

function startCrowd(size: number) {
  const children = Array.from({ length: size }, () => startChild(lockTaker));
  return {
    children,
    [Symbol.asyncDispose]: async () => void (await Promise.all(children.map((child) => child.kill()))),
  };
}

/** A process that never waits for its child, and the child. */
async function startNegligentParent() {
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const { value } = await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next();
  // A shell that is about to become `sleep` could still wait for its child.
  parent.kill('SIGSTOP');
  return { childPid: Number(value), [Symbol.dispose]: () => void parent.kill('SIGKILL') };
}

describe.skipIf(process.platform === 'win32').each(['linux', 'darwin'] as const)(
  'processStart as on %s',
  (platform) => {
    it('is the same each time, for this process and for others', async () => {
      const starts = await Promise.all(
        [process.pid, process.pid, process.ppid].map((pid) => processStart(pid, platform)),
      );
      expect(starts[0]).toMatch(/\d/);
      expect(starts[1]).toBe(starts[0]);
      expect(starts[2]).toMatch(/\d/);
    });

    it('takes a dead process that nobody waited for as dead', async () => {
      using parent = await startNegligentParent();
      expect(await processStart(parent.childPid, platform)).toMatch(/\d/);
      process.kill(parent.childPid, 'SIGKILL');
      await expect.poll(() => processStart(parent.childPid, platform)).toBeUndefined();
      expect(process.kill(parent.childPid, 0)).toBe(true);
    });
  },
);
