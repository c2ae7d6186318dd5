import { existsSync } from 'node:fs';
import { agentClis, findAgents } from '../../agents/index.ts';
import { readEnvFile } from '../models/read-env-file.ts';
import { discoverFiles } from './discover-files.ts';
import { findServers } from './find-servers.ts';
import { type Found, type FoundAgent, type FoundKey, type FoundModels, isEmpty, type KeyProvider } from './found.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** In the order in which models read them; the first that is set counts. */
const KEYS: Readonly<Record<KeyProvider, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  azure: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY', 'AZURE_OPENAI_AD_TOKEN'],
  minimax: ['MINIMAX_API_KEY'],
};

type Surroundings = {
  readonly directory: string;
  readonly env: Environment;
  readonly home: string;
  /** A skill that a person means, wherever it lies. */
  readonly skill?: string | undefined;
  /** Ports of this machine that are asked what they serve. */
  readonly ports?: Readonly<Record<string, number>>;
};

/** What is there to make a project of. Reads heads of files and asks servers of this machine; runs and changes nothing. */
export async function discover(place: Surroundings): Promise<Found> {
  const files = await discoverFiles(place.directory, place.skill);
  const models = isEmpty(files) ? { keys: [], servers: [], agents: [] } : await discoverModels(place);
  return { directory: place.directory, ...files, models };
}

/** Which models could be asked from here. Of keys only the names of their variables; no program is run, and no sign-in opened. */
async function discoverModels({ directory, env, home, ports }: Surroundings): Promise<FoundModels> {
  const fromFile: Environment = await readEnvFile(directory).catch(() => ({}));
  const isSet = (name: string) => Boolean(env[name] ?? fromFile[name]);
  return {
    keys: findKeys(env, fromFile),
    servers: await findServers({ ...fromFile, ...withoutUndefined(env) }, isSet, ports),
    agents: agentsOn(env, directory, home),
  };
}

function findKeys(env: Environment, fromFile: Environment): FoundKey[] {
  return (Object.keys(KEYS) as KeyProvider[]).flatMap((provider) => {
    const variable = KEYS[provider].find((name) => env[name] || fromFile[name]);
    return variable === undefined
      ? []
      : [{ provider, variable, place: env[variable] ? ('environment' as const) : ('.env' as const) }];
  });
}

function agentsOn(env: Environment, directory: string, home: string): FoundAgent[] {
  return findAgents(env, directory).map(({ cli }) => {
    const files = agentClis[cli].signInFiles?.({ env, userHome: home });
    return { cli, isSignedIn: files?.some((path) => existsSync(path)) };
  });
}

const withoutUndefined = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
