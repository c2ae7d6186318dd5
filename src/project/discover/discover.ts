import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { agentClis, findAgents } from '../../agents/index.ts';
import { readEnvFile } from '../models/read-env-file.ts';
import { discoverFiles } from './discover-files.ts';
import {
  type FolderFindings,
  type FoundAgent,
  type FoundKey,
  type FoundModels,
  type FoundServer,
  isEmpty,
  type KeyProvider,
} from './found.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** In the order in which models read them; the first that is set counts. */
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
  /** A skill that a person means, wherever it lies. */
  readonly skill?: string | undefined;
  /** Ports of this machine that are asked what they serve. */
  readonly ports?: Readonly<Record<string, number>>;
};

/** What there is to make a project of. Reads heads of files and asks servers of this machine; runs and changes nothing. */
export async function discover(options: DiscoverOptions): Promise<FolderFindings> {
  const files = await discoverFiles(options.directory, options.skill);
  const models = isEmpty(files) ? { keys: [], servers: [], agents: [] } : await discoverModels(options);
  return { directory: options.directory, ...files, models };
}

/** Which models could be asked from here. Of keys only the names of their variables; no program is run, and no sign-in opened. */
async function discoverModels({ directory, env, home, ports }: DiscoverOptions): Promise<FoundModels> {
  const fromFile: Environment = await readEnvFile(directory).catch(() => ({}));
  return {
    keys: findKeys(env, fromFile),
    servers: await findServers((name) => env[name] ?? fromFile[name], ports),
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

/** The usual ports of servers that speak Chat Completions. */
const PORTS: Readonly<Record<string, number>> = {
  Ollama: 11_434,
  'LM Studio': 1234,
  'llama.cpp': 8080,
  vLLM: 8000,
  'skillopt sim': 4141,
};

/** Variables that name the address of a server, and the one that holds its key. */
const SERVER_VARIABLES: readonly (readonly [variable: string, apiKeyEnv?: string])[] = [
  ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
  ['OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_COMPATIBLE_API_KEY'],
  ['OLLAMA_HOST'],
];

/** A guessed server gets little time. One that a person named may be starting, or be on a busy machine. */
const GUESSED_TIMEOUT_MS = 500;
const NAMED_TIMEOUT_MS = 5_000;
const MAX_REPLY_BYTES = 200_000;
const MOST_MODELS = 20;

/** Servers that variables name, then those on the usual ports of this machine. Only this machine is asked, once each, without a key. */
async function findServers(
  read: (variable: string) => string | undefined,
  ports: Readonly<Record<string, number>> = PORTS,
): Promise<FoundServer[]> {
  const named = SERVER_VARIABLES.flatMap(([variable, apiKeyEnv]) => {
    const url = addressIn(variable, read(variable));
    if (url === undefined) return [];
    return [{ name: variable, variable, url, ...(apiKeyEnv && read(apiKeyEnv) ? { apiKeyEnv } : {}) }];
  });
  const usual = Object.entries(ports).map(([name, port]) => ({ name, url: `http://127.0.0.1:${port}/v1` }));
  const all = [...named, ...usual.filter(({ url }) => !named.some((one) => sameServer(one.url, url)))];
  const timeoutFor = (server: object) => ('variable' in server ? NAMED_TIMEOUT_MS : GUESSED_TIMEOUT_MS);
  const asked = await Promise.all(
    all.map(async (server) => ({ ...server, models: await modelsOf(server.url, timeoutFor(server)) })),
  );
  return asked
    .map(({ models = [], ...server }) => ({ ...server, models }))
    .filter((server) => 'variable' in server || server.models.length > 0);
}

/** With a scheme and a path. Ollama's variable is often a host and a port, and 0.0.0.0 is where it listens, not where it is. */
function addressIn(variable: string, value: string | undefined): string | undefined {
  if (!value) return undefined;
  const isHost = variable === 'OLLAMA_HOST';
  const text = isHost && !value.includes('://') ? `http://${value}` : value;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  // A name or a password in an address would end up in the project file.
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search) return undefined;
  if (!isHost) return text.replace(/\/+$/, '');
  const host = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname;
  return `${url.protocol}//${host}:${url.port || PORTS.Ollama}/v1`;
}

const sameServer = (one: string, other: string) =>
  one.replace('//localhost:', '//127.0.0.1:') === other.replace('//localhost:', '//127.0.0.1:');

const isHere = (url: string) => /^http:\/\/(127(\.\d+){3}|localhost|\[::1\])(:\d+)?(\/|$)/.test(url);

/** The names of the models at an address of this machine; `undefined` where no such server answers in time. */
async function modelsOf(url: string, timeoutMs: number): Promise<string[] | undefined> {
  if (!isHere(url)) return undefined;
  try {
    const { data } = JSON.parse(await fetchText(`${url}/models`, timeoutMs)) as { data: unknown };
    if (!Array.isArray(data)) return undefined;
    const ids = data.map((model: unknown) => (model as { id?: unknown } | null)?.id);
    return ids.filter(isModelName).slice(0, MOST_MODELS);
  } catch {
    return undefined;
  }
}

/** A name as servers have them. It goes into a file and onto a terminal. */
const isModelName = (id: unknown): id is string => typeof id === 'string' && /^[\w][\w.:/+@-]{0,120}$/.test(id);

/** Not the global `fetch`: that follows redirects, and a proxy that variables name. */
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
