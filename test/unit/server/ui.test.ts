import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { runsFolder } from '../../support/page/served-runs.ts';

function begin(argv: readonly string[], cwd: string) {
  const io = captureIo({ cwd, env: { HOME: cwd } });
  const ended = runCli(['ui', ...argv], io);
  const answered = async () => {
    while (!io.out().includes('\n')) await Promise.race([delay(5), ended]);
    return io.out();
  };
  return { io, ended, answered };
}

describe('skillopt ui', () => {
  it('prints one address, serves until Ctrl-C, and ends well', async () => {
    using folder = runsFolder();
    mkdirSync(join(folder.root, 'runs/demo'), { recursive: true });
    writeFileSync(join(folder.root, 'runs/demo/events.jsonl'), '');
    const { io, ended, answered } = begin(['demo', '--no-open', '--port', '0', '--json'], folder.root);
    const { url } = JSON.parse(await answered());
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{32}#\/runs\/demo$/);
    const opened = await fetch(url, { redirect: 'manual' });
    const [cookie] = opened.headers.getSetCookie()[0]!.split(';');
    const runs = await fetch(new URL('/api/runs', url), { headers: { cookie: cookie! } });
    expect(((await runs.json()) as { runs: { name: string }[] }).runs.map(({ name }) => name)).toEqual(['demo']);
    io.emit('SIGINT');
    expect(await ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('takes the next free port when the usual one is taken, and refuses one that was named', async () => {
    using folder = runsFolder();
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const named = begin(['--no-open', '--port', String(port)], folder.root);
    expect(await named.ended).toBe(2);
    expect(named.io.err()).toContain(`port ${port} is taken`);
    other.close();
    const [one, two] = [begin(['--no-open'], folder.root), begin(['--no-open'], folder.root)];
    const ports = [await one.answered(), await two.answered()].map((line) => new URL(line.trim()).port);
    expect(new Set(ports).size).toBe(2);
    for (const { io, ended } of [one, two]) {
      io.emit('SIGTERM');
      expect(await ended).toBe(0);
    }
  });

  it('names the runs there are when one is not, and warns when others can reach it', async () => {
    using folder = runsFolder();
    const missing = begin(['nope', '--no-open'], folder.root);
    expect(await missing.ended).toBe(2);
    expect(missing.io.err()).toContain('no run nope');
    const open = begin(['--no-open', '--port', '0', '--host', '0.0.0.0'], folder.root);
    await open.answered();
    expect(open.io.err()).toContain('others can reach this page');
    open.io.emit('SIGINT');
    await open.ended;
  });
});
