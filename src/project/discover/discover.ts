import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { type AgentCliName, agentClis, findAgents } from '../../agents/index.ts';
import type { Environment } from '../models/provider.ts';
import { readEnvFile } from '../models/read-env-file.ts';
import { discoverFiles, type FolderFiles, isEmpty } from './discover-files.ts';

export type FoundKey = {
  readonly provider: KeyProvider;
  readonly variable: string;
  readonly place: 'environment' | '.env';
};
export type KeyProvider = 'openai' | 'anthropic' | 'google' | 'azure' | 'minimax';

export type FoundServer = {
  /** Ollama, LM Studio … by its port, or the name of the variable with its address. */
  readonly name: string;
  readonly url: string;
  readonly variable?: string | undefined;
  /** The variable whose key belongs to that address. */
  readonly apiKeyEnv?: string | undefined;
  readonly models: readonly string[];
};

export type FoundModels = {
  readonly keys: readonly FoundKey[];
  readonly servers: readonly FoundServer[];
  /** Agent CLIs on PATH. Some show only when they run whether they are signed in. */
  readonly agents: readonly { readonly cli: AgentCliName; readonly isSignedIn: boolean | undefined }[];
};

export type FolderFindings = FolderFiles & { readonly directory: string; readonly models: FoundModels };

/** The first variable that is set counts. */
const KEYS: Readonly<Record<KeyProvider, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  azure: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY', 'AZURE_OPENAI_AD_TOKEN'],
  minimax: ['MINIMAX_API_KEY'],
};

type DiscoverOptions = {
  readonly directory: string;
  readonly env: Environment;
  readonly home: string;
  readonly skill?: string | undefined;
  readonly ports?: Readonly<Record<string, number>>;
};

/** Finds what a project can be made of. Reads heads of files and asks servers of this machine. Runs and changes nothing. */
export async function discover(options: DiscoverOptions): Promise<FolderFindings> {
  const files = await discoverFiles(options.directory, options.skill);
  const models = isEmpty(files) ? { keys: [], servers: [], agents: [] } : await discoverModels(options);
  return { directory: options.directory, ...files, models };
}

/** The models that could be asked from here. No program is run, no sign-in is opened, and no key is kept. */
async function discoverModels({ directory, env, home, ports }: DiscoverOptions): Promise<FoundModels> {
  const fromFile: Environment = await readEnvFile(directory).catch(() => ({}));
  return {
    keys: findKeys(env, fromFile),
    servers: await findServers(env, fromFile, ports),
    agents: agentsOn(env, directory, home),
  };
}

function findKeys(env: Environment, fromFile: Environment): FoundModels['keys'] {
  return (Object.keys(KEYS) as KeyProvider[]).flatMap((provider) => {
    const variable = KEYS[provider].find((name) => env[name] || fromFile[name]);
    return variable === undefined ? [] : [{ provider, variable, place: env[variable] ? 'environment' : '.env' }];
  });
}

function agentsOn(env: Environment, directory: string, home: string): FoundModels['agents'] {
  return findAgents(env, directory).map(({ cli }) => {
    const files = agentClis[cli].signInFiles?.({ env, userHome: home });
    return { cli, isSignedIn: files?.some((path) => existsSync(path)) };
  });
}

const PORTS: Readonly<Record<string, number>> = {
  Ollama: 11_434,
  'LM Studio': 1234,
  'llama.cpp': 8080,
  vLLM: 8000,
  'skillopt sim': 4141,
};

/** Variables with the address of a server, and the variable with its key. */
const SERVER_VARIABLES: readonly (readonly [variable: string, apiKeyEnv?: string])[] = [
  ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
  ['OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_COMPATIBLE_API_KEY'],
  ['OLLAMA_HOST'],
];

/** A server that a person named may be starting, or be on a busy machine. */
const GUESSED_TIMEOUT_MS = 500;
const NAMED_TIMEOUT_MS = 5_000;
const MAX_REPLY_BYTES = 200_000;
const MOST_MODELS = 20;

/** Servers that variables name, then those on the usual ports. Only this machine is asked, once each, without a key. */
async function findServers(
  env: Environment,
  fromFile: Environment,
  ports: Readonly<Record<string, number>> = PORTS,
): Promise<FoundModels['servers']> {
  const named = SERVER_VARIABLES.flatMap(([variable, apiKeyEnv = '']) => {
    const url = addressIn(variable, env[variable] ?? fromFile[variable]);
    if (url === undefined) return [];
    // A file of a stranger may name an address, which our key does not belong to.
    const isForeign = env[variable] === undefined && env[apiKeyEnv] !== undefined;
    const hasKey = !isForeign && Boolean(env[apiKeyEnv] ?? fromFile[apiKeyEnv]);
    return [{ name: variable, variable, url, ...(hasKey ? { apiKeyEnv } : {}) }];
  });
  const usual = Object.entries(ports).map(([name, port]) => ({ name, url: `http://127.0.0.1:${port}/v1` }));
  const all = [...named, ...usual.filter(({ url }) => !named.some((one) => sameServer(one.url, url)))];
  const timeoutFor = (server: object) => ('variable' in server ? NAMED_TIMEOUT_MS : GUESSED_TIMEOUT_MS);
  const asked = await Promise.all(
    all.map(async (server) => ({ ...server, models: await modelsOf(server.url, timeoutFor(server)) })),
  );
  return asked.filter((server) => 'variable' in server || server.models.length > 0);
}

/** With a scheme and a path. Ollama's variable is often only a host and a port, and 0.0.0.0 means all addresses. */
function addressIn(variable: string, value: string | undefined): string | undefined {
  if (!value) return undefined;
  const isHost = variable === 'OLLAMA_HOST';
  const text = isHost && !value.includes('://') ? `http://${value}` : value;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  // A name or a password in an address would end up in the project file.
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search) return undefined;
  if (!isHost) return text.replace(/(?<!\/)\/+$/, '');
  const host = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname;
  return `${url.protocol}//${host}:${url.port || PORTS.Ollama}/v1`;
}

const sameServer = (one: string, other: string) =>
  one.replace('//localhost:', '//127.0.0.1:') === other.replace('//localhost:', '//127.0.0.1:');

const isHere = (url: string) => /^http:\/\/(127(\.\d+){3}|localhost|\[::1\])(:\d+)?(\/|$)/.test(url);

/** The names of the models at an address of this machine. None if no such server answers in time. */
async function modelsOf(url: string, timeoutMs: number): Promise<string[]> {
  if (!isHere(url)) return [];
  try {
    const { data } = JSON.parse(await fetchText(`${url}/models`, timeoutMs)) as { data: { id?: unknown }[] };
    return data
      .map((model) => model?.id)
      .filter(isModelName)
      .slice(0, MOST_MODELS);
  } catch {
    return [];
  }
}

/** Names go into a file and onto a terminal. */
const isModelName = (id: unknown): id is string => typeof id === 'string' && /^[\w][\w.:/+@-]{0,120}$/.test(id);

/** Unlike the global `fetch`, it follows no redirects and uses no proxy. */
function fetchText(url: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { signal: AbortSignal.timeout(timeoutMs), agent: false }, (response) => {
      if (response.statusCode !== 200) return void request.destroy(new Error('refused'));
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_REPLY_BYTES) request.destroy(new Error('too long'));
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}
