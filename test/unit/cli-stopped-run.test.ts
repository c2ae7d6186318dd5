import { describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/main.ts';
import { worldFiles } from '../e2e/project.ts';
import { captureIo } from './cli-capture-io.ts';
import { tempFolder } from './cli-temp-folder.ts';

const quick = { numEpochs: 2, batchSize: 12, proposalsPerBatch: 4, target: 'simulated', optimizer: 'simulated' };

const command = async (cwd: string, line: string) => {
  const io = captureIo({ cwd, columns: 200 });
  const code = await runCli(line.split(' '), io);
  return { code, stdout: io.out(), stderr: io.err() };
};

describe('a run that has reached its limit', () => {
  it('shows what it has found by fresh rollouts, with the interval, and what to do', async () => {
    using folder = tempFolder(worldFiles(quick));
    const { code, stderr } = await command(folder.path, 'train --max-calls 170 --ignore-estimate');
    expect(code).toBe(3);
    const [bought, measured, gain, kept, error, hint] = stderr.trimEnd().split('\n').slice(-6);
    expect(bought).toMatch(/^bought: \d+ of \d+ steps .* → [\d.]+ %$/); // the fresh figures, not the search's
    expect(measured).toMatch(/^measured on validation \(2 fresh passes\): \d/);
    expect(gain).toMatch(/^gain [+-]\d.* points, .* to .*: (proven, 95 % sure|not proven: it may be luck)$/);
    expect(kept).toContain('the run is kept in runs/run');
    expect(error).toMatch(/^error: --max-calls is reached: .* and 32 are kept for the final measurement$/);
    expect(hint).toContain('Raise --max-calls');
    expect((await command(folder.path, 'show run')).stdout).toContain(`${measured}\n${gain}`);
  });

  it('tells machines the same, in one object', async () => {
    using folder = tempFolder(worldFiles(quick));
    const { code, stdout } = await command(folder.path, 'train --max-calls 170 --ignore-estimate --json');
    expect(code).toBe(3);
    const { error, run } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', hint: expect.stringContaining('--max-calls') });
    expect(run).toMatchObject({ isDone: false, finalScore: { interval: {} }, finalGain: { interval: {} } });
    expect(run.isProven).toBe(run.finalGain.interval.low > 0);
    expect(JSON.parse((await command(folder.path, 'show run --json')).stdout)).toEqual(run);
  });

  it('spends no more than the limit over all its starts, and ends when given more', async () => {
    using folder = tempFolder(worldFiles(quick));
    for (const calls of [100, 170, 171, 240]) {
      expect((await command(folder.path, `train --quiet --max-calls ${calls} --ignore-estimate`)).code).toBe(3);
      const { tokenSummary } = JSON.parse((await command(folder.path, 'show run --json')).stdout);
      const stages = Object.values(tokenSummary) as { replies: number; cacheHits: number }[];
      expect(stages.reduce((sum, { replies, cacheHits }) => sum + replies - cacheHits, 0)).toBeLessThanOrEqual(calls);
    }
    const { code, stdout } = await command(folder.path, 'train --quiet --json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ isDone: true, finalScore: { interval: {} } });
  });
});
