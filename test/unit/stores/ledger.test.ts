import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChatModel, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { noStageUsage } from '../../../src/core/run/index.ts';
import { openLedger, readLedger, runDirectory } from '../../../src/stores/index.ts';
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

  it('is what the journal knows where the ledger was lost', async () => {
    await using folder = await temporaryDirectory();
    const { sent } = await train(folder.path, { numEpochs: 1 });
    await rm(join(folder.path, 'spent.json'));
    const longer = await train(folder.path, { numEpochs: 1, maxCalls: sent });
    expect(longer).toEqual({ ending: 'done', sent: 0 });
  });

  it('is counted without a limit too, for a limit that is set later', async () => {
    await using folder = await temporaryDirectory();
    const { sent } = await train(folder.path, { numEpochs: 1 });
    expect(await linesOf(folder.path)).toMatchObject([{ calls: sent }]);
  });
});

const linesOf = async (path: string) =>
  (await readFile(join(path, 'spent.json'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** A process that is gone without having closed what it had open. */
const killed = async (path: string) => {
  const name = join(path, 'spent.json');
  return { ledger: await openLedger(name), name };
};

const bill = { input: 40, cached: 0, output: 10, reasoning: 0, replies: 1, costUsd: 0.01 };
const most = { calls: 1, totalTokens: 900, costUsd: 0.5 };

describe('a run that was killed with calls in flight', () => {
  const atOnceAfter = async (kills: number, config: SkillOptConfigInput) => {
    await using folder = await temporaryDirectory();
    for (let kill = 0; kill < kills; kill++) {
      const { ledger } = await killed(folder.path);
      ledger.enter({ stage: 'rollout', inFlight: most });
    }
    let [now, atOnce] = [0, 0];
    const warnings: string[] = [];
    const target = levelsTarget();
    const watched: ChatModel = {
      ...target,
      async complete(request) {
        now += 1;
        atOnce = Math.max(atOnce, now);
        await new Promise((done) => setTimeout(done, 2));
        return target.complete(request).finally(() => {
          now -= 1;
        });
      },
    };
    const observers = [{ onWarning: (warning: string) => void warnings.push(warning) }];
    const models = { target: watched, optimizer: levelsOptimizer() };
    const options = { numEpochs: 1, batchSize: 8, finalPasses: 0, workers: 6, outRoot: folder.path, ...config };
    await new SkillOptTrainer({ env: levelsEnv(), ...models, observers, config: options }).train();
    return { atOnce, warnings: warnings.filter((warning) => /Killed/.test(warning)) };
  };

  it.each([
    [0, 6, []],
    [1, 3, [expect.stringMatching(/^Killed once with calls in flight, .*: 3 calls at once now, not 6\.$/)]],
    [7, 1, [expect.stringMatching(/^Killed 7 times .*: 1 call at once now, not 6\.$/)]],
  ])('%i times sends %i at once, and says why', async (kills, atOnce, warnings) => {
    expect(await atOnceAfter(kills, { maxCalls: 500 })).toEqual({ atOnce, warnings });
  });

  it('sends as many as before where no limit can be used up', async () => {
    expect(await atOnceAfter(3, {})).toEqual({ atOnce: 6, warnings: [] });
  });
});

describe('the ledger of a run directory', () => {
  it('tells after a kill what was answered, and what may have been: each call at its own most', async () => {
    await using folder = await temporaryDirectory();
    const { ledger, name } = await killed(folder.path);
    const calls = [1, 2, 3].map(() => ledger.enter({ stage: 'rollout', inFlight: most }));
    calls[0]!.end({ answered: bill });
    expect(await readLedger(name)).toMatchObject({
      counted: { calls: 3, totalTokens: 1_850, costUsd: 1.01 },
      usage: { rollout: { ...bill, unanswered: 2, unansweredTokens: 1_800, unansweredUsd: 1 } },
    });
    expect(ledger.spent()).toMatchObject({ counted: { calls: 1, totalTokens: 50, costUsd: 0.01 } });
  });

  it('adds up what kills leave behind, and numbers of calls that begin again are other calls', async () => {
    await using folder = await temporaryDirectory();
    for (let kill = 0; kill < 3; kill++) {
      const { ledger } = await killed(folder.path);
      ledger.enter({ stage: 'rollout', inFlight: most }).end({ answered: bill });
      ledger.enter({ stage: 'judge', inFlight: most });
    }
    const { counted, usage } = await readLedger(join(folder.path, 'spent.json'));
    expect(counted).toEqual({ calls: 6, totalTokens: 3 * 950, costUsd: 1.53 });
    expect(usage).toMatchObject({ rollout: { replies: 3 }, judge: { replies: 0, unanswered: 3 } });
  });

  it('counts a failed call at the most that it may have cost, and nothing of it as answered', async () => {
    await using folder = await temporaryDirectory();
    const { ledger, name } = await killed(folder.path);
    ledger.enter({ stage: 'rollout', inFlight: most }).end({ failed: most });
    expect(await readLedger(name)).toEqual({ counted: most, inFlight: 0, usage: {}, kills: 0 });
  });

  it('leaves one line when it is closed, and no draft', async () => {
    await using folder = await temporaryDirectory();
    const { ledger } = await killed(folder.path);
    const calls = [1, 2].map(() => ledger.enter({ stage: 'rollout', inFlight: most }));
    calls[0]!.end({ answered: bill });
    ledger.close();
    expect(await linesOf(folder.path)).toMatchObject([{ calls: 2, usage: { rollout: { replies: 1, unanswered: 1 } } }]);
    expect(await readdir(folder.path)).toEqual(['spent.json']);
  });

  it('knows as much as the journal after a crash of the machine, and tells what it alone knows once', async () => {
    await using folder = await temporaryDirectory();
    const { ledger, name } = await killed(folder.path);
    ledger.enter({ stage: 'rollout', inFlight: most }).end({ answered: bill });
    const journal = { judge: { ...noStageUsage, ...bill, replies: 3, cacheHits: 1 } };
    expect(ledger.reconcile(journal)).toMatchObject({ rollout: bill });
    expect(Object.keys(ledger.reconcile({ ...journal, rollout: { ...noStageUsage, ...bill } }))).toEqual([]);
    ledger.close();
    expect(await readLedger(name)).toMatchObject({ counted: { calls: 3 }, usage: { judge: { replies: 2 } } });
  });

  it('of an earlier version counts as it did', async () => {
    await using folder = await temporaryDirectory();
    const old = { calls: 32, totalTokens: 3200, costUsd: 0.5, isMost: true, limit: 'maxCalls', advised: 90 };
    await writeFile(join(folder.path, 'spent.json'), `${JSON.stringify(old).padEnd(191)}\n`);
    await using run = await runDirectory(folder.path).open();
    const counted = { calls: 32, totalTokens: 3200, costUsd: 0.5 };
    expect(run.ledger!.spent()).toEqual({ counted, usage: {}, kills: 0, limit: 'maxCalls', advised: 90 });
    run.ledger!.enter({ stage: 'rollout', inFlight: most }).end({ answered: bill });
    expect(run.ledger!.spent()).toMatchObject({ counted: { calls: 33, totalTokens: 3250 } });
    expect(run.ledger!.spent().limit).toBeUndefined();
  });

  it('cannot be written once it is closed, when the run may belong to another', async () => {
    await using folder = await temporaryDirectory();
    const run = await runDirectory(folder.path).open();
    await run[Symbol.asyncDispose]();
    expect(() => run.ledger!.enter({ stage: 'rollout', inFlight: most })).toThrow('closed');
  });

  it('begins where a process was killed before it had written anything', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'spent.json'), '');
    await using run = await runDirectory(folder.path).open();
    expect(run.ledger!.spent().counted).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
  });

  it.each(['{"id":2,"stage":"rol', '\0\0\0\0'])(
    'does without a last line that a crash tore: %j, and says so',
    async (torn) => {
      await using folder = await temporaryDirectory();
      const { ledger, name } = await killed(folder.path);
      ledger.enter({ stage: 'rollout', inFlight: most }).end({ answered: bill });
      await appendFile(name, torn);
      const warnings: string[] = [];
      const again = await openLedger(name, (warning) => warnings.push(warning));
      expect(warnings).toEqual([expect.stringContaining('the end of')]);
      expect(again.spent().counted.calls).toBe(1);
      again.enter({ stage: 'rollout', inFlight: most }).end({ answered: bill });
      expect((await readLedger(name)).counted.calls).toBe(2);
    },
  );

  it('is refused with damage in its midst', async () => {
    await using folder = await temporaryDirectory();
    const { ledger, name } = await killed(folder.path);
    const calls = [1, 2].map(() => ledger.enter({ stage: 'rollout', inFlight: most }));
    await appendFile(name, '{"id":3,"sta\n');
    calls[0]!.end({ answered: bill });
    await expect(readLedger(name)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
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
