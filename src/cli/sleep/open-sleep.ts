import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { type Command, Option } from 'commander';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import {
  type Ignored,
  type LoadedSettings,
  loadIgnore,
  loadSleepSettings,
  openSessionIndex,
  type Scope,
  type SessionIndex,
  type SleepSettings,
  sleepShape,
  withHomes,
} from '../../sleep/index.ts';
import { openStateFolder, stateFolderOf } from '../../stores/index.ts';
import { chooseSources, type Place, redactor, type TranscriptSource } from '../../transcripts/index.ts';
import { flagsFrom } from '../flags/flags.ts';
import { kebabCase } from '../flags/in-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

const SHOWN = ['source', 'lookbackHours', 'maxSessionsPerNight', 'maxTasksPerNight'];
const { projects: _projects, homes: _homes, promptOverrides: _prompts, retention: _retention, ...flagged } = sleepShape;
const placeholders = {
  source: 'names',
  targetSkillPath: 'path',
  promptsFile: 'path',
  target: 'model',
  optimizer: 'model',
  judge: 'model',
};
const aliases = { maxSessionsPerNight: '--max-sessions', maxTasksPerNight: '--max-tasks' };

/** Settings by their own names, and which sessions are meant. */
export type SleepFlags = Readonly<Record<string, unknown>> & {
  readonly project?: string;
  readonly allProjects?: boolean;
  readonly since?: string;
  readonly config?: string;
};

/** What every command of sleep works with. */
export type OpenSleep = Disposable & {
  readonly place: Place;
  readonly folder: string;
  /** The folder whose sessions are meant, whatever the scope is. */
  readonly project: string;
  readonly scope: Scope;
  readonly settings: SleepSettings;
  /** Where settings were said; one that is missing has its default. */
  readonly origins: LoadedSettings['origins'];
  readonly sources: readonly TranscriptSource[];
  readonly index: SessionIndex;
  readonly isIgnored: Ignored;
  readonly redact: (text: string) => string;
};

/** Flags that say which sessions are meant, and one for each setting; `shown` of them are in the help. */
export function addSleepFlags(command: Command, shown: readonly string[] = []): Command {
  command
    .addOption(
      new Option('--project <path>', 'sessions of this folder and below (default: where you are)').conflicts(
        'allProjects',
      ),
    )
    .option('--all-projects', 'sessions of every project')
    .option('--since <moment>', 'sessions that ended then or later: 2026-01-31 (UTC), or with a time and its zone')
    .option('--config <path>', 'project file with a section sleep:')
    .option('--json', 'one JSON object on stdout');
  for (const option of flagsFrom(flagged, { group: 'settings (over the project file):', placeholders, aliases })) {
    command.addOption([...SHOWN, ...shown].includes(option.attributeName()) ? option : option.hideHelp());
  }
  return command;
}

/** Where transcripts and the state are looked for. */
export const placeOf = ({ io }: Terminal): Place => ({
  env: io.env,
  home: io.env.HOME || homedir(),
  platform: process.platform,
});

/** While it lasts, what this process writes is for this user alone: a run has many writers, and sessions are in its files. */
export function privateFiles(): Disposable {
  const before = process.umask(0o077);
  return { [Symbol.dispose]: () => void process.umask(before) };
}

export async function openSleep(flags: SleepFlags, terminal: Terminal): Promise<OpenSleep> {
  const here = placeOf(terminal);
  const folder = await openStateFolder(stateFolderOf(here));
  const project = await projectOf(flags, terminal);
  const loaded = await loadSleepSettings({
    place: here,
    stateFolder: folder,
    project,
    config: flags.config === undefined ? undefined : resolvePath(terminal.io.cwd(), flags.config),
    flags: settingsIn(flags),
  });
  if (loaded.imported && loaded.imported.notTaken.length > 0) {
    terminal.note(
      `of ${loaded.imported.file} this has no effect here: ${loaded.imported.notTaken.map(({ key, why }) => `${key} (${why})`).join('; ')}`,
    );
  }
  const { settings, origins } = loaded;
  const place = withHomes(here, settings.homes);
  const sources = await chooseSources([settings.source].flat(), place);
  const scope = settings.projects === 'invoked' ? [project] : settings.projects;
  const index = await openSessionIndex(folder, { onWarning: terminal.warn });
  const isIgnored = await loadIgnore({ place, stateFolder: folder, onWarning: terminal.warn });
  return {
    ...{ place, folder, project, scope, settings, origins, sources, index, isIgnored },
    redact: redactor(place),
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

/** One that is not there may have been deleted, and its sessions are still of it. */
async function projectOf({ project }: SleepFlags, { io, warn }: Terminal): Promise<string> {
  if (project === undefined) return resolvePath(io.cwd(), '.');
  if (project.trim() === '')
    throw new SkillError('USAGE', 'expected a folder behind --project, got nothing', {
      hint: 'Leave it out for the folder where you are.',
    });
  const path = resolvePath(io.cwd(), project);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory())
    warn(`${path} is ${found === undefined ? 'not there' : 'no folder'}; only sessions that name it are found`);
  return path;
}

/** Flags in the words of the settings. */
function settingsIn(flags: SleepFlags): Readonly<Record<string, unknown>> {
  const own = Object.fromEntries(Object.keys(flagged).map((key) => [key, flags[key]]));
  const source = typeof flags.source === 'string' ? flags.source.split(',').map((name) => name.trim()) : undefined;
  return { ...own, ...modelBlocks(flags), source, projects: flags.allProjects ? 'all' : undefined };
}

/** A model may be given as JSON, with the options that a file would give it. */
function modelBlocks(flags: SleepFlags): Readonly<Record<string, unknown>> {
  const blocks = ['target', 'optimizer', 'judge'].filter((role) => String(flags[role]).startsWith('{'));
  return Object.fromEntries(blocks.map((role) => [role, readBlock(role, String(flags[role]))]));
}

function readBlock(role: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SkillError('USAGE', `expected JSON behind --${role}, got ${text}`, {
      hint: 'Such as {"provider":"claude-cli","path":"/opt/claude"}, or a model in one word: openai:MODEL.',
    });
  }
}

/** Flags that say which sessions are meant, and by which settings: they belong to every command that is to show the same. */
const LASTING = new Set(['project', 'allProjects', 'since', 'config', ...Object.keys(flagged)]);

/** A command of sleep to be copied, with the flags that were given: it shows the same sessions. */
export function retyped(command: string, flags: SleepFlags): string {
  return [`skillopt sleep ${command}`, ...flagWords(flags).map(shellWord)].join(' ');
}

/** The flags that were given, as a program gets them. */
export function flagWords(
  flags: Readonly<Record<string, unknown>>,
  isMeant = (name: string) => LASTING.has(name),
): string[] {
  const given = Object.entries(flags).filter(([name, value]) => isMeant(name) && value !== undefined);
  return given.flatMap(([name, value]) => wordsOf(name, value));
}

function wordsOf(name: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${kebabCase(name)}`];
  const text = typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value);
  return [`--${kebabCase(name)}`, text];
}
