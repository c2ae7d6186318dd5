import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { runDirectory } from '../../../src/stores/index.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';
import { temporaryDirectory } from './run-directory.fixture.ts';

const train = (outRoot: string, config: SkillOptConfigInput) => {
  const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
  const trainer = new SkillOptTrainer({
    env: levelsEnv(),
    ...models,
    // Nothing is kept back for fresh passes: the limit is what is sent.
    config: { numEpochs: 2, batchSize: 4, finalPasses: 0, outRoot, ...config },
  });
  const sent = () => models.target.requests.length + models.optimizer.requests.length;
  return trainer.train().then(
    () => ({ ending: 'done', sent: sent() }),
    (error) => ({ ending: error.code, sent: sent() }),
  );
};

describe('what a run has spent', () => {
  it('is counted over all its starts, also in a step that did not end', async () => {
    await using folder = await temporaryDirectory();
    expect(await train(folder.path, { maxCalls: 30 })).toEqual({ ending: 'BUDGET_EXHAUSTED', sent: 30 });
    expect(await train(folder.path, { maxCalls: 30 })).toEqual({ ending: 'BUDGET_EXHAUSTED', sent: 0 });
    expect(await train(folder.path, { maxCalls: 37 })).toEqual({ ending: 'BUDGET_EXHAUSTED', sent: 7 });
    expect(JSON.parse(await readFile(join(folder.path, 'spent.json'), 'utf8'))).toMatchObject({ calls: 37 });
  });

  it('is what the journal knows when it had no limit before', async () => {
    await using folder = await temporaryDirectory();
    const { sent } = await train(folder.path, { numEpochs: 1 });
    await expect(readFile(join(folder.path, 'spent.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    const longer = await train(folder.path, { numEpochs: 1, maxCalls: sent });
    expect(longer).toEqual({ ending: 'done', sent: 0 });
  });

  it('is not written down for a limit of minutes', async () => {
    await using folder = await temporaryDirectory();
    await train(folder.path, { numEpochs: 1, maxMinutes: 60 });
    await expect(readFile(join(folder.path, 'spent.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is exact after a clean end, whatever was claimed', async () => {
    await using folder = await temporaryDirectory();
    const { sent } = await train(folder.path, { maxCalls: 10_000 });
    expect(JSON.parse(await readFile(join(folder.path, 'spent.json'), 'utf8'))).toMatchObject({ calls: sent });
  });
});

describe('the ledger of a run directory', () => {
  const most = { calls: 32, totalTokens: 3200, costUsd: 0.5 };
  const exact = { calls: 3, totalTokens: 250, costUsd: 0.01 };

  it('holds a claim at once, and what was spent in truth when it is closed', async () => {
    await using folder = await temporaryDirectory();
    const run = await runDirectory(folder.path).open();
    expect(run.ledger!.before).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
    run.ledger!.claim(most, () => exact);
    expect(JSON.parse(await readFile(join(folder.path, 'spent.json'), 'utf8'))).toEqual({ ...most, isMost: true });
    await run[Symbol.asyncDispose]();
    await using again = await runDirectory(folder.path).open();
    expect(again.ledger!.before).toEqual(exact);
  });

  it('cannot be written once it is closed, when the run may belong to another', async () => {
    await using folder = await temporaryDirectory();
    const run = await runDirectory(folder.path).open();
    await run[Symbol.asyncDispose]();
    expect(() => run.ledger!.claim(most, () => exact)).toThrow('closed');
  });

  it('begins again where a process was killed before it had claimed anything', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'spent.json'), '');
    await using run = await runDirectory(folder.path).open();
    expect(run.ledger!.before).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
  });

  it('leaves nothing of a longer claim behind a shorter one', async () => {
    await using folder = await temporaryDirectory();
    await using run = await runDirectory(folder.path).open();
    for (const calls of [123_456_789_012, 7]) run.ledger!.claim({ ...most, calls }, () => exact);
    expect(JSON.parse(await readFile(join(folder.path, 'spent.json'), 'utf8'))).toEqual({
      ...most,
      calls: 7,
      isMost: true,
    });
  });

  it.each(['\0', 'null', '{"calls":1}', '{"calls":-1,"totalTokens":0,"costUsd":0}'])(
    'is refused as %j',
    async (text) => {
      await using folder = await temporaryDirectory();
      await writeFile(join(folder.path, 'spent.json'), text);
      await expect(runDirectory(folder.path).open()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    },
  );
});
