import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { flagsFrom } from '../../../src/cli/flags/flags.ts';
import { trainFlags, typedSettings } from '../../../src/cli/flags/project-flags.ts';
import { configShape } from '../../../src/core/contracts/index.ts';

const shape = {
  batchSize: z.number().int().positive().default(40).describe('Tasks per step.'),
  gateMetric: z.enum(['hard', 'soft']).default('hard').describe('What counts.'),
  evalTest: z.boolean().default(true).describe('Measure at the end.'),
  failureOnly: z.boolean().default(false).describe('Learn from failures.'),
  outRoot: z.string().optional().describe('Run directory.'),
};

function parse(argv: readonly string[]) {
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of flagsFrom(shape, {
    group: 'flags:',
    placeholders: { outRoot: 'dir' },
    aliases: { outRoot: '--run' },
  })) {
    command.addOption(option);
  }
  command.parse([...argv], { from: 'user' });
  return { values: command.opts(), help: command.helpInformation() };
}

describe('flags from a schema', () => {
  it('are typed by it', () => {
    const argv = ['--batch-size', '8', '--gate-metric', 'soft', '--failure-only', '--run', 'x'];
    expect(parse(argv).values).toEqual({ batchSize: 8, gateMetric: 'soft', failureOnly: true, outRoot: 'x' });
  });

  it('say nothing when they are not given, so that a file can speak', () => {
    expect(parse([]).values).toEqual({});
  });

  it('switch both ways', () => {
    expect(parse(['--no-eval-test', '--no-failure-only']).values).toEqual({ evalTest: false, failureOnly: false });
    expect(parse(['--eval-test']).values).toEqual({ evalTest: true });
  });

  it('show description, choices and default in the help', () => {
    expect(parse([]).help).toMatchInlineSnapshot(`
      "Usage: test [options]

      flags:
        --batch-size <n>         Tasks per step. (default: 40)
        --gate-metric <text>     What counts. (hard, soft; default: hard)
        --no-eval-test           Turns off: Measure at the end.
        --failure-only           Learn from failures.
        --run, --out-root <dir>  Run directory.

      Options:
        -h, --help               display help for command
      "
    `);
  });

  it.each([
    [['--batch-size', 'many'], 'Expected a number'],
    [['--batch-size', '1.5'], 'Expected a whole number'],
    [['--batch-size', '0'], 'Expected more than 0'],
    [['--batch-size', ''], 'Expected a number'],
    [['--gate-metric', 'mood'], 'Expected one of hard, soft'],
    [['--batchsize', '1'], 'Did you mean --batch-size'],
  ])('refuse %j', (argv, message) => {
    expect(() => parse(argv)).toThrow(CommanderError);
    expect(() => parse(argv)).toThrow(message);
  });
});

describe('the flags of train', () => {
  it('cover every key of the config but extras and verbose', () => {
    const names = trainFlags().map((option) => option.attributeName());
    const { extras: _extras, verbose: _verbose, ...keys } = configShape;
    expect(names).toEqual(expect.arrayContaining(Object.keys(keys)));
    expect(names).toEqual(
      expect.arrayContaining(['tasks', 'skill', 'env', 'target', 'optimizer', 'splitRatio', 'splitSeed', 'name']),
    );
  });

  const parseTrain = (...argv: string[]) => {
    const command = new Command('train').exitOverride().configureOutput({ writeErr: () => {} });
    for (const option of trainFlags()) command.addOption(option);
    return command.parse(argv, { from: 'user' }).opts();
  };

  it('take limits as people write them', () => {
    const limits = [
      '--max-cost-usd',
      '0.5',
      '--max-calls',
      '2000',
      '--max-total-tokens',
      '3e6',
      '--max-minutes',
      '7.5',
    ];
    const values = { maxCostUsd: 0.5, maxCalls: 2000, maxTotalTokens: 3_000_000, maxMinutes: 7.5 };
    expect(parseTrain(...limits)).toEqual(values);
    expect(typedSettings(parseTrain(...limits)).flags).toEqual(values);
  });

  it.each([
    ['--max-calls', '0'],
    ['--max-calls', '2.5'],
    ['--max-calls', 'Infinity'],
    ['--max-total-tokens', '3e-6'],
    ['--max-cost-usd', '-1'],
    ['--max-cost-usd', '$5'],
    ['--max-minutes', 'soon'],
  ])('refuse %s %s', (...argv) => {
    expect(() => parseTrain(...argv)).toThrow(CommanderError);
  });

  it('are told apart from flags of the command itself', () => {
    expect(typedSettings({ fresh: true, json: true, config: 'x', seed: 1, tasks: 't' }).flags).toEqual({
      seed: 1,
      tasks: 't',
    });
  });
});
