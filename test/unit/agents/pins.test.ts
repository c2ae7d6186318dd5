import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { fakeCli, prints } from './fake-cli.ts';

const answering = (version: string) => ({ version, ...prints({ type: 'result', is_error: false, result: 'four' }) });

/** A project whose target is an agent CLI, and a person who has one on their PATH. */
function person(options: object = {}) {
  const cursor = fakeCli('cursor-agent', answering('1.2.3'));
  const folder = tempFolder({
    'shop/tasks.jsonl': `${JSON.stringify({ id: 't', question: 'What?', answers: ['four'], split: 'test' })}\n`,
    'shop/SKILL.md': 'Be brief.',
    'shop/skillopt.config.json': JSON.stringify({
      tasks: 'tasks.jsonl',
      target: { provider: 'cursor-cli', ...options },
      optimizer: 'simulated',
    }),
  });
  const state = join(folder.path, 'state');
  const env: Record<string, string> = { HOME: cursor.home, PATH: dirname(cursor.path), SKILLOPT_HOME: state };
  const cli = async (...argv: string[]) => {
    const io = captureIo({ cwd: join(folder.path, 'shop'), env });
    const code = await runCli(argv, io);
    return { code, out: io.out(), err: io.err() };
  };
  return {
    ...{ cursor, env, state, cli, shop: join(folder.path, 'shop') },
    pins: () => JSON.parse(readFileSync(join(state, 'agents.json'), 'utf8')).agents,
    evaluate: () => cli('eval', '--skill', 'SKILL.md', '--split', 'test', '--no-cache', '--quiet', '--json'),
    [Symbol.dispose]() {
      cursor[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe('doctor', () => {
  it('pins the real path, version and print of each agent CLI, for this person alone', async () => {
    using me = person();
    const links = join(me.cursor.home, 'links');
    mkdirSync(links);
    symlinkSync(me.cursor.path, join(links, 'cursor-agent'));
    me.env.PATH = links;
    expect((await me.cli('doctor')).out).toContain(
      `agents     cursor-cli 1.2.3 ${me.cursor.path}, target: { agent: cursor }\n`,
    );
    const { size, ino } = statSync(me.cursor.path);
    expect(me.pins()).toEqual({
      'cursor-cli': {
        path: me.cursor.path,
        foundAt: join(links, 'cursor-agent'),
        version: '1.2.3',
        print: { size, ino, mtimeMs: expect.any(Number) },
        pinnedAt: expect.any(String),
      },
    });
    expect((statSync(me.state).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(join(me.state, 'agents.json')).mode & 0o777).toString(8)).toBe('600');
  });

  it('pins what PATH leads to now, and says what it was', async () => {
    using me = person();
    await me.cli('doctor');
    using other = fakeCli('cursor-agent', answering('2.0.0'));
    me.env.PATH = dirname(other.path);
    expect((await me.cli('doctor')).out).toContain(
      `cursor-cli 2.0.0 ${other.path} (was ${me.cursor.path}), target: { agent: cursor }\n`,
    );
    expect(me.pins()['cursor-cli'].path).toBe(other.path);
  });

  it('keeps what is only missing on PATH, and forgets what is gone', async () => {
    using me = person();
    await me.cli('doctor');
    me.env.PATH = '/nowhere';
    expect((await me.cli('doctor')).out).toContain(`cursor-cli 1.2.3 ${me.cursor.path} (pinned, not on PATH)\n`);
    rmSync(me.cursor.path);
    expect((await me.cli('doctor')).out).toContain(`cursor-cli 1.2.3 ${me.cursor.path} (is gone, and forgotten)\n`);
    expect(me.pins()).toEqual({});
  });
});

describe('a run', () => {
  it('without a doctor before it pins what it finds, and says so once', async () => {
    using me = person();
    const { code, err } = await me.evaluate();
    expect(err).toContain(`note: cursor-cli is ${me.cursor.path} (1.2.3) from now on, whatever PATH says;`);
    expect(code).toBe(0);
    expect(await me.evaluate()).toMatchObject({ code: 0, err: '' });
  });

  it('uses the pinned program although PATH leads to another', async () => {
    using me = person();
    await me.cli('doctor');
    using other = fakeCli('cursor-agent', answering('6.6.6'));
    me.env.PATH = `${dirname(other.path)}:${me.env.PATH}`;
    expect(await me.evaluate()).toMatchObject({ code: 0, err: '' });
    expect(() => other.given()).toThrow('ENOENT'); // it was never run
  });

  it('is an error when the pinned program is gone, and takes no other', async () => {
    using me = person();
    await me.cli('doctor');
    rmSync(me.cursor.path);
    using other = fakeCli('cursor-agent', answering('6.6.6'));
    me.env.PATH = dirname(other.path);
    const { code, err } = await me.evaluate();
    expect(code).toBe(4);
    expect(err).toContain(`${me.cursor.path} (1.2.3), which is pinned for it, does not exist any more`);
    expect(err).toContain('hint: Run npx skillopt doctor: ');
    expect(() => other.given()).toThrow('ENOENT');
    await me.cli('doctor');
    expect(await me.evaluate()).toMatchObject({ code: 0 });
  });

  it('warns once of another version in the same place: CLIs update themselves', async () => {
    using me = person();
    await me.cli('doctor');
    writeFileSync(me.cursor.path, readFileSync(me.cursor.path, 'utf8').replace('1.2.3', '1.10.0'));
    const { code, err } = await me.evaluate();
    expect(err).toBe(`warning: cursor-cli has changed since it was pinned: ${me.cursor.path} was 1.2.3, now 1.10.0\n`);
    expect(code).toBe(0);
    expect(await me.evaluate()).toMatchObject({ code: 0, err: '' });
  });

  it('refuses a pinned program that lies inside the project', async () => {
    using me = person();
    const inside = join(me.shop, 'tools');
    mkdirSync(inside);
    copyFileSync(me.cursor.path, join(inside, 'cursor-agent'));
    chmodSync(join(inside, 'cursor-agent'), 0o755);
    me.env.PATH = inside;
    const there = captureIo({ cwd: me.cursor.home, env: me.env });
    await runCli(['doctor'], there); // in another project, where it is a program like any other
    const { code, err } = await me.evaluate();
    expect(code).toBe(4);
    expect(err).toContain('lies inside the project');
  });

  it('works where nothing can be pinned, and says why', async () => {
    using me = person();
    mkdirSync(me.state, { mode: 0o700 });
    writeFileSync(join(me.state, 'novel.txt'), 'not ours');
    const { code, err } = await me.evaluate();
    expect(code).toBe(0);
    expect(err).toContain('but only this time: ');
    expect(existsSync(join(me.state, 'agents.json'))).toBe(false);
  });

  it.each(['', 'no JSON', '{"format":"other"}'])('takes a damaged file of pins (%j) for none', async (text) => {
    using me = person();
    await me.cli('doctor');
    writeFileSync(join(me.state, 'agents.json'), text);
    expect((await me.evaluate()).err).toContain(`note: cursor-cli is ${me.cursor.path} (1.2.3)`);
    expect(me.pins()['cursor-cli'].version).toBe('1.2.3');
  });

  it('passes on the variables that the project file names', async () => {
    using me = person({ passEnv: ['SHOP_REGION'] });
    Object.assign(me.env, { SHOP_REGION: 'eu', DATABASE_URL: 'postgres://u:p@db/x' });
    expect(await me.evaluate()).toMatchObject({ code: 0 });
    expect(me.cursor.given().env).toMatchObject({ SHOP_REGION: 'eu' });
    expect(me.cursor.given().env).not.toHaveProperty('DATABASE_URL');
  });

  it('refuses a path in the project file that leads into the project', async () => {
    using me = person({ path: 'node_modules/.bin/cursor-agent' });
    const bin = join(me.shop, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(me.cursor.path, join(bin, 'cursor-agent'));
    const { code, err } = await me.evaluate();
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('which lies inside the project') });
  });
});
