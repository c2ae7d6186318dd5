import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import type { RunPage } from '../../../src/core/page/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { openPages, runsFolder } from '../../support/page/served-runs.ts';

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
  });

  it('on all networks prints every address that works, and warns who can open it', async () => {
    using folder = runsFolder();
    const { io, ended, answered } = begin(['--no-open', '--port', '0', '--host', '0.0.0.0', '--json'], folder.root);
    const { url, urls } = JSON.parse(await answered()) as { url: string; urls: string[] };
    const here = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const reached = here.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
    expect(urls.map((one) => new URL(one).hostname)).toEqual(['localhost', ...reached]);
    expect(url).toBe(urls[0]);
    for (const one of urls) expect((await fetch(one, { redirect: 'manual' })).status, one).toBe(302);
    expect(io.err()).toContain('every machine that reaches this one over a network can open this page, unencrypted');
    io.emit('SIGINT');
    expect(await ended).toBe(0);
  });

  it('refuses a folder that is not there, or no folder; the usual one may be missing', async () => {
    using folder = runsFolder();
    writeFileSync(join(folder.root, 'a-file'), '');
    for (const root of ['nope', 'a-file']) {
      const { io, ended } = begin(['--no-open', '--root', root], folder.root);
      expect(await ended).toBe(2);
      expect(io.err()).toContain(`there is no folder ${root}`);
      expect(io.err()).toContain('or leave --root out to see those in runs');
    }
    const usual = begin(['--no-open', '--port', '0'], folder.root);
    await usual.answered();
    usual.io.emit('SIGINT');
    expect(await usual.ended).toBe(0);
  });
});

it('names the command that resumes a demo that was stopped, on the page and on the terminal', async () => {
  using folder = runsFolder();
  const io = captureIo({ cwd: folder.root, env: { HOME: folder.root } });
  const training = runCli(['demo', '--quiet', '--seed', '12', '--latency-ms', '30'], io);
  while (!existsSync(join(folder.root, 'runs/demo/events.jsonl'))) await delay(5);
  io.emit('SIGINT');
  expect(await training).toBe(130);
  const { words } = await openPages({ root: join(folder.root, 'runs') }).json<RunPage>('/api/runs/demo');
  expect(words.next).toEqual({ command: 'npx skillopt demo --seed 12', why: 'resumes it where it stopped' });
  const show = captureIo({ cwd: folder.root, env: { HOME: folder.root } });
  expect(await runCli(['show', 'demo'], show)).toBe(0);
  expect(show.out()).toContain(words.next.command);
  const again = captureIo({ cwd: folder.root, env: { HOME: folder.root } });
  const named = words.next.command.replace('npx skillopt ', '').split(' ');
  expect(await runCli([...named, '--quiet', '--latency-ms', '0', '--json'], again), again.err()).toBe(0);
  expect(JSON.parse(again.out())).toMatchObject({ isDone: true });
});
