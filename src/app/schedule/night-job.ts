import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type AgentCliName,
  agentClis,
  agentPrograms,
  detectAgents,
  homeIn,
  isForeign,
  projectFolders,
} from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { agentTargetOf, type Environment, type ModelSpec, pinAgents } from '../../project/index.ts';
import {
  CALLER,
  chooseModels,
  HOME_VARIABLES,
  jobHash,
  type OpenSleep,
  type SleepModels,
  sleepShape,
} from '../../sleep/index.ts';
import { SCHEDULES_FOLDER } from '../../stores/index.ts';
import { blockOf, type NightLimits } from '../night/plan-night.ts';

export type ClockTime = { readonly hour: number; readonly minute: number };

/** A program that a job calls, as it was when the job was made. */
type PinnedProgram = { readonly name: string; readonly path: string; readonly version: string };

/** One nightly run of one project. */
export type NightJob = {
  readonly project: string;
  readonly hash: string;
  readonly at: ClockTime;
  /** Holds its script and its log, in the private state folder. */
  readonly folder: string;
  /** The program and its arguments. Every path is absolute and real. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly pinned: readonly PinnedProgram[];
};

export type ScheduleKind = 'systemd' | 'cron' | 'launchd' | 'windows';

/** A file that a job needs, or, for cron, lines of a crontab. */
export type JobFile = { readonly path: string; readonly text: string };

const CLI = fileURLToPath(new URL('../../../bin/skillopt.mjs', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);

type JobOptions = { readonly limits: NightLimits; readonly at: ClockTime; readonly isUnsure: boolean };

/** The job of a project: its night as the caller described it. Everything is pinned that could mean something else at night. */
export async function jobOf(sleep: OpenSleep, { limits, at, isUnsure }: JobOptions): Promise<NightJob> {
  const { project, command, pinned } = await pinNight(sleep, limits);
  const due = isUnsure ? ['--if-due', clockText(at)] : [];
  return requireWritable({
    ...{ project, at, pinned, hash: jobHash(project), folder: schedulesFolder(await realpath(sleep.folder)) },
    command: [...command, ...due],
    env: jobEnvironment(sleep, pinned),
  });
}

type PinnedNight = Pick<NightJob, 'project' | 'command' | 'pinned'>;

/** A night of this project as a command, with every path absolute and real. */
export async function pinNight(sleep: OpenSleep, limits: NightLimits): Promise<PinnedNight> {
  const project = await realpath(sleep.project);
  const [node, cli] = [await realpath(process.execPath), await realpath(CLI)];
  const env = trusted(sleep.place.env, project);
  const models = await pinModels(await chooseModels(sleep.settings, { place: { env }, project }), env, project);
  const pinned = [
    { name: 'node', path: node, version: process.versions.node },
    { name: 'skillopt', path: cli, version: JSON.parse(readFileSync(PACKAGE, 'utf8')).version },
    ...models.programs,
  ];
  const words = [...nightWords(sleep, models, project), ...flagWords(limits), '--quiet', '--json'];
  return { project, pinned, command: [node, cli, 'sleep', 'run', ...words] };
}

export const schedulesFolder = (stateFolder: string) => join(stateFolder, SCHEDULES_FOLDER);

/**
 * The variables with a search path that holds nothing of a project: no relative entry, no folder of the project, no
 * `node_modules/.bin`. A program from there would run every night with the user's sign-in.
 */
export function trusted(env: Environment, project: string): Environment {
  const folders = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isForeign(folder, [project]));
  return { ...env, PATH: folders.join(delimiter) };
}

type PinnedModels = {
  /** Empty when none of the models is a program: the project file may then change them. */
  readonly specs: Partial<SleepModels>;
  readonly programs: readonly PinnedProgram[];
};

/** The same models, with the program of each agent CLI by its absolute real path. */
async function pinModels(models: SleepModels, env: Environment, project: string): Promise<PinnedModels> {
  const { target, optimizer, judge } = models;
  if ([target, optimizer, judge].every((spec) => cliOf(spec) === undefined)) return { specs: {}, programs: [] };
  const installed = await detectAgents(env, project);
  await pinAgents(installed, env);
  const programs: PinnedProgram[] = [];
  const pin = async (spec: ModelSpec): Promise<ModelSpec> => {
    const cli = cliOf(spec);
    if (cli === undefined) return spec;
    const found = installed.find((agent) => agent.cli === cli);
    const block = typeof spec === 'string' ? blockOf(spec) : spec;
    const path = await realProgram(cli, typeof block.path === 'string' ? block.path : found?.path, env, project);
    const isFound = block.path === undefined || block.path === found?.path;
    const version = (isFound && found?.version) || '(version unknown)';
    if (!programs.some((program) => program.path === path)) programs.push({ name: cli, path, version });
    return { ...block, path };
  };
  return { specs: { target: await pin(target), optimizer: await pin(optimizer), judge: await pin(judge) }, programs };
}

function cliOf(spec: ModelSpec): AgentCliName | undefined {
  const agent = agentTargetOf({ target: spec });
  if (agent !== undefined) return agentPrograms[agent.agent].cli;
  const name = typeof spec === 'string' ? spec.split(':')[0]! : String(spec.provider);
  return Object.hasOwn(agentClis, name) ? (name as AgentCliName) : undefined;
}

/** Refuses a program inside the project: an agent that works there could change it, and it would run at night with a sign-in. */
async function realProgram(cli: AgentCliName, path: string | undefined, env: Environment, project: string) {
  const { binary, installCommand } = agentClis[cli];
  const real = path === undefined ? undefined : await realpath(path).catch(() => undefined);
  if (real !== undefined && !isForeign(real, projectFolders(project, homeIn(env)))) return real;
  const found = real === undefined ? `no program ${path ?? binary} was found` : `${real} lies inside the project`;
  const hint = `Folders of a project, node_modules/.bin and relative entries of PATH are never used. Install it for yourself: ${installCommand}`;
  throw new SkillError('CONFIG_INVALID', `${cli} cannot be run at night: ${found}`, { hint });
}

const {
  projects: _projects,
  homes: _homes,
  promptOverrides: _prompts,
  retention: _retention,
  prices: _prices,
  ...flagged
} = sleepShape;

/** The settings that have flags on the command line; the others are for files. */
export const flagShape = flagged;

/** Everything that the caller set for the night, with absolute paths, so that it means the same sessions and documents. */
function nightWords({ settings, origins, configFile: config }: OpenSleep, models: PinnedModels, project: string) {
  const isSet = (key: string) => origins[key as keyof typeof origins] === CALLER;
  const given = Object.keys(flagShape).filter((key) => isSet(key) || (key === 'maxTokensPerNight' && origins[key]));
  const allProjects = isSet('projects') && settings.projects === 'all';
  return flagWords({
    ...Object.fromEntries(given.map((key) => [key, settings[key as keyof typeof settings]])),
    ...models.specs,
    config,
    ...(allProjects ? { allProjects } : { project }),
  });
}

export function flagWords(values: Readonly<Record<string, unknown>>): string[] {
  const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${dashed(name)}`];
    const text = typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value);
    return [`--${dashed(name)}`, text];
  });
}

/** Where agents keep transcripts and sign-ins, how the network is reached, and what Windows needs to start a program. */
const KEPT_VARIABLES = [
  ...['USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', ...Object.values(HOME_VARIABLES)],
  ...['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy', 'NODE_EXTRA_CA_CERTS'],
  ...['SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP'],
];

/** Holds no key of the shell, and no proxy address with a password. */
function jobEnvironment({ place, folder }: OpenSleep, pinned: readonly PinnedProgram[]): Record<string, string> {
  const { env, home } = place;
  const kept = KEPT_VARIABLES.flatMap((name) => {
    const value = env[name];
    return value === undefined || /\/\/[^/]*@/.test(value) ? [] : [[name, value]];
  });
  const system = place.platform === 'win32' ? [`${env.SystemRoot}\\System32`] : ['/usr/local/bin', '/usr/bin', '/bin'];
  const folders = new Set([...pinned.map(({ path }) => dirname(path)), ...system]);
  return {
    ...{ HOME: home, PATH: [...folders].join(delimiter), SKILLOPT_HOME: folder, LANG: env.LANG || 'C.UTF-8' },
    ...Object.fromEntries(kept),
  };
}

/** Throws for a job that some program could read differently. */
export function requireWritable(job: NightJob): NightJob {
  const unfit = (expected: string) =>
    new SkillError('CONFIG_INVALID', `a nightly job needs ${expected}`, { hint: 'Rename or move it.' });
  const broken = [job.project, job.folder].find((path) => /\p{Cc}/u.test(path));
  if (broken !== undefined) throw unfit(`a path without control characters, got ${JSON.stringify(broken)}`);
  // env takes the first word without `=` for the program.
  if (sep === '/' && job.command[0]!.includes('='))
    throw unfit(`a program whose path has no "=", got ${job.command[0]}`);
  const hasNul = [...job.command, ...Object.values(job.env)].some((word) => word.includes('\0'));
  if (hasNul) throw unfit('texts without the character U+0000');
  return job;
}

/** Stands in everything that is ours. What lacks it belongs to somebody else and stays. */
export const markOf = (hash: string) => `skillopt-sleep ${hash}`;

export function hashesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/skillopt-sleep ([0-9a-f]{20})\b/g)].map(([, hash]) => hash!))];
}

export const scriptPath = ({ folder, hash }: NightJob) => join(folder, `${hash}.sh`);
export const logPath = ({ folder, hash }: Pick<NightJob, 'folder' | 'hash'>) => join(folder, `${hash}.log`);

/** `a night for /home/ann/shop at 03:17` */
export const describeJob = ({ project, at }: NightJob) => `a night for ${oneLine(project)} at ${clockText(at)}`;

/** `node 22.1.0, skillopt 0.1.0` */
export const pinnedText = ({ pinned }: NightJob) =>
  oneLine(pinned.map(({ name, version }) => `${name} ${version}`).join(', '));

/** Throws `USAGE` unless it is a time that a clock shows. */
export function readClock(text: string): ClockTime {
  const [hour = 24, minute = 60] = /^\d{1,2}:\d{2}$/.test(text) ? text.split(':').map(Number) : [];
  if (hour < 24 && minute < 60) return { hour, minute };
  const message = `expected a time from 00:00 to 23:59, got ${JSON.stringify(text)}`;
  throw new SkillError('USAGE', message, { hint: 'Such as 03:17.' });
}

export const clockText = ({ hour, minute }: ClockTime) =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

/** A night's log is some thousand bytes. */
const LONGEST_LOG = 1_000_000;

/**
 * The job as a script, so that crontab, unit and plist hold one path each: lines of a crontab may not be longer than about
 * a thousand bytes, and each of the three quotes in its own way. The program gets the job's variables and no others.
 */
export function posixScript(job: NightJob): string {
  const log = shellQuoted(logPath(job));
  const variables = Object.entries(job.env).map(([name, value]) => `${name}=${shellQuoted(value)}`);
  return [
    '#!/bin/sh',
    `# ${markOf(job.hash)}: ${describeJob(job)}.`,
    '# Made by "skillopt sleep schedule"; "skillopt sleep unschedule" takes it away.',
    `# Made for: ${pinnedText(job)}.`,
    'umask 077',
    `if [ -f ${log} ] && [ "$(wc -c < ${log})" -gt ${LONGEST_LOG} ]; then mv -f ${log} ${shellQuoted(`${logPath(job)}.old`)}; fi`,
    `exec >> ${log} 2>&1`,
    `cd ${shellQuoted(job.project)} || exit 1`,
    `exec ${['/usr/bin/env -i', ...variables, ...job.command.map(shellQuoted)].join(' \\\n  ')}`,
    '',
  ].join('\n');
}

/** One word for every POSIX shell, whatever is in it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
