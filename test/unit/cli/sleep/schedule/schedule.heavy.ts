import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jobHash } from '../../../../../src/sleep/index.ts';
import { type FakeLLM, startFakeLLM } from '../../../../../src/testing/index.ts';
import { packedCli } from '../../../../support/compiled.ts';
import { answerOf } from '../../../../support/sleep/sleep-home.ts';
import { fakeSystem } from './fake-system.ts';

vi.setConfig({ testTimeout: 300_000 }); // the job is tried as a process of its own

let llm: FakeLLM;
beforeAll(async () => {
  llm = await startFakeLLM(() => 'ok');
});
afterAll(() => llm[Symbol.asyncDispose]());

/** The packed command names itself in a job, and the job is tried: it starts in a fifth of the time that the sources take. */
const cli = await packedCli();
const openSystem = (options: { readonly hasManager?: boolean } = {}) => fakeSystem({ ...options, cli });

/** A model on this machine: it needs no key and no consent. */
const night = () => ['schedule', '--target', `compatible:m@${llm.baseURL}`, '--max-minutes', '30'];
const OLD = Buffer.from('MAILTO=""\n# caf\xe9, not UTF-8\n5 4 * * * echo 100\\% done\n\n@reboot x', 'latin1');
const FOREIGN = Buffer.concat([OLD, Buffer.from('\n')]);

describe('schedule with cron', () => {
  it('keeps every byte of the crontab that was there, replaces its own lines, and takes only them away', async () => {
    using system = openSystem();
    const { home } = system;
    system.put('crontab', FOREIGN);
    expect(await home.run(night())).toMatchObject({
      code: 0,
      err: expect.stringContaining('cron is used'),
    });
    const first = system.crontab()!;
    expect(first.startsWith(FOREIGN.toString('latin1'))).toBe(true);
    system.put('crontab', Buffer.from(`${first}1 1 * * * mine too\n`, 'latin1'));
    await home.run([...night(), '--at', '23:05']);
    const again = system.crontab()!;
    expect(again.split('\n').filter((line) => line.startsWith('5 * * * *'))).toHaveLength(1);
    expect(again).not.toContain('17 * * * *');
    expect(await home.run(['status'])).toMatchObject({ out: expect.stringContaining('every day at 23:05 (cron)') });
    expect((await answerOf(home, ['unschedule'])).removed).toEqual([{ kind: 'cron', hash: expect.any(String) }]);
    expect(system.crontab()).toBe(`${FOREIGN.toString('latin1')}1 1 * * * mine too\n`);
    expect((await answerOf(home, ['status'])).schedule).toBeNull();
  });

  it('36: a crontab that cannot be read is not taken for an empty one: nothing is written', async () => {
    using system = openSystem();
    const { home } = system;
    system.put('crontab', FOREIGN);
    system.put('deny', '');
    const refused = await home.run(night());
    expect(refused.code).toBe(4);
    expect(refused.err).toContain('not allowed to use this program');
    expect(system.crontab()).toBe(FOREIGN.toString('latin1'));
    expect(readdirSync(join(home.state, 'schedules')).filter((name) => !name.endsWith('.log'))).toEqual([]);
    expect(await home.run(['unschedule'])).toMatchObject({ code: 4 });
  });

  it('keeps the earlier job whole when a new one is not taken', async () => {
    using system = openSystem();
    const { home } = system;
    await home.run(night());
    const files = () => {
      const folder = join(home.state, 'schedules');
      return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
    };
    const [before, crontab] = [files(), system.crontab()];
    system.put('deny', '');
    expect(await home.run([...night(), '--at', '5:55'])).toMatchObject({ code: 4 });
    expect(files()).toEqual(before);
    expect(system.crontab()).toBe(crontab);
    expect((await answerOf(home, ['purge', 'nights'])).removed).toEqual({ logs: 1 });
  });

  it('makes a crontab where there was none, and leaves none behind', async () => {
    using system = openSystem();
    expect((await answerOf(system.home, night())).kind).toBe('cron');
    expect(system.crontab()).toContain('# skillopt-sleep');
    expect(system.home.mode(join(system.home.state, 'schedules'))).toBe('700');
    const names = readdirSync(join(system.home.state, 'schedules'));
    expect(names.map((name) => system.home.mode(join(system.home.state, 'schedules', name)))).toEqual(
      names.map(() => '600'),
    );
    await system.home.run(['unschedule', '--all']);
    expect(system.crontab()).toBeUndefined();
  });

  it('takes all of ours away with --all, of other projects too', async () => {
    using system = openSystem();
    const { home } = system;
    system.put('crontab', FOREIGN);
    await home.run(night());
    await home.run([...night(), '--project', home.blog]);
    expect((await answerOf(home, ['unschedule', '--all'])).removed).toHaveLength(2);
    expect(system.crontab()).toBe(FOREIGN.toString('latin1'));
    expect(await home.run(['unschedule'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('There was no nightly job'),
    });
  });
});

describe('schedule with systemd', () => {
  const unitsOf = (system: ReturnType<typeof fakeSystem>) => join(system.home.path, '.config/systemd/user');

  it('writes a service and a timer, starts the timer, and takes both away', async () => {
    using system = openSystem({ hasManager: true });
    const name = `skillopt-sleep-${jobHash(realpathSync(system.home.shop))}`;
    expect((await answerOf(system.home, night())).kind).toBe('systemd');
    expect(readdirSync(unitsOf(system)).sort()).toEqual([`${name}.service`, `${name}.timer`]);
    expect(system.asked()).toContain(`--user daemon-reload\n--user enable ${name}.timer\n--user restart ${name}.timer`);
    expect((await answerOf(system.home, ['unschedule'])).removed).toHaveLength(1);
    expect(readdirSync(unitsOf(system))).toEqual([]);
  });

  it('does not touch a file of that name which is not ours', async () => {
    using system = openSystem({ hasManager: true });
    const name = `skillopt-sleep-${jobHash(realpathSync(system.home.shop))}.timer`;
    const file = system.home.write(`.config/systemd/user/${name}`, '[Timer]\nmine\n');
    expect(await system.home.run(night())).toMatchObject({
      code: 2,
      err: expect.stringContaining('not ours'),
    });
    expect(await system.home.run(['unschedule'])).toMatchObject({ code: 2 });
    expect(readFileSync(file, 'utf8')).toBe('[Timer]\nmine\n');
  });

  it('leaves no unit behind when the manager takes none', async () => {
    using system = openSystem({ hasManager: true });
    system.put('no-enable', '');
    expect(await system.home.run(night())).toMatchObject({
      code: 4,
      err: expect.stringContaining('Failed to enable'),
    });
    expect(readdirSync(unitsOf(system))).toEqual([]);
  });
});

describe('the agent CLI of a job', () => {
  it('is pinned by its real path, with its version, in every role', async () => {
    using system = openSystem();
    const { home } = system;
    const real = realpathSync(system.program('opt/claude-1.2.3/cli.js'));
    symlinkSync(real, join(home.path, 'bin/claude'));
    const job = await answerOf(home, ['schedule', '--max-calls', '5', '--print']);
    const block = JSON.stringify({ provider: 'claude-cli', path: real });
    expect(job.command.filter((word: string) => word === block)).toHaveLength(3);
    expect(job.pinned.at(-1)).toEqual({ name: 'claude-cli', path: real, version: '1.2.3' });
  });

  it('never comes from the project, from node_modules/.bin, or from a relative entry of PATH', async () => {
    using system = openSystem();
    const { home } = system;
    system.program('shop/node_modules/.bin/claude');
    system.program('node_modules/.bin/claude');
    system.program('shop/tools/claude');
    const places = [
      join(home.shop, 'node_modules/.bin'),
      join(home.path, 'node_modules/.bin'),
      join(home.shop, 'tools'),
      'tools',
    ];
    home.env.PATH = [...places, home.env.PATH].join(':');
    const refused = await home.run(['schedule', '--target', 'claude-cli', '--max-calls', '5', '--print']);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('no program claude was found') });
    symlinkSync(join(home.shop, 'tools/claude'), join(home.path, 'bin/claude'));
    const inside = await home.run(['schedule', '--target', 'claude-cli', '--max-calls', '5', '--print']);
    expect(inside.err).toContain(
      'Folders of a project, node_modules/.bin and relative entries of PATH are never used.',
    );
  });

  it('is asked one word in the environment of the job before anything is installed', async () => {
    using system = openSystem();
    const { home } = system;
    const note = join(home.path, 'seen.json');
    const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const reply = JSON.stringify({ type: 'result', is_error: false, result: 'ok', usage });
    const body = `if (process.argv.includes('--version')) { console.log('1.2.3'); process.exit(); }
      require('node:fs').writeFileSync(${JSON.stringify(note)}, JSON.stringify({ env: process.env, cwd: process.cwd() }));
      console.log(${JSON.stringify(reply)});`;
    system.program('bin/claude', body);
    Object.assign(home.env, { SECRET: 'x', ANTHROPIC_API_KEY: 'sk-of-the-shell' });
    const asked = ['schedule', '--max-calls', '5', '--consent', 'claude-cli'];
    expect(await home.run(asked)).toMatchObject({ code: 0 });
    const seen = JSON.parse(readFileSync(note, 'utf8'));
    expect(seen.env).toMatchObject({ HOME: home.path });
    expect(seen.env).not.toHaveProperty('SECRET');
    expect(seen.env).not.toHaveProperty('ANTHROPIC_API_KEY');
    expect(seen.cwd).not.toContain(home.path);
    expect(system.crontab()).toContain('# skillopt-sleep');
  });

  it('that is gone by now is named by status', async () => {
    using system = openSystem();
    const claude = system.program('bin/claude');
    expect(await system.home.run(['schedule', '--target', 'claude-cli', '--max-calls', '5', '--force'])).toMatchObject({
      code: 0,
    });
    rmSync(claude);
    expect((await system.home.run(['status'])).out).toContain('it cannot: claude-cli');
  });
});

describe('a job that may come too early', () => {
  it('does nothing, and says nothing, when its time has not come round since the last one', async () => {
    using system = openSystem();
    const { home } = system;
    const run = ['run', '--target', 'simulated', '--if-due', '03:17', '--json'];
    const last = join(home.state, 'schedules', `${jobHash(home.shop)}.last`);
    mkdirSync(join(home.state, 'schedules'), { recursive: true });
    writeFileSync(last, new Date().toISOString());
    expect(await home.run(run)).toEqual({ code: 0, out: '', err: '' });
    writeFileSync(last, '2020-01-01T00:00:00.000Z');
    expect((await home.run(run)).out).not.toBe('');
    expect(Date.parse(readFileSync(last, 'utf8'))).toBeGreaterThan(Date.now() - 600_000);
  });
});

describe('a nightly job', () => {
  it('gets no key of the shell, and says what to do about that', async () => {
    using system = openSystem();
    const { home } = system;
    home.env.OPENAI_API_KEY = 'sk-never-in-a-job';
    const keyed = ['schedule', '--target', 'openai:m', '--max-calls', '5'];
    const shown = await home.run([...keyed, '--print']);
    expect(shown.out).not.toContain('sk-never');
    const refused = await home.run(keyed);
    expect(refused.code).toBe(2);
    expect(refused.out).toContain('needs a key');
    expect(refused.out).toContain('no variables of your shell: write OPENAI_API_KEY=… into the file .env');
    expect(refused.out).toContain('nobody agreed yet');
    expect(system.crontab()).toBeUndefined();
    expect(await home.run([...keyed, '--force'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('needs a key'),
    });
    expect(system.crontab()).toContain('# skillopt-sleep');

    const everything = readdirSync(dirname(home.path), { recursive: true, withFileTypes: true });
    const files = everything.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(join(home.state, 'schedules', `${jobHash(home.shop)}.sh`));
    expect(files.filter((path) => readFileSync(path).includes('sk-never'))).toEqual([]);
  });

  it('does not call a skillopt that an agent in the project could change', async () => {
    using system = openSystem();
    const inside = await system.home.run([...night(), '--project', process.cwd()]);
    expect(inside).toMatchObject({ code: 2, out: expect.stringContaining('lies inside the project, where an agent') });
    expect(system.crontab()).toBeUndefined();
  });
});
