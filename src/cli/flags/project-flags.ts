import type { Option } from 'commander';
import { configShape } from '../../core/config.ts';
import { projectKeys } from '../../project/project.ts';
import { flagOf, flagsFrom } from './flags.ts';

const { extras: _extras, verbose: _verbose, ...runKeys } = configShape;
const { promptOverrides: _promptOverrides, ...ownKeys } = projectKeys;
const { workers, maxRetries, callTimeoutMs, rolloutTimeoutMs } = configShape;
const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = configShape;
const { env, tasks, splitRatio, splitSeed, target, judge } = projectKeys;

const placeholders = {
  name: 'name',
  env: 'qa|path',
  tasks: 'path',
  skill: 'path',
  outRoot: 'dir',
  splitRatio: 'a:b:c',
  target: 'model',
  optimizer: 'model',
  judge: 'model',
  lrScheduler: 'mode',
  gateMetric: 'metric',
  selectionSplit: 'split',
  testSplit: 'split',
};

/** A flag for every key of a project that fits on a command line. */
export function trainFlags(): Option[] {
  return [
    ...flagsFrom(ownKeys, { group: 'project (over the project file):', placeholders }),
    ...flagsFrom(runKeys, { group: 'training (over the project file):', placeholders, aliases: { outRoot: '--run' } }),
  ];
}

/** Those that matter when a document is scored. */
export function evalFlags(): Option[] {
  const shape = {
    env,
    tasks,
    target,
    judge,
    splitRatio,
    splitSeed,
    workers,
    maxRetries,
    callTimeoutMs,
    rolloutTimeoutMs,
    maxCalls,
    maxTotalTokens,
    maxCostUsd,
    maxMinutes,
  };
  return flagsFrom(shape, { group: 'project (over the project file):', placeholders });
}

const projectNames = new Set(Object.keys({ ...runKeys, ...ownKeys }));

/** What the command line says of a project: of all flags those that are keys of one, and how each key is typed. */
export function typedSettings(flags: Readonly<Record<string, unknown>>) {
  const settings = Object.entries(flags).filter(([key]) => projectNames.has(key));
  return { flags: Object.fromEntries(settings), flagOf };
}
