import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
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
import { agentTargetOf, type ModelSpec, pinAgents } from '../../project/index.ts';
import {
  CALLER,
  chooseModels,
  HOME_VARIABLES,
  jobHash,
  type OpenSleep,
  type SleepModels,
  sleepShape,
} from '../../sleep/index.ts';
import type { NightLimits } from '../night/run-night.ts';
import { trusted } from './installer.ts';
import { schedulesFolder } from './kept-schedule.ts';
import { type ClockTime, clockText, type NightJob, type PinnedProgram, requireWritable } from './night-job.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type ProgramPlace = { readonly env: Environment; readonly project: string };
type Role = 'target' | 'optimizer' | 'judge';

type PinnedModels = {
  /** What the job says about models; nothing when none of them is a program: the project file may change them then. */
  readonly specs: Partial<Record<Role, ModelSpec>>;
  readonly programs: readonly PinnedProgram[];
};

/** The same models, with the program of each agent CLI by its absolute real path. */
async function pinModels({ target, optimizer, judge }: SleepModels, where: ProgramPlace): Promise<PinnedModels> {
  const specs = { target, optimizer, judge };
  if (!Object.values(specs).some((spec) => cliOf(spec) !== undefined)) return { specs: {}, programs: [] };
  const installed = await detectAgents(where.env, where.project);
  await pinAgents(installed, where.env);
  const pin = async (spec: ModelSpec) => {
    const cli = cliOf(spec);
    if (cli === undefined) return { spec };
    const { path, version } = installed.find((agent) => agent.cli === cli) ?? { path: undefined, version: undefined };
    const block = typeof spec === 'string' ? blockOf(spec) : spec;
    const real = await realProgram(cli, typeof block.path === 'string' ? block.path : path, where);
    const isFound = block.path === undefined || block.path === path;
    const program = { name: cli, path: real, version: (isFound && version) || '(version unknown)' };
    return { spec: { ...block, path: real }, program };
  };
  const pinned = { target: await pin(target), optimizer: await pin(optimizer), judge: await pin(judge) };
  const programs = Object.values(pinned).flatMap(({ program }) => program ?? []);
  return {
    specs: { target: pinned.target.spec, optimizer: pinned.optimizer.spec, judge: pinned.judge.spec },
    programs: programs.filter(({ path }, at) => programs.findIndex((one) => one.path === path) === at),
  };
}

function cliOf(spec: ModelSpec): AgentCliName | undefined {
  const agent = agentTargetOf({ target: spec });
  if (agent !== undefined) return agentPrograms[agent.agent].cli;
  const name = typeof spec === 'string' ? spec.split(':')[0]! : String(spec.provider);
  return Object.hasOwn(agentClis, name) ? (name as AgentCliName) : undefined;
}

function blockOf(spec: string): Readonly<Record<string, unknown>> {
  const [provider = '', model = ''] = spec.split(/:(.*)/s);
  return { provider, ...(model === '' ? {} : { model }) };
}

/** A program inside the project could be changed by an agent that works there, and would run at night with a sign-in. */
async function realProgram(
  cli: AgentCliName,
  path: string | undefined,
  { env, project }: ProgramPlace,
): Promise<string> {
  const home = homeIn(env);
  const { binary, installCommand } = agentClis[cli];
  const real = path === undefined ? undefined : await realpath(path).catch(() => undefined);
  if (real !== undefined && !isForeign(real, projectFolders(project, home))) return real;
  const found = real === undefined ? `no program ${path ?? binary} was found` : `${real} lies inside the project`;
  throw new SkillError('CONFIG_INVALID', `${cli} cannot be run at night: ${found}`, {
    hint: `Folders of a project, node_modules/.bin and relative entries of PATH are never used. Install it for yourself: ${installCommand}`,
  });
}

const CLI = fileURLToPath(new URL('../../../bin/skillopt.mjs', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);

type JobOptions = { readonly limits: NightLimits; readonly at: ClockTime; readonly isUnsure: boolean };

/** The job of a project: its night as the caller described it, with everything pinned that could mean something else at night. */
export async function jobOf(sleep: OpenSleep, { limits, at, isUnsure }: JobOptions): Promise<NightJob> {
  const project = await realpath(sleep.project);
  const [node, cli] = [await realpath(process.execPath), await realpath(CLI)];
  const env = trusted(sleep.place.env, project);
  const models = await pinModels(await chooseModels(sleep.settings, { place: { env }, project }), { env, project });
  const pinned = [
    { name: 'node', path: node, version: process.versions.node },
    { name: 'skillopt', path: cli, version: JSON.parse(readFileSync(PACKAGE, 'utf8')).version },
    ...models.programs,
  ];
  const due = isUnsure ? ['--if-due', clockText(at)] : [];
  const words = [...nightWords(sleep, models, project), ...flagWords(limits), '--quiet', '--json', ...due];
  return requireWritable({
    ...{ project, at, pinned, hash: jobHash(project), folder: schedulesFolder(await realpath(sleep.folder)) },
    command: [node, cli, 'sleep', 'run', ...words],
    env: jobEnvironment(sleep, pinned),
  });
}

const { projects: _projects, homes: _homes, promptOverrides: _prompts, retention: _retention, ...flagged } = sleepShape;

/** The settings that the command line has flags for; the others are for files. */
export const flagShape = flagged;

/** Everything that the caller set for the night, with absolute paths: it is about the same sessions and documents. */
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

/** Values by name, as arguments of the command line. */
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

/** No key of the shell is among them, nor the address of a proxy that holds a password. */
function jobEnvironment({ place, folder }: OpenSleep, pinned: readonly PinnedProgram[]): Record<string, string> {
  const { env, home } = place;
  const kept = KEPT_VARIABLES.flatMap((name) => {
    const value = env[name];
    return value === undefined || /\/\/[^/]*@/.test(value) ? [] : [[name, value]];
  });
  const system = place.platform === 'win32' ? [`${env.SystemRoot}\\System32`] : ['/usr/local/bin', '/usr/bin', '/bin'];
  const folders = new Set([...pinned.map(({ path }) => dirname(path)), ...system]);
  return {
    HOME: home,
    PATH: [...folders].join(delimiter),
    SKILLOPT_HOME: folder,
    LANG: env.LANG || 'C.UTF-8',
    ...Object.fromEntries(kept),
  };
}

/** A job that nobody watches needs a limit that somebody chose. The default of a setting is no choice. */
export function requireCap({ origins }: OpenSleep, limits: NightLimits): void {
  const caps = [...Object.values(limits), origins.maxTokensPerNight];
  if (caps.some((cap) => cap !== undefined)) return;
  throw new SkillError('USAGE', 'a nightly job needs a limit that you choose, and there is none', {
    hint: 'Such as --max-minutes 30, --max-calls 300, --max-cost-usd 1 or --max-tokens-per-night 400000.',
  });
}
