import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configShape, parseConfig, parseWith, type SkillOptConfigInput } from '../../../src/core/contracts/index.ts';
import { OPERATIONAL_KEYS } from '../../../src/train/setup/run-identity.ts';

const problem = (input: unknown) => {
  try {
    parseConfig(input as SkillOptConfigInput);
  } catch (error) {
    return error as Error & { code: string; hint: string };
  }
  throw new Error(`${JSON.stringify(input)} was accepted`);
};

describe('parseConfig', () => {
  it('fills in the defaults', () => {
    expect(parseConfig()).toEqual({
      preset: 'default',
      gate: 'paired',
      racing: 'exact',
      confidence: 0.95,
      leakCritic: true,
      fitValidation: true,
      leastLead: 0.3,
      doubtAfter: 3,
      maxLosses: 16,
      optimizerRatio: 1.4,
      lrControlMode: 'fixed',
      accumulation: 1,
      proposalsPerBatch: 3,
      regressionVeto: false,
      protectedItems: [],
      skillUpdateMode: 'patch',
      useStepBuffer: true,
      stepBufferScope: 'run',
      retryRejectedEdits: true,
      dropRepeats: true,
      tryRemovals: true,
      tryShorter: true,
      useSlowUpdate: false,
      slowUpdateSamples: 20,
      slowUpdateGate: true,
      longitudinalPairPolicy: 'mixed',
      useMetaSkill: false,
      useSkillAwareReflection: false,
      skillAwareAppendixSource: 'both',
      skillAwareConsolidateThreshold: 0,
      maxSkillTokens: 2000,
      salvage: false,
      salvageRollouts: 0,
      prune: false,
      useGate: true,
      trainSize: 0,
      selEnvNum: 0,
      testEnvNum: 0,
      rewriteMaxCompletionTokens: 64_000,
      maxTrajectoryTokens: 40_000,
      optimizerContextTokens: 128_000,
      numEpochs: 4,
      batchSize: 40,
      minibatchSize: 5,
      mergeBatchSize: 8,
      editBudget: 4,
      minEditBudget: 2,
      lrScheduler: 'constant',
      gateMetric: 'hard',
      gateMixedWeight: 0.5,
      failureOnly: false,
      workers: 8,
      seed: 42,
      selectionSplit: 'val',
      testSplit: 'test',
      evalTest: true,
      saveEveryStep: true,
      optimizerMaxCompletionTokens: 4096,
      maxRetries: 4,
      callTimeoutMs: 120_000,
      rolloutTimeoutMs: 600_000,
      prices: {},
      maxConsecutiveFailures: 5,
      maxErroredShare: 0.2,
      maxCacheMb: 1024,
      extras: {},
    });
  });

  it('goes by the paper where that is asked for', () => {
    const paper = parseConfig({ preset: 'paper' });
    const differing = Object.entries(parseConfig()).filter(
      ([key, value]) => paper[key as keyof typeof paper] !== value,
    );
    const keys = differing.map(([key]) => key).filter((key) => !['prices', 'extras', 'protectedItems'].includes(key));
    expect(Object.fromEntries(keys.map((key) => [key, paper[key as keyof typeof paper]]))).toEqual({
      preset: 'paper',
      minibatchSize: 8,
      lrScheduler: 'cosine',
      proposalsPerBatch: 1,
      stepBufferScope: 'epoch',
      dropRepeats: false,
      tryRemovals: false,
      tryShorter: false,
      useSlowUpdate: true,
      useMetaSkill: true,
      gate: 'strict',
      racing: 'off',
      leakCritic: false,
      fitValidation: false,
      doubtAfter: 0,
      maxLosses: 0,
      optimizerRatio: 0,
      maxSkillTokens: 0,
    });
    expect(paper.finalPasses).toBe(0);
  });

  it('keeps what is given, also where it is zero, false or negative', () => {
    const given = {
      seed: -1,
      maxRetries: 0,
      gateMixedWeight: 0,
      evalTest: false,
      extras: { domain: 'law' },
      verbose: true,
    };
    expect(parseConfig(given)).toMatchObject(given);
  });

  it.each([
    [{ batchsize: 3 }, 'unknown key batchsize'],
    [{ batchsize: 3, foo: 1 }, 'unknown keys batchsize, foo'],
    [{ mergeBatchSize: 1 }, 'mergeBatchSize: expected at least 2, got 1'],
    [{ minEditBudget: 5 }, 'minEditBudget: must not exceed editBudget (4), got 5'],
    [{ editBudget: 1 }, 'minEditBudget: must not exceed editBudget (1), got 2'],
    [{ editBudget: 0, minEditBudget: 0 }, 'editBudget: expected more than 0, got 0'],
    [{ lrScheduler: 'step' }, 'lrScheduler: expected one of constant, linear, cosine, autonomous, got "step"'],
    [{ gateMetric: 'f1' }, 'gateMetric: expected one of hard, soft, mixed, got "f1"'],
    [{ gateMixedWeight: 5 }, 'gateMixedWeight: expected at most 1, got 5'],
    [{ workers: '8' }, 'workers: expected a number, got "8", which is text: leave the quotes out'],
    [{ seed: 1.5 }, 'seed: expected a whole number, got 1.5'],
    [{ numEpochs: Number.POSITIVE_INFINITY }, 'numEpochs: expected a number, got Infinity'],
    [null, 'expected keys and values, got nothing'],
  ])('refuses %j in a line that says what was expected, what came, and where', (input, line) => {
    expect(problem(input).message.split('\n  ')).toContainEqual(expect.stringContaining(line));
  });

  it('tells all problems at once, with a code and a hint', () => {
    const { code, message, hint } = problem({ mergeBatchSize: 1, minEditBudget: 9, nope: 1 });
    expect(code).toBe('CONFIG_INVALID');
    expect(message.split('\n')).toHaveLength(4);
    expect(hint).toContain('--help');
  });
});

describe('the settings', () => {
  it('are each described', () => {
    for (const [key, schema] of Object.entries(configShape)) expect(schema.description, key).toMatch(/\.$/);
  });

  it('may differ on resume only where the result cannot', () => {
    expect([...OPERATIONAL_KEYS].filter((key) => !(key in configShape))).toEqual([]);
    for (const key of ['seed', 'batchSize', 'editBudget', 'gateMetric', 'extras', 'failureOnly', 'selectionSplit']) {
      expect(OPERATIONAL_KEYS.has(key), key).toBe(false);
    }
  });
});

describe('a key that was removed', () => {
  it('may stay at the value that asks for nothing', () => {
    expect(parseConfig({ finalists: 1 } as SkillOptConfigInput)).toEqual(parseConfig());
  });

  it('is refused with the reason otherwise', () => {
    const { code, message } = problem({ finalists: 3 });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(/finalists: was removed, since .* lost gain .*leave it out, got 3/);
  });
});

describe('parseWith', () => {
  it('says where in a nested value the problem is', () => {
    const schema = z.strictObject({ model: z.strictObject({ name: z.string() }) });
    expect(() => parseWith(schema, { model: { name: 7 } }, 'Not good.')).toThrow(
      'Not good.\n  model.name: expected text, got 7',
    );
    expect(() => parseWith(schema, { model: { name: '', key: 1 } }, 'Not good.')).toThrow('model: unknown key key');
  });
});
