import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryRun, type RunObserver, SkillOptTrainer } from 'skillopt';
import { SimpleQAEnv } from 'skillopt/envs';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { openProgress } from '../../../src/cli/progress/progress.ts';
import { openTerminal } from '../../../src/cli/terminal/terminal.ts';
import { duration } from '../../../src/report/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The first two lines of the live block after each notice of a run. */
async function framesOf(seed: number) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const io = captureIo({ isTTY: true, columns: 100, env: { NO_COLOR: '1' } });
  const progress = openProgress(openTerminal(io));
  const { items, initialSkill } = createWorld({ seed, train: 24, val: 16, test: 12 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  const redrawn: RunObserver = {
    onOpen: (state) => progress.onOpen(state),
    onEvent(event, after) {
      progress.onEvent?.(event, after);
      vi.advanceTimersByTime(200);
    },
    onProgress(next) {
      progress.onProgress?.(next);
      vi.advanceTimersByTime(200);
    },
  };
  await new SkillOptTrainer({
    config: { numEpochs: 2, batchSize: 8, seed },
    env: new SimpleQAEnv({ trainItems, valItems, testItems, initialSkill }),
    target: simulatedTarget({ seed, noise: 0.05 }),
    optimizer: simulatedOptimizer({ seed, precision: 0.6, harmfulRate: 0.3 }),
    store: memoryRun(),
    observers: [redrawn],
  }).train();
  progress.close();
  return [...io.err().matchAll(/(\d+) % {2}(\d+) rollouts?\n(.*)/g)].map(([, share, made, stage]) => ({
    share: Number(share),
    made: Number(made),
    stage: stage!,
  }));
}

it.each([3, 11])('the progress of a run never goes back, and names the second pass (seed %i)', async (seed) => {
  const frames = await framesOf(seed);
  for (const [at, { share, made }] of frames.entries()) {
    const before = frames[at - 1] ?? { share: 0, made: 0 };
    const shown = JSON.stringify(frames.slice(Math.max(0, at - 1), at + 1));
    expect([share >= before.share, made >= before.made], shown).toEqual([true, true]);
  }
  const stages = frames.map(({ stage }) => stage);
  expect(stages).toContain('baseline 16/32');
  expect(stages).toContain('baseline 17/32 (pass 2)');
  expect(frames.at(-1)!.share).toBe(100);
});

it('the time of a run is that of all its sittings', async () => {
  using folder = tempFolder(worldFiles({ numEpochs: 1, batchSize: 12, target: 'simulated', optimizer: 'simulated' }));
  const train = async (calls: number) => {
    const io = captureIo({ cwd: folder.path });
    return { code: await runCli(['train', '--max-calls', String(calls), '--ignore-estimate'], io), out: io.out() };
  };
  expect((await train(90)).code).toBe(3);
  const { code, out } = await train(5_000);
  const lines = readFileSync(join(folder.path, 'runs/run/events.jsonl'), 'utf8').trim().split('\n');
  const ms = lines.reduce((sum, line) => sum + JSON.parse(line).ms, 0);
  expect([code, /^in all, (.*?) {2}/m.exec(out)?.[1]]).toEqual([0, duration(ms)]);
});
