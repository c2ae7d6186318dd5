import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const files = () => worldFiles({ numEpochs: 1, batchSize: 12, target: 'simulated', optimizer: 'simulated' });

const command = async (cwd: string, line: string, columns?: number) => {
  const io = captureIo({ cwd, ...(columns === undefined ? {} : { columns }) });
  expect(await runCli(line.split(' '), io), io.err()).toBe(0);
  return io.out();
};

describe('estimate', () => {
  it('gives a likely value within its range, by what is usual before there is a run', async () => {
    using folder = tempFolder(files());
    const { likely, totals, learnedFrom } = JSON.parse(await command(folder.path, 'estimate --json'));
    expect(learnedFrom).toBe(0);
    for (const [value, range] of [
      [likely.calls, totals.calls],
      [likely.tokens, totals.tokens],
    ]) {
      expect(value).toBeGreaterThanOrEqual(range.low);
      expect(value).toBeLessThanOrEqual(range.high);
    }
    const lines = (await command(folder.path, 'estimate', 80)).split('\n');
    expect(lines[0]).toMatch(/^estimate: about [\d,]+ calls \([\d,]+–[\d,]+\), /);
    expect(lines.join(' ')).toContain('No earlier run of this project is known');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('refuses a limit that pays for no step, as training does, and names the least that pays for one', async () => {
    using folder = tempFolder(files());
    const refused = async (line: string) => {
      const io = captureIo({ cwd: folder.path });
      const code = await runCli(line.split(' '), io);
      return code === 0 ? undefined : Number(/it takes at least (\d+)/.exec(io.err())?.[1]);
    };
    const least = await refused('estimate --max-rollouts 5');
    expect(least).toBeGreaterThan(5);
    expect(await refused(`train --max-rollouts ${least! - 1}`)).toBe(least);
    expect(await refused(`estimate --max-rollouts ${least}`)).toBeUndefined();
    const { stepsDone } = JSON.parse(await command(folder.path, `train --quiet --json --max-rollouts ${least}`));
    expect(stepsDone).toBeGreaterThan(0);
  });

  it('says nothing else after a run under a limit: that is always reached', async () => {
    using folder = tempFolder(files());
    const calls = async () => JSON.parse(await command(folder.path, 'estimate --json --name next')).likely.calls;
    const before = await calls();
    await command(folder.path, 'train --quiet --max-rollouts 60');
    expect(await calls()).toBeCloseTo(before, -1);
  });

  it('learns from the earlier runs of the project', async () => {
    using folder = tempFolder(files());
    const calls = async (more = '') => JSON.parse(await command(folder.path, `estimate --json${more}`));
    const before = await calls(' --name next');
    const { verdict } = JSON.parse(await command(folder.path, 'train --quiet --json'));
    const after = await calls(' --name next');
    expect(after.learnedFrom).toBe(1);
    for (const { stage, calls: range, likely, inputTokens, outputTokens } of after.stages) {
      const pairs = [
        [likely.calls, range],
        [likely.inputTokens, inputTokens],
        [likely.outputTokens, outputTokens],
      ];
      expect([stage, ...pairs.map(([value, { low, high }]) => low <= value && value <= high)]).toEqual([
        ...[stage, true, true, true],
      ]);
    }
    const miss = (likely: number) => Math.abs(likely - verdict.calls);
    expect(miss(after.likely.calls)).toBeLessThan(miss(before.likely.calls));
    expect(await command(folder.path, 'estimate --name next')).toContain('learned from 1 earlier run of this project.');
  });

  it('takes the length of replies from runs with the same models alone: others may write ten times as much', async () => {
    using folder = tempFolder(files());
    const models = '--name next --target openai:gpt-4o-mini --optimizer openai:gpt-4o';
    const perCall = async () =>
      JSON.parse(await command(folder.path, `estimate --json ${models}`)).stages.map(
        ({ calls, outputTokens }: Record<string, { high: number }>) => outputTokens!.high / calls!.high,
      );
    const before = await perCall();
    await command(folder.path, 'train --quiet --json');
    expect(await perCall()).toEqual(before);
    expect(await command(folder.path, `estimate ${models}`)).toMatch(/Other\s+models\s+replied\s+there/);
  });

  it('says before an eval what it likely asks for, and the most, and nothing when it is quiet', async () => {
    using folder = tempFolder(files());
    const evaluate = async (...more: string[]) => {
      const io = captureIo({ cwd: folder.path });
      expect(await runCli(['eval', '--skill', 'SKILL.md', '--split', 'val', ...more], io), io.err()).toBe(0);
      return io.err();
    };
    expect(await evaluate()).toMatch(/^estimate: about 16 calls \(0–16\), [\d,.k]+ tokens \(0–[\d,.k]+\), \$0\.00/m);
    expect(await evaluate('--no-cache')).toMatch(/^estimate: about 16 calls \(16\), /m);
    expect(await evaluate('--quiet')).not.toContain('estimate:');
  });

  it('refuses a provider that does not exist, as train does, with its place', async () => {
    using folder = tempFolder(worldFiles({ target: 'opnai:gpt', optimizer: 'simulated' }));
    const [estimate, train] = [captureIo({ cwd: folder.path }), captureIo({ cwd: folder.path })];
    expect([await runCli(['estimate'], estimate), await runCli(['train'], train)]).toEqual([2, 2]);
    expect(estimate.err()).toContain('target: unknown provider "opnai" — did you mean openai?');
    expect([estimate.out(), estimate.err()]).toEqual(['', train.err()]);
  });

  it('counts the calls of a project that names no models, and says that it names none', async () => {
    using folder = tempFolder(worldFiles({ numEpochs: 1, batchSize: 12 }));
    const io = captureIo({ cwd: folder.path });
    expect(await runCli(['estimate'], io)).toBe(0);
    expect(io.out()).toMatch(/^estimate: about [\d,]+ calls/);
    expect(io.err()).toMatch(
      /^note: no target and no optimizer model is named.*--target PROVIDER:MODEL --optimizer.*\n$/,
    );
  });
});
