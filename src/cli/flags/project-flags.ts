import { type Command, CommanderError, type Option } from 'commander';
import type { z } from 'zod';
import { configShape } from '../../core/contracts/index.ts';
import { loadProject, MAIN_SETTINGS, projectKeys, SETTING_GROUPS } from '../../project/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { flagsFrom } from './flags.ts';
import { flagOf } from './in-flags.ts';

const { extras: _extras, verbose: _verbose, ...runKeys } = configShape;
const { promptOverrides: _promptOverrides, sleep: _sleep, ...ownKeys } = projectKeys;
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

/** A flag for every key of a project that fits on a command line, by group. Help hides all but the main ones. */
export function trainFlags(): Option[] {
  const shape: Readonly<Record<string, z.ZodType>> = { ...ownKeys, ...runKeys };
  return SETTING_GROUPS.flatMap(({ title, keys }) => {
    const own = Object.fromEntries(keys.flatMap((key) => (shape[key] ? [[key, shape[key]]] : [])));
    return flagsFrom(own, { group: `${title} (over the project file):`, placeholders, aliases: { outRoot: '--run' } });
  });
}

/** Adds those flags to a command, and `--help-all`, which shows every one of them. */
export function addTrainFlags(command: Command): void {
  const options = trainFlags();
  const shown = options.filter((option) => !option.hidden);
  const rare = shown.filter((option) => !MAIN_SETTINGS.has(option.attributeName()));
  for (const option of rare) option.hideHelp();
  for (const option of options) command.addOption(option);
  command.option('--help-all', `display all ${shown.length} settings`).on('option:help-all', () => {
    for (const option of rare) option.hideHelp(false);
    command.outputHelp();
    throw new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)');
  });
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

type ProjectFlags = Readonly<Record<string, unknown>> & {
  readonly config?: string | undefined;
  readonly set?: readonly string[];
};

/** The project that is meant, with what was typed over its file. Warnings are said. */
export async function typedProject({ config, set: overrides, ...flags }: ProjectFlags, { io, warn }: Terminal) {
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: io.cwd() });
  loaded.warnings.forEach(warn);
  return loaded;
}
