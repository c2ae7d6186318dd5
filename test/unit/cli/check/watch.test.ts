import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { readProgress } from '../../../../src/stores/index.ts';
import { openProgressFile } from '../../../../src/stores/run/progress-file.ts';
import { describeOwner } from '../../../../src/stores/run/run-lock.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { marksProject, skillThat } from './marks-project.ts';

const QUICK = 'numEpochs: 1\nbatchSize: 2\nfinalPasses: 1\nmaxRollouts: 60\nworkers: 2\noutRoot: runs/run\n';

vi.setConfig({ testTimeout: 400_000 }); // trains runs, which a busy machine does slowly

/** A project whose run waits twice for the test: after the first of its tasks, and before the last. */
function waitingProject() {
  const project = marksProject({ 'A.md': skillThat(4) }, QUICK);
  const wait = `const until = async (name) => { while (!existsSync(new URL(name, import.meta.url))) await new Promise((done) => setTimeout(done, 10)); };
if (k > 0) await until('watched');
if (k === 39) await until('seen');
const taskType`;
  const env = project.read('env.mjs').replace('const taskType', wait);
  writeFileSync(project.at('env.mjs'), `import { existsSync } from 'node:fs';\n${env}`);
  const begun = async () => {
    while (!existsSync(project.at('runs/run/progress.jsonl'))) await delay(10);
  };
  return { ...project, begun };
}

/** Watches a run from its first task on, and lets it end once a task of the test is seen. */
async function watchWhole(...flags: string[]) {
  using project = waitingProject();
  const training = project.cli(train);
  await project.begun();
  const io = captureIo({ cwd: project.path, env: { HOME: project.path } });
  const watching = runCli(['watch', 'run', ...flags], io);
  const until = async (text: RegExp) => {
    while (!text.test(io.out() + io.err())) await delay(10);
  };
  await until(/val-0/);
  project.write('watched', '');
  await until(/test-1\d/);
  project.write('seen', '');
  const code = await watching;
  const trained = await training;
  return {
    code,
    out: io.out(),
    err: io.err(),
    trained,
    again: await project.cli('watch run'),
    files: readdirSync(project.at('runs/run')),
  };
}

const train = 'train --skill A.md --quiet';

describe('watch', () => {
  it('shows the run of another process as it shows itself, with its tasks, and then its report', async () => {
    const { code, out, err, trained, again, files } = await watchWhole();
    expect([code, out]).toEqual([0, trained.out]);
    expect(err).toMatch(/^watching run: step 0 of about \d+; Ctrl-C leaves the run alone\n/);
    expect(err).toMatch(/^ {2}✗ val-0 {2}baseline 1\/12$/m);
    expect(err).toMatch(/^ {2}✓ test-\d+ {2}test \d+\/40$/m);
    expect(err).toMatch(/^ {2}test {6}90\.0 % with the best skill$/m);
    expect(files).not.toContain('progress.jsonl');
    expect([again.code, again.out, again.err]).toEqual([0, trained.out, '']);
  });

  it('tells machines each event, each task and the end, a line each', async () => {
    const { code, out } = await watchWhole('--json');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const end = { type: 'end', reason: 'done', verdict: { kind: expect.any(String) } };
    expect([code, lines[0], lines.at(-1)]).toMatchObject([0, { type: 'open' }, end]);
    expect(lines).toContainEqual(expect.objectContaining({ type: 'test-end' }));
    const result = { id: 'val-0', hard: 0, soft: 0 };
    expect(lines).toContainEqual({ type: 'progress', phase: 'baseline', step: 0, done: 1, total: 12, result });
  });

  it('is of a run by its name: train says that, not the name of the environment', async () => {
    using project = marksProject({ 'A.md': skillThat(4) }, QUICK.replace('runs/run', 'runs/starter'));
    expect((await project.cli('train --skill A.md')).err).toMatch(
      /^training starter: about \d+ steps?, tasks 2 train, /m,
    );
  });

  it('says of a run that is not there that it may be about to begin', async () => {
    using project = marksProject();
    const { code, err } = await project.cli('watch soon');
    expect([code, err]).toEqual([2, expect.stringContaining('no run soon')]);
    expect(err).toMatch(/If its training is just starting, try again in a\smoment\./);
  });

  it('leaves the run alone when it is left', async () => {
    using project = waitingProject();
    const training = project.cli(train);
    await project.begun();
    cpSync(project.at('runs/run'), project.at('runs/older'), {
      recursive: true,
      filter: (path) => !path.includes('lock'),
    });
    const io = captureIo({ cwd: project.path, env: { HOME: project.path } });
    const watching = runCli(['watch'], io); // of two, the one at work is meant
    while (!io.err().includes('watching run')) await delay(10);
    io.emit('SIGINT');
    expect(await watching).toBe(0);
    expect(io.err()).toContain('no longer watching; the run continues\n');
    for (const name of ['watched', 'seen']) project.write(name, '');
    expect((await training).code).toBe(0);
  });

  it('ends with a run that is dead, and says how it is resumed; it is shown on a terminal too', async () => {
    using project = waitingProject();
    for (const name of ['watched', 'seen']) project.write(name, '');
    await project.cli(train);
    const journal = project.at('runs/run/events.jsonl');
    const bytes = readFileSync(journal);
    truncateSync(journal, bytes.lastIndexOf('\n', bytes.length - 2) + 1);
    rmSync(project.at('runs/run/state.json'), { force: true });
    const io = captureIo({ cwd: project.path, isTTY: true, columns: 80, env: { HOME: project.path, NO_COLOR: '1' } });
    expect(await runCli(['watch', 'run'], io)).toBe(1);
    expect(io.out()).toMatch(/^Not finished, /);
    expect(io.out()).toMatch(/^next: +npx skillopt train {2}resumes it/m);
    expect(io.err()).toContain('nobody is at work on this run any more\n');
    expect((await project.cli('watch run --json')).out).toContain('"type":"end","reason":"dead"');
  });
});

describe('the times of a watched run', () => {
  /** A run without its end, whose process took it up this many hours from now, as a terminal shows it. */
  async function watched(project: ReturnType<typeof waitingProject>, hours: number) {
    const [first, second] = project.read('runs/run/events.jsonl').split('\n');
    project.write('runs/run/events.jsonl', `${first}\n${second}\n`);
    rmSync(project.at('runs/run/state.json'), { force: true });
    const at = new Date(Date.now() + hours * 3_600_000).toISOString();
    project.write('runs/run/run.lock', JSON.stringify({ ...JSON.parse(await describeOwner()), at }));
    const io = captureIo({ cwd: project.path, isTTY: true, columns: 80, env: { HOME: project.path, NO_COLOR: '1' } });
    const watching = runCli(['watch', 'run'], io);
    while (!/elapsed/.test(io.err())) await delay(10);
    io.emit('SIGINT');
    expect(await watching).toBe(0);
    return io.err();
  }

  it('are those of the process at work, not of the watcher, and count nothing that was done before that process', async () => {
    using project = waitingProject();
    for (const name of ['watched', 'seen']) project.write(name, '');
    await project.cli(train);
    expect(await watched(project, -3)).toMatch(/^3:0\d:\d\d elapsed · about [\d:]+ left/m);
    expect(await watched(project, 1)).not.toContain('left ·');
  });
});

describe('progress.jsonl', () => {
  const progress = (done: number, step = 1) =>
    ({ phase: 'rollout', step, done, total: 9, result: { id: `t${done}`, hard: 1, soft: 1 } }) as const;

  it('holds one stage at a time, and is read on from where one was', async () => {
    using folder = tempFolder();
    const path = `${folder.path}/progress.jsonl`;
    const file = openProgressFile(path);
    const read = async (from = { part: -1, count: 0 }) => {
      let found = await readProgress(path, from);
      while (found.news.length === 0) found = await delay(10).then(() => readProgress(path, from));
      return found;
    };
    for (const done of [1, 2]) file.note(progress(done));
    const first = await read();
    expect(first.news.map(({ done }) => done)).toEqual([1, 2]);
    file.note(progress(3));
    const second = await read(first.place);
    expect(second.news.map(({ done }) => done)).toEqual([3]);
    file.note(progress(1, 2));
    const third = await read(second.place);
    expect(third.news).toEqual([progress(1, 2)]);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
    await file.close();
    expect(existsSync(path)).toBe(false);
  });

  it('does not grow without bounds', async () => {
    using folder = tempFolder();
    const path = `${folder.path}/progress.jsonl`;
    const file = openProgressFile(path);
    for (let done = 0; done < 5_000; done++) file.note(progress(done));
    while (!existsSync(path)) await delay(10);
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(2_003);
    await file.close();
  });

  it('that cannot be written is no reason to fail, and a link is not followed', async () => {
    using folder = tempFolder({ victim: 'mine' });
    const path = `${folder.path}/progress.jsonl`;
    symlinkSync(`${folder.path}/victim`, path);
    for (const place of [path, `${folder.path}/nowhere/progress.jsonl`]) {
      const file = openProgressFile(place);
      file.note(progress(1));
      await delay(300);
      file.note(progress(2));
      await file.close();
    }
    expect(readFileSync(`${folder.path}/victim`, 'utf8')).toBe('mine');
    expect((await readProgress(`${folder.path}/nowhere/x`, { part: 0, count: 0 })).news).toEqual([]);
  });
});
