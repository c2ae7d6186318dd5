import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { toAtif } from '../../../src/core/contracts/index.ts';
import { textWidth } from '../../../src/report/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const run = {
  text: 'The sum is 41.',
  ended: 'done' as const,
  turns: 3,
  steps: [
    { type: 'skill-loaded' as const, name: 'sums' },
    { type: 'text' as const, text: 'I look at the file.' },
    { type: 'tool-call' as const, id: 'a', tool: 'bash', input: { command: 'cat orders.csv' } },
    { type: 'tool-result' as const, id: 'a', output: `${'lamp,12\n'.repeat(20)}`, isError: false },
    { type: 'tool-call' as const, id: 'b', tool: 'write', input: { path: 'total.txt', text: '41' } },
    { type: 'tool-result' as const, id: 'b', output: 'refused', isError: true },
    { type: 'text' as const, text: 'The sum is 41.' },
  ],
  skillsOffered: [],
  skillsLoaded: ['sums'],
  usage: { input: 1, cached: 0, output: 1, reasoning: 0 },
};
const trajectory = toAtif(run, { agent: 'claude', version: '2', sessionId: 't1', prompt: 'Sum it.' });
const diff = { changes: [{ path: 'total.txt', change: 'added', patch: '@@ -0,0 +1 @@\n+41' }], leftOut: [] };
const attempt = { id: 't1', question: 'Sum the prices in orders.csv.', n_turns: 3, predicted_answer: 'The sum is 41.' };
const reason = `total.txt does not hold "42"; ${'the sum of all prices must be right '.repeat(5)}`;

/** A run that trained, with attempts of an agent in its files. */
async function project() {
  const folder = tempFolder(
    worldFiles({ numEpochs: 1, batchSize: 48, finalPasses: 1, target: 'simulated', optimizer: 'simulated' }),
  );
  const cli = async (...args: string[]) => {
    const io = captureIo({ cwd: folder.path });
    return { code: await runCli(args, io), out: io.out(), err: io.err() };
  };
  await cli('train', '--quiet');
  const write = (path: string, results: readonly object[]) => {
    const file = join(folder.path, 'runs/run', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(results));
  };
  write('steps/step_0009/rollout_results.json', [
    { ...attempt, hard: 0, soft: 0, skill_unread: true, extras: { skillsLoaded: [] } },
  ]);
  write('steps/step_0009/selection_eval/results.json', [{ ...attempt, hard: 1, soft: 1 }]);
  write('steps/step_0010/rollout_results.json', [
    {
      ...attempt,
      hard: 0,
      soft: 0.5,
      fail_reason: reason,
      extras: { skillsLoaded: ['sums'], ended: 'resources', costUsd: 0.2833265, diff, trajectory },
    },
  ]);
  return { ...folder, cli, write };
}

describe('show --task', () => {
  it('walks through the attempts at a task, the last one step by step, in 80 columns', async () => {
    using folder = await project();
    const { code, out, err } = await folder.cli('show', 'run', '--task', 't1');
    expect(code, err).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "task t1
        Sum the prices in orders.csv.

        step 9, training       failed (0.00)  skill not loaded
        step 9, the candidate  passed (1.00)
        step 10, training      failed (0.50)  total.txt does not hold "42"; the sum…

      last attempt: step 10, training
        the skill was loaded
        3 turns, $0.28, ended: it reached its limit of memory, processes or disk

      what it did
        step 1
        loads the skill sums
        says: I look at the file.
        calls bash: cat orders.csv
        gets:
          lamp,12
          lamp,12
          lamp,12
          lamp,12
          lamp,12
          lamp,12
          lamp,12
          lamp,12
          … and 12 more lines
        step 2
        calls write: {"path":"total.txt","text":"41"}
        fails: refused
        step 3
        says: The sum is 41.

      what it changed
        added total.txt
          @@ -0,0 +1 @@
          +41

      the verdict
        failed (score 0.50)
        total.txt does not hold "42"; the sum of all prices must be right the sum of
        all prices must be right the sum of all prices must be right the sum of all
        prices must be right the sum of all prices must be right
        its last words: The sum is 41.
      "
    `);
    expect(Math.max(...out.split('\n').map(textWidth))).toBeLessThanOrEqual(80);
    const other = await folder.cli('show', 'run', '--task', 't1', '--step', '9');
    expect(other.out).toContain('last attempt: step 9, the candidate\n  3 turns\n');
    expect(other.out).not.toContain('step 10');
    const json = JSON.parse((await folder.cli('show', 'run', '--task', 't1', '--json')).out);
    expect(json).toMatchObject({
      name: 'run',
      task: 't1',
      attempts: [{ step: 9 }, { step: 9 }, { step: 10, result: { soft: 0.5 } }],
    });
    const chat = await folder.cli('show', 'run', '--task', firstTask(folder));
    expect(chat.out).toMatch(
      /the beginning[\s\S]*what it did\n {2}user:[\s\S]*the verdict\n {2}(passed|failed) \(score /,
    );
    const never = await folder.cli('show', 'run', '--task', 't1', '--step', '99');
    expect(never.err).toContain('step 99 of the run run has no attempt at the task "t1"\n');
    expect(never.err).toContain('It was attempted in: step 9, training; step 9, the candidate; step 10, training');
    const without = await folder.cli('show', 'run', '--step', '9');
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('error: --step needs --task')]);
    const nobody = await folder.cli('show', 'run', '--task', 't2');
    expect(nobody).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no attempt at the task "t2" — did you mean t1?'),
    });
  }, 120_000);
});

describe('diff --task', () => {
  it('shows what was done at a task with one version and with another', async () => {
    using folder = await project();
    const done = { skillsLoaded: ['sums'], ended: 'done', diff, trajectory };
    folder.write('steps/step_0010/selection_eval/results.json', [{ ...attempt, hard: 1, soft: 1, extras: done }]);
    const { code, out, err } = await folder.cli('diff', 'run', '9', '10', '--task', 't1');
    expect(code, err).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "task t1, 9 and 10
        step 9, the candidate   passed (1.00)
        step 10, the candidate  passed (1.00)

      --- 9
      +++ 10
      @@ -1,3 +1,37 @@
      +  the skill was loaded
         3 turns
      +  step 1
      +  loads the skill sums
      +  says: I look at the file.
      +  calls bash: cat orders.csv
      +  gets:
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +    lamp,12
      +  step 2
      +  calls write: {"path":"total.txt","text":"41"}
      +  fails: refused
      +  step 3
      +  says: The sum is 41.
      +  added total.txt
      +    @@ -0,0 +1 @@
      +    +41
         passed (score 1.00)
         its last words: The sum is 41.
      "
    `);
    const long = { ...attempt, hard: 0, soft: 0.5, fail_reason: `${reason} ${'x'.repeat(100)}`, extras: done };
    folder.write('steps/step_0009/selection_eval/results.json', [long]);
    const wide = await folder.cli('diff', 'run', '9', '10', '--task', 't1');
    expect(wide.out).toContain('-  all prices must be right the sum of all prices must be right the sum of all');
    expect(Math.max(...wide.out.split('\n').map(textWidth))).toBe(80);
    const { out: json } = await folder.cli('diff', 'run', '9', '10', '--task', 't1', '--json');
    expect(JSON.parse(json)).toMatchObject({ run: 'run', task: 't1', from: { step: 9 }, to: { step: 10 } });
  });

  it('says where a task was attempted when a version has no attempt at it', async () => {
    using folder = await project();
    const { code, err } = await folder.cli('diff', 'run', '--task', 't1');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('no attempt at this task was made with the version initial'),
    ]);
    expect(err).toContain('step 9, training; step 9, the candidate; step 10, training');
    for (const version of ['99', 'bset']) {
      const none = await folder.cli('diff', 'run', '0', version, '--task', firstTask(folder));
      expect(none.err).toMatch(`no version ${version}: initial, best, current or a step from 0 to `);
    }
  });
});

function firstTask({ path }: { readonly path: string }): string {
  return JSON.parse(readFileSync(join(path, 'runs/run/baseline_selection_eval/results.json'), 'utf8'))[0].id;
}
