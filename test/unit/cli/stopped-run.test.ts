import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { projectOverHttp } from '../../support/project-over-http.ts';
import { startSimOverHttp } from '../../support/sim-over-http.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Under the strict gate, so that it can be told how many calls a step takes. */
const quick = {
  numEpochs: 4,
  batchSize: 12,
  proposalsPerBatch: 1,
  gate: 'strict',
  racing: 'off',
  finalPasses: 2,
  target: 'simulated',
  optimizer: 'simulated',
};

const headOf = (report: string) => report.split('\n')[0]!;
/** What the hint, and what the report, say to raise a limit to. */
const advised = ({ stdout, stderr }: { stdout: string; stderr: string }) => {
  const [, flag, hint] = /Raise (--[\w-]+) to ([\d.]+) and run the same command again/.exec(unwrapped(stderr)) ?? [];
  const [, next] = new RegExp(`^next: {2}npx skillopt train ${flag} ([\\d.]+) {2}resumes`, 'm').exec(stdout) ?? [];
  expect([stderr, next]).toEqual([stderr, hint]);
  return Number(hint);
};
const toNumber = (figure: string) => Number(figure.replaceAll(',', ''));

const command = async (cwd: string, line: string) => {
  const io = captureIo({ cwd });
  const code = await runCli(line.split(' '), io);
  return { code, stdout: io.out(), stderr: io.err() };
};

describe('a run that has reached its limit', () => {
  it('shows what it has found by fresh rollouts, with the interval, and what to do', async () => {
    using folder = tempFolder(worldFiles(quick));
    const { code, stdout, stderr } = await command(folder.path, 'train --max-calls 170 --ignore-estimate');
    expect(code).toBe(3);
    expect(headOf(stdout)).toMatch(
      /^Stopped at its limit of calls after 5 of 8 steps: so far [\d.]+ → [\d.]+ % on the 16 tasks it was chosen by, (not )?proven, [+-]?[\d.]+ to [+-][\d.]+ points\. 170 calls, \$0\.00\. \d+ lines? added\.$/,
    ); // the fresh figures, not the search's
    expect(stdout).toMatch(/^in all, .* 170 /m);
    expect(advised({ stdout, stderr })).toBeGreaterThan(202); // 32 will be kept again
    const [kept, error] = stderr.trimEnd().split('\n').slice(-3);
    expect(kept).toContain('the run is kept in runs/run');
    expect(error).toBe(
      'error: --max-calls is reached: 170 of 170 calls are spent, and 32 of them went into the final measurement',
    );
    expect((await command(folder.path, 'show run')).stdout).toBe(stdout);
    expect((await command(folder.path, 'runs')).stdout).toMatch(
      /^run +at its limit, step 5 of 8 .* 170 calls, \$0\.00$/m,
    );
    // It says what it takes to continue, and that is enough.
    const train = (calls: number) => command(folder.path, `train --max-calls ${calls} --ignore-estimate`);
    const stuck = await train(202);
    expect(stuck.stderr).toContain('--max-calls leaves nothing for the search: 170 of 202 calls were spent before it');
    expect(headOf(stuck.stdout)).toMatch(/^Stopped at its limit of calls after 5 of 8 steps: .* 170 calls,/);
    expect((await train(203)).stderr).toContain('171 of 203 calls are spent, and 32 are kept for the final');
    expect(headOf((await train(advised(stuck))).stdout)).not.toContain('after 5 of 8 steps');
  });

  it('says the same of tokens, as far as it is known', async () => {
    using folder = tempFolder(worldFiles(quick));
    const start = (tokens: number) => command(folder.path, `train --max-total-tokens ${tokens} --ignore-estimate`);
    const train = async (tokens: number) => unwrapped((await start(tokens)).stderr);
    const { stderr, stdout } = await start(40_000);
    const first = unwrapped(stderr);
    const [, spent, used, kept] =
      /reached: ([\d,]+) of 40,000 tokens are spent, and ([\d,]+) of them went into the final measurement, for which ([\d,]+) were kept hint:/
        .exec(first)!
        .map(toNumber);
    expect(stdout).toMatch(new RegExp(`^in all, .* ${spent!.toLocaleString('en-US')} `, 'm'));
    expect(used).toBeLessThan(kept!);
    expect(advised({ stdout, stderr })).toBeGreaterThan(spent! + kept!);
    expect(await train(advised(await start(40_001)))).not.toContain('leaves nothing');
  });

  it('counts also what an unfinished step or measurement has spent', async () => {
    using folder = tempFolder(worldFiles(quick));
    const { stdout, stderr } = await command(folder.path, 'train --max-calls 10 --ignore-estimate');
    expect(stdout).toMatch(/^Stopped at its limit of calls after 0 of 8 steps: nothing is measured yet\. 10 calls, /);
    expect(advised({ stdout, stderr })).toBeGreaterThanOrEqual(10 + 16);
    expect(stdout).toMatch(/^unfinished work +10 +[1-9][\d,]* /m);
    expect(stderr).toContain('--max-calls is reached: 10 of 10 calls are spent\n');
    expect((await command(folder.path, 'show run')).stdout).toBe(stdout);
    expect((await command(folder.path, 'runs')).stdout).toMatch(/^run +at its limit, step 0 of 8 /m);
  });

  it.each([
    ['--max-calls', 10],
    ['--max-calls', 100],
    ['--max-total-tokens', 17_000],
    ['--max-total-tokens', 40_000],
  ])('names with %s %i a limit that pays for the rest of the run', async (flag, limit) => {
    using folder = tempFolder(worldFiles(quick));
    const train = (most: number) => command(folder.path, `train ${flag} ${most} --ignore-estimate`);
    const stopped = await train(limit);
    expect(stopped.code).toBe(3);
    const { code, stderr } = await train(advised(stopped));
    expect([code, stderr.includes('is reached')]).toEqual([0, false]);
  });

  it.each([
    ['train --max-total-tokens 3000', 'tokens', '--max-total-tokens \\d+'],
    ['train --max-minutes 0.0001', 'minutes', '--max-minutes 0.0002'],
    ['train --max-calls 10 --max-total-tokens 9000000', 'calls', '--max-calls \\d+'],
  ])('says of `%s` which limit it was', async (line, limit, next) => {
    using folder = tempFolder(worldFiles(quick));
    const { code, stdout } = await command(folder.path, `${line} --ignore-estimate`);
    expect([code, headOf(stdout)]).toEqual([
      3,
      expect.stringMatching(`^Stopped at its limit of ${limit} after 0 of 8`),
    ]);
    expect(stdout).toMatch(new RegExp(`^next: {2}npx skillopt train ${next} {2}resumes`, 'm'));
  });

  it('names a higher limit than the one that was given last', async () => {
    using folder = tempFolder(worldFiles(quick));
    await command(folder.path, 'train --max-calls 5 --ignore-estimate');
    const { stdout, stderr } = await command(folder.path, 'train --max-calls 12 --ignore-estimate');
    expect(advised({ stdout, stderr })).toBeGreaterThan(12);
    expect((await command(folder.path, 'show run')).stdout).toBe(stdout);
  });

  it('names no sum where no price is known, and neither does the report', async () => {
    await using server = await startSimOverHttp();
    using project = projectOverHttp(server.baseURL, { numEpochs: 1, maxCalls: 10 });
    const stopped = await project.run('train', '--ignore-estimate');
    expect(stopped.out).toMatch(/^Stopped at its limit of calls after 0 of .* steps: .* 10 calls, no price known\./);
    const whole = await project.run('train', '--max-calls', '9999');
    expect(whole.code).toBe(0);
    expect(whole.out).toMatch(/trying tasks +\d+ +[\d.,k]+ +\?/);
    expect(whole.out).toContain('?: no price known for that model');
    expect(`${stopped.err}${stopped.out}${whole.err}${whole.out}`).not.toMatch(/\b0\.00\b/);
  });

  it('spends no more than the limit over all its starts, says so to machines in one object, and ends when given more', async () => {
    using folder = tempFolder(worldFiles(quick));
    for (const calls of [100, 171, 240]) {
      const stopped = await command(folder.path, `train --quiet --json --max-calls ${calls} --ignore-estimate`);
      expect(stopped.code).toBe(3);
      const { error, run } = JSON.parse(stopped.stdout);
      expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', hint: expect.stringContaining('--max-calls') });
      expect(run).toMatchObject({ isDone: false, finalScore: { interval: {} }, finalGain: { interval: {} } });
      expect(run.isProven).toBe(run.finalGain.interval.low > 0);
      const shown = JSON.parse((await command(folder.path, 'show run --json')).stdout);
      expect(shown).toEqual(run);
      const { tokenSummary } = shown;
      const stages = Object.values(tokenSummary) as { replies: number; cacheHits: number }[];
      expect(stages.reduce((sum, { replies, cacheHits }) => sum + replies - cacheHits, 0)).toBeLessThanOrEqual(calls);
    }
    const { code, stdout } = await command(folder.path, 'train --quiet --json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ isDone: true, finalScore: { interval: {} } });
  });
});

const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ');

describe('the list of runs', () => {
  it('does not call a run done that was killed', async () => {
    using folder = tempFolder(worldFiles({ ...quick, numEpochs: 1, evalTest: false }));
    await command(folder.path, 'train --quiet');
    const journal = join(folder.path, 'runs', 'run', 'events.jsonl');
    const events = readFileSync(journal, 'utf8').split('\n');
    const cut = events.findIndex((line) => line.includes('"type":"step-end"')) + 1;
    writeFileSync(journal, events.slice(0, cut).join('\n').concat('\n{"type":"st')); // as kill -9 leaves it
    expect((await command(folder.path, 'runs')).stdout).toMatch(/^run +not finished, step 1 of 2 /m);
  });

  it('does not call a run done whose agent never answered', async () => {
    const env = `const items = (split) => Array.from({ length: 4 }, (_, k) => ({ id: split + k }));
export default { name: 'dead', getItems: items, rolloutOne: async ({ item }) => ({ id: item.id, hard: 0, soft: 0 }) };`;
    const config = 'name: run\nenv: ./env.mjs\ntarget: none\noptimizer: simulated\nnumEpochs: 1\nbatchSize: 4\n';
    using folder = tempFolder({ 'skillopt.config.yaml': config, 'env.mjs': env });
    await command(folder.path, 'train');
    expect((await command(folder.path, 'runs')).stdout).toMatch(/^run +broken /m);
  });
});
