import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SkillError } from '../../../core/contracts/index.ts';
import {
  type ClockTime,
  chooseModels,
  clockText,
  HOME_VARIABLES,
  jobHash,
  type NightJob,
  type PinnedProgram,
  requireWritable,
  schedulesFolder,
} from '../../../sleep/index.ts';
import { flagWords, type OpenSleep } from '../open-sleep.ts';
import type { RunFlags } from '../run.ts';
import { type PinnedModels, pinModels } from './pin-models.ts';
import { trusted } from './programs.ts';

const CLI = fileURLToPath(new URL('../../../../bin/skillopt.mjs', import.meta.url));
const PACKAGE = new URL('../../../../package.json', import.meta.url);

/** The job for a project: its night as the flags say it, with everything pinned that could mean something else at night. */
export async function jobOf(
  sleep: OpenSleep,
  { flags, at, isUnsure }: { readonly flags: RunFlags; readonly at: ClockTime; readonly isUnsure: boolean },
): Promise<NightJob> {
  const project = await realpath(sleep.project);
  const [node, cli] = [await realpath(process.execPath), await realpath(CLI)];
  const env = trusted(sleep.place.env, project);
  const models = await pinModels(await chooseModels(sleep.settings, { place: { env }, project }), { env, project });
  const pinned = [
    { name: 'node', path: node, version: process.versions.node },
    { name: 'skillopt', path: cli, version: JSON.parse(readFileSync(PACKAGE, 'utf8')).version },
    ...models.programs,
  ];
  return requireWritable({
    ...{ project, at, pinned, hash: jobHash(project), folder: schedulesFolder(await realpath(sleep.folder)) },
    command: [node, cli, 'sleep', 'run', ...nightWords(sleep, { flags, models, project }), ...dueWords(isUnsure, at)],
    env: jobEnvironment(sleep, pinned),
  });
}

const dueWords = (isUnsure: boolean, at: ClockTime) => (isUnsure ? ['--if-due', clockText(at)] : []);

type Night = { readonly flags: RunFlags; readonly models: PinnedModels; readonly project: string };

/** Everything that was said about the night, with absolute paths: it is about the same sessions and documents. */
function nightWords({ settings, origins }: OpenSleep, { flags, models, project }: Night): string[] {
  const { source, promptsFile, targetSkillPath, skillRoots } = settings;
  const isSaid = (name: string) => flags[name] !== undefined;
  const config = flags.config === undefined ? undefined : resolve(project, flags.config);
  const paths = Object.entries({ promptsFile, targetSkillPath, skillRoots }).filter(([name]) => isSaid(name));
  const said = {
    ...flags,
    ...Object.fromEntries(paths),
    ...models.specs,
    ...(isSaid('source') ? { source } : {}),
    ...(origins.maxTokensPerNight === undefined ? {} : { maxTokensPerNight: settings.maxTokensPerNight }),
    config,
    project: flags.allProjects ? undefined : project,
  };
  const caps = ['maxMinutes', 'maxCalls', 'maxCostUsd'];
  return [...flagWords(said), ...flagWords(said, (name) => caps.includes(name)), '--quiet', '--json'];
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

/** A job that nobody watches needs an end that somebody chose; the default of a setting is no choice. */
export function requireCap({ origins }: OpenSleep, { maxMinutes, maxCalls, maxCostUsd }: RunFlags): void {
  const caps = [maxMinutes, maxCalls, maxCostUsd, origins.maxTokensPerNight];
  if (caps.some((cap) => cap !== undefined)) return;
  throw new SkillError('USAGE', 'a nightly job needs a cap that you chose, and there is none', {
    hint: 'Such as --max-minutes 30, --max-calls 300, --max-cost-usd 1 or --max-tokens-per-night 400000.',
  });
}
