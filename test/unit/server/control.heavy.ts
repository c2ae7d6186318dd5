import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { loadRun } from '../../../src/app/index.ts';
import { openPages, runsFolder, trainSimulated } from '../../support/page/served-runs.ts';

const skillopt = resolve('bin/skillopt.mjs');
const started: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(args: readonly string[], cwd: string) {
  const child = spawn(process.execPath, [skillopt, ...args], { cwd, env: { ...process.env, HOME: cwd } });
  started.push(child);
  let text = '';
  child.stdout.on('data', (part) => {
    text += part;
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { child, ended, out: () => text };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}

describe('a page with control', () => {
  it('stops a run as Ctrl-C does, once, and the run can be resumed', async () => {
    using folder = runsFolder();
    const path = join(folder.root, 'runs/demo');
    const { ended } = start(['demo', '--quiet', '--latency-ms', '60'], folder.root);
    await until(
      () => existsSync(join(path, 'events.jsonl')) && readFileSync(join(path, 'events.jsonl'), 'utf8') !== '',
    );
    const { post } = openPages({ root: join(folder.root, 'runs'), control: true });
    expect((await post('/api/runs/demo/stop', {})).status).toBe(200);
    expect((await post('/api/runs/demo/stop', {})).status).toBe(409);
    expect(await ended).toBe(130);
    expect((await loadRun(path)).state.isDone).toBe(false);
    expect((await post('/api/runs/demo/stop', {})).status).toBe(409);
    const again = start(['demo', '--quiet', '--latency-ms', '0'], folder.root);
    expect(await again.ended).toBe(0);
    expect((await loadRun(path)).state.isDone).toBe(true);
  });
});

/** SQLite keeps these beside a database as long as somebody has it open, and removes them when it likes. */
const BESIDE_DATABASE = /\.db-(shm|wal)$/;

/** A hash of every file below a folder. */
function digestOf(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && !BESIDE_DATABASE.test(entry.name));
  const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [relative(folder, path), hashOf(path)]));
}

describe('killing the server', () => {
  it('at any moment changes no byte of a run', async () => {
    using folder = runsFolder();
    await trainSimulated(join(folder.root, 'runs/demo'));
    const before = digestOf(join(folder.root, 'runs'));
    for (const waitMs of [0, 30, 120, 400]) {
      const { child, ended, out } = start(['ui', '--no-open', '--port', '0'], folder.root);
      await until(() => out().includes('\n'));
      const url = out().trim();
      const [cookie] = (await fetch(url, { redirect: 'manual' })).headers.getSetCookie()[0]!.split(';');
      const asked = ['/stream', '', '/tasks', '/attempts?q=a', '/events', '/steps/1'].map((path) =>
        fetch(new URL(`/api/runs/demo${path}`, url), { headers: { cookie: cookie! } }).catch(() => undefined),
      );
      await delay(waitMs);
      child.kill('SIGKILL');
      await Promise.all([ended, ...asked]);
      expect(digestOf(join(folder.root, 'runs'))).toEqual(before);
    }
  });
});
