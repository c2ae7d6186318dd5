import { join } from 'node:path';
import { type Command, CommanderError, Option } from 'commander';
import type { z } from 'zod';
import { configShape } from '../../core/contracts/index.ts';
import {
  findConfigFile,
  type LoadedProject,
  loadProject,
  MAIN_SETTINGS,
  projectKeys,
  resolvePath,
  SETTING_GROUPS,
} from '../../project/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { configOption, flagsFrom, jsonOption, quietOption, setOption } from './flags.ts';
import { flagOf } from './in-flags.ts';

const { extras: _extras, verbose: _verbose, ...runKeys } = configShape;
const { promptOverrides: _promptOverrides, sleep: _sleep, ...ownKeys } = projectKeys;
const projectShape: Readonly<Record<string, z.ZodType>> = { ...ownKeys, ...runKeys };

/** Of these keys those that fit on a command line. */
const shapeOf = (keys: readonly string[]) =>
  Object.fromEntries(keys.flatMap((key) => (projectShape[key] ? [[key, projectShape[key]] as const] : [])));

const placeholders = {
  name: 'name',
  env: 'name|path',
  tasks: 'path',
  skill: 'path',
  outRoot: 'dir',
  splitRatio: 'a:b:c',
  splitBy: 'column',
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
  return SETTING_GROUPS.flatMap(({ title, keys }) =>
    flagsFrom(shapeOf(keys), {
      group: `${title} (over the project file):`,
      placeholders,
      aliases: { outRoot: '--run' },
    }),
  );
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

const EVAL_KEYS = [
  ...['env', 'tasks', 'target', 'judge', 'splitRatio', 'splitSeed', 'splitBy'],
  ...['workers', 'maxRetries', 'callTimeoutMs'],
  ...['rolloutTimeoutMs', 'maxCalls', 'maxTotalTokens', 'maxCostUsd', 'maxMinutes'],
];

const evalFlags = (): Option[] =>
  flagsFrom(shapeOf(EVAL_KEYS), { group: 'project (over the project file):', placeholders });

/** The flags of every command that scores documents in a project. */
export function addEvalFlags(command: Command): Command {
  const options = [configOption(), quietOption(), jsonOption(), setOption(), ...evalFlags()];
  for (const option of options) command.addOption(option);
  return command.option('--force', 'score even with tasks from which no true number can be measured');
}

export const queueOption = () =>
  new Option('--queue <url>', 'workers make the attempts: redis://HOST:6379, or SKILLOPT_QUEUE (docs/workers.md)');

/** The variable keeps a password out of the list of processes. */
export const queueOf = ({ queue }: { readonly queue?: string | undefined }, { io }: Terminal): string | undefined =>
  queue ?? (io.env.SKILLOPT_QUEUE || undefined);

/** The settings of a project among all flags, and how each is typed. */
export function typedSettings(flags: Readonly<Record<string, unknown>>) {
  const settings = Object.entries(flags).filter(([key]) => key in projectShape);
  return { flags: Object.fromEntries(settings), flagOf };
}

export type ProjectFlags = Readonly<Record<string, unknown>> & {
  readonly config?: string | undefined;
  readonly set?: readonly string[];
  readonly quiet?: boolean;
};

/** The project that is meant, with what was typed over its file. Warnings are said. */
export async function typedProject({ config, set: overrides, ...flags }: ProjectFlags, { io, warn }: Terminal) {
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: io.cwd() });
  loaded.warnings.forEach(warn);
  return loaded;
}

/** The project that is named or that is here; tasks can be worked on without one. */
export async function projectOf({ config, ...flags }: ProjectFlags, { io }: Terminal) {
  const cwd = io.cwd();
  if (config === undefined && findConfigFile(cwd) === undefined) return undefined;
  return loadProject({ ...typedSettings(flags), config, cwd });
}

/** The file of tasks that is meant: the one that is typed, the project's, or the usual one. */
export function tasksPath(typed: string | undefined, loaded: LoadedProject | undefined, { io }: Terminal): string {
  if (typed !== undefined) return resolvePath(io.cwd(), typed);
  return loaded?.project.tasks ?? join(loaded?.directory ?? io.cwd(), 'tasks.jsonl');
}
