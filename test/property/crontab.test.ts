import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NightJob } from '../../src/app/index.ts';
import { cronHashes, cronLines, withCronJob, withoutCronJob } from '../../src/app/schedule/installers.ts';
import { jobHash } from '../../src/sleep/index.ts';

const jobOf = (project: string): NightJob => ({
  ...{ project, hash: jobHash(project), at: { hour: 3, minute: 17 }, folder: `/state 100%/${project}` },
  ...{ command: ['/node'], env: {}, pinned: [] },
});
const add = (crontab: string, job: NightJob) => withCronJob(crontab, job.hash, cronLines(job));

/** Lines as people write them, and some that look much like ours. */
const line = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', '')),
  fc.constantFrom(
    '',
    '# skillopt-sleep',
    '# skillopt-sleep 0123',
    'MAILTO=a@b',
    '@reboot x',
    '5 4 * * * echo 100\\% \r',
    '#',
  ),
  fc.constantFrom(`# skillopt-sleep ${jobHash('a')} is what I installed`, `# skillopt-sleep ${jobHash('a')}begin: x`),
);
const crontab = fc.array(line).map((lines) => lines.map((text) => `${text}\n`).join(''));

describe('a crontab', () => {
  it('is byte for byte as it was after a job came and went', () => {
    fc.assert(
      fc.property(crontab, (before) => {
        const job = jobOf('a');
        expect(withoutCronJob(add(before, job), job.hash)).toBe(before);
        expect(withoutCronJob(before, job.hash)).toBe(before);
      }),
    );
  });

  it('keeps what stands around a job, and the job of another project, when it is scheduled again', () => {
    fc.assert(
      fc.property(crontab, crontab, crontab, (above, between, below) => {
        const [one, other] = [jobOf('a'), jobOf('b')];
        const text = `${add(`${add(above, one)}${between}`, other)}${below}`;
        expect(add(text, one)).toBe(text);
        expect(add(text, other)).toBe(text);
        expect(cronHashes(text)).toEqual([one.hash, other.hash]);
        expect(withoutCronJob(text)).toBe(above + between + below);
      }),
    );
  });

  it('gets a line break where its last line had none', () => {
    expect(withoutCronJob(add('5 4 * * * x', jobOf('a')))).toBe('5 4 * * * x\n');
  });

  it('keeps lines that somebody put between ours', () => {
    const [begin, run, end] = cronLines(jobOf('a'));
    expect(withoutCronJob(`${begin}# mine\n${run}7 7 * * * mine\n${end}`, jobHash('a'))).toBe(
      '# mine\n7 7 * * * mine\n',
    );
  });

  it('36: has every percent sign of a path escaped', () => {
    const [, run = ''] = cronLines(jobOf('50%'));
    expect(run).toContain(String.raw`'/state 100\%/50\%/`);
    expect(run.replaceAll(String.raw`\%`, '')).not.toContain('%');
  });
});
