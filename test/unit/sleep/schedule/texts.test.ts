import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NightJob, readClock } from '../../../../src/app/index.ts';
import { cronLines, systemdUnits } from '../../../../src/app/schedule/installers.ts';
import { markOf, posixScript, requireWritable } from '../../../../src/app/schedule/night-job.ts';
import {
  launchdPlist,
  powershellQuoted,
  taskName,
  windowsScript,
  windowsTask,
} from '../../../../src/app/schedule/other-systems.ts';
import { lastDue } from '../../../../src/app/schedule/schedule-night.ts';
import { jobHash } from '../../../../src/sleep/index.ts';
import { isMissing } from '../../../support/machine.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const project = `/home/ann/it's 100% "<$x> & ü`;
const job: NightJob = {
  project,
  hash: jobHash(project),
  at: { hour: 3, minute: 7 },
  folder: `/home/ann/.local/state/100% "s$x\\ & ü`,
  command: [
    '/opt/node/bin/node',
    '/opt/skillopt/bin/skillopt.mjs',
    'sleep',
    'run',
    '--target',
    '{"provider":"claude-cli"}',
  ],
  env: { HOME: '/home/ann', PATH: '/opt/node/bin:/usr/bin', LANG: 'C.UTF-8' },
  pinned: [{ name: 'node', path: '/opt/node/bin/node', version: '22.1.0' }],
};
const onWindows: NightJob = {
  ...job,
  project: `C:\\Users\\Ann\\it's 100% & ‘ü’`,
  folder: 'C:\\Users\\Ann\\AppData\\Local\\skillopt\\schedules',
  command: ['C:\\Program Files\\nodejs\\node.exe', ...job.command.slice(1)],
  env: { HOME: 'C:\\Users\\Ann', PATH: 'C:\\Program Files\\nodejs' },
};

const golden = (name: string) => join('test/fixtures/schedule', name);

describe('fact 55: the scheduler', () => {
  it('55: refuses an hour that is true, no number, or on no clock', () => {
    for (const hour of ['true', 'NaN', '24', '-1', '3.5', '', ' 3', '003'])
      expect(() => readClock(`${hour}:17`)).toThrow('expected a time from 00:00 to 23:59');
    for (const minute of ['true', '60', '-1', '7', '7.5', '', '007'])
      expect(() => readClock(`3:${minute}`)).toThrow('expected a time');
    expect(readClock('3:07')).toEqual({ hour: 3, minute: 7 });
  });

  it('55: marks what is its own by the SHA-256 of the path of the project; differs: by 20 hex digits of it everywhere', () => {
    expect(jobHash('/p')).toMatch(/^[0-9a-f]{20}$/);
    expect(jobHash('abc')).toBe('ba7816bf8f01cfea4141');
    expect(markOf(jobHash('abc'))).toBe('skillopt-sleep ba7816bf8f01cfea4141');
    expect(taskName(jobHash('abc'))).toBe('SkillOpt-Sleep-ba7816bf8f01cfea4141');
  });

  it('55: doubles quotes in PowerShell, typographic ones too', () => {
    expect(powershellQuoted("it's ‘so’")).toBe("'it''s ‘‘so’’'");
  });
});

describe('the files of a job', () => {
  it('36: a percent sign in a path is escaped for cron, which ends a command at one', () => {
    const line = cronLines(job)[1]!;
    expect(line).toContain(String.raw`/100\% `);
    expect(line.replaceAll(String.raw`\%`, '')).not.toContain('%');
  });

  it.each([
    ['skillopt-sleep.service', systemdUnits(job, '/u')[0].text],
    ['skillopt-sleep.timer', systemdUnits(job, '/u')[1].text],
    ['job.sh', posixScript(job)],
    ['agent.plist', launchdPlist(job, '/u').text],
    ['task.xml', windowsTask(onWindows).text],
    ['job.ps1', windowsScript(onWindows).text],
  ])('%s is as it was agreed', async (name, text) => {
    await expect(text).toMatchFileSnapshot(join(process.cwd(), golden(name)));
  });

  const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.skipIf(isMissing('systemd-analyze', hasAnalyze))('are units that systemd takes', () => {
    using folder = tempFolder();
    const units = systemdUnits(job, folder.path);
    for (const { path, text } of units) writeFileSync(path, text);
    const env = { PATH: process.env.PATH, HOME: folder.path, XDG_RUNTIME_DIR: folder.path };
    const paths = units.map(({ path }) => path);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', ...paths], { env, encoding: 'utf8' });
    expect({ status, stderr: stderr.split('\n').filter((line) => line.includes('skillopt')) }).toEqual({
      status: 0,
      stderr: [],
    });
  });

  it('give the program its words and variables, and no others, whatever is in them', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '').toWellFormed?.() ?? value);
    const say = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))';
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), text, (words, value) => {
        using folder = tempFolder();
        const own = join(folder.path, `it's $HOME "%`);
        mkdirSync(own);
        const script = posixScript({
          ...{ ...job, project: own, folder: own, env: { A: value } },
          command: [process.execPath, '-e', say, '--', ...words],
        });
        execFileSync('/bin/sh', ['-c', script], { env: { SECRET: 'x' } });
        const [args, env] = JSON.parse(readFileSync(join(own, `${job.hash}.log`), 'utf8'));
        expect({ args, env: env.A, secret: env.SECRET }).toEqual({ args: words, env: value, secret: undefined });
      }),
      { numRuns: 6 },
    );
  });

  it('are not written for paths that cannot be written down', () => {
    expect(() => requireWritable({ ...job, project: '/a\n* * * * * x' })).toThrow('control characters');
    expect(() => requireWritable({ ...job, command: ['/opt/a=b/node'] })).toThrow('"="');
  });
});

describe('the last time that a job was due', () => {
  it('is never later than now, and no more than a day and an hour ago', () => {
    const day = 86_400_000;
    fc.assert(
      fc.property(
        fc.date({ min: new Date(2020, 0), max: new Date(2030, 0), noInvalidDate: true }),
        fc.nat(23),
        fc.nat(59),
        (now, hour, minute) => {
          const due = lastDue(now, { hour, minute });
          expect(due <= now && now.getTime() - due.getTime() < day + 3_600_001).toBe(true);
        },
      ),
    );
  });
});
