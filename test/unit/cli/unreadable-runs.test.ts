import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { asNobody } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function cli(cwd: string, ...argv: string[]) {
  const io = captureIo({ cwd, env: { HOME: cwd } });
  return { code: await runCli(argv, io), out: io.out(), err: io.err() };
}

/** A run that nobody can read: its folder is a link that leads to itself. */
const withLoop = () => {
  const folder = tempFolder({ 'runs/readme.txt': '' });
  symlinkSync('closed', join(folder.path, 'runs/closed'));
  return folder;
};

it('lists a run that cannot be read, and says why it cannot be shown', async () => {
  using folder = withLoop();
  const listed = await cli(folder.path, 'runs');
  expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/^closed +unreadable /m)]);
  const shown = await cli(folder.path, 'show', 'closed');
  expect([shown.code, shown.err]).toEqual([
    2,
    expect.stringMatching(/^error: \S*runs\/closed\S* cannot be read: .*link.*\nhint: Check that/),
  ]);
});

it('reads no journal that is a link, and quotes no line of it', async () => {
  using folder = tempFolder({ 'secrets.env': 'AWS_SECRET=abcd1234\n', 'runs/planted/report.md': '' });
  symlinkSync('../../secrets.env', join(folder.path, 'runs/planted/events.jsonl'));
  for (const args of [['runs'], ['show', 'planted'], ['watch', 'planted'], ['report', 'planted']]) {
    const { out, err } = await cli(folder.path, ...args);
    expect([args, out + err]).toEqual([args, expect.stringContaining('planted')]);
    expect(out + err).not.toContain('AWS_SECRET');
  }
  const { code, err } = await cli(folder.path, 'show', 'planted');
  const says =
    'events.jsonl is a link, and the journal of a run must be a file\nhint: Put a copy of the file in its place';
  expect([code, err]).toEqual([2, expect.stringContaining(says)]);
});

it('says why a folder of runs cannot be read', async () => {
  using folder = withLoop();
  const { code, err } = await cli(folder.path, 'runs', '--root', 'runs/closed');
  expect([code, err]).toEqual([2, expect.stringMatching(/^error: \S*closed cannot be read: .*\nhint: Check whose/)]);
});

it('lists runs beside a state folder that may not be read, and says what is not listed', () =>
  asNobody(async () => {
    using folder = tempFolder({ 'runs/a/events.jsonl': '', 'state/x': '' });
    const io = captureIo({ cwd: folder.path, env: { HOME: folder.path, SKILLOPT_HOME: join(folder.path, 'state') } });
    chmodSync(join(folder.path, 'state'), 0o000);
    const code = await runCli(['runs'], io);
    chmodSync(join(folder.path, 'state'), 0o755);
    expect([code, io.out()]).toEqual([0, expect.stringMatching(/^a +/m)]);
    expect(io.err()).toMatch(
      /warning: the nights of this project are not listed: .*state\S* cannot be read: .*permission/,
    );
  }));

it('says what was refused where a cache may not be deleted', () =>
  asNobody(async () => {
    using folder = tempFolder({ 'runs/a/events.jsonl': '', 'runs/a/cache/cache.db': 'x' });
    chmodSync(join(folder.path, 'runs/a/cache'), 0o555);
    const { code, err } = await cli(folder.path, 'cache', 'clear', 'a');
    chmodSync(join(folder.path, 'runs/a/cache'), 0o755);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: cannot delete .*cache\.db: permission denied \(EACCES\)\nhint: Check whose/),
    ]);
  }));

it('says the same of a folder that may not be read', () =>
  asNobody(async () => {
    using folder = tempFolder({ 'runs/a/events.jsonl': '' });
    chmodSync(join(folder.path, 'runs/a'), 0o000);
    const [listed, shown] = [await cli(folder.path, 'runs'), await cli(folder.path, 'show', 'a')];
    chmodSync(join(folder.path, 'runs/a'), 0o755);
    expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/^a +unreadable /m)]);
    expect(shown.err).toMatch(/runs\/a\S* cannot be read: .*permission denied/);
  }));
