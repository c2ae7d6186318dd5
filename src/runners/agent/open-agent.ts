import { existsSync } from 'node:fs';
import {
  type AgentCli,
  type AgentName,
  agentPrograms,
  callerVariables,
  childEnvironment,
  type Environment,
  findBinary,
  homeIn,
  type Located,
  locate,
  NO_KEY,
  type Provider,
  requireProgram,
} from '../../agents/index.ts';
import { type AgentSignIn, type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { knowKey } from '../../core/guard/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { type ModelGatewayOptions, type Price, priceOf } from '../../models/index.ts';

export type AgentRunnerOptions = {
  readonly agent: AgentName;
  /** As the CLI spells it. Default: the CLI's own. */
  readonly model?: string | undefined;
  readonly sandbox: Sandbox;
  /** Where the skill is installed: in the home that the agent is given, or in the workspace. */
  readonly scope?: 'user' | 'project' | undefined;
  /** Address of the model, in place of the CLI's provider, and the variable that holds the key for it. */
  readonly baseURL?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
  readonly price?: Price | undefined;
  /** The CLI's program. Default: the one on `PATH`. */
  readonly path?: string | undefined;
  /** The caller's name for that setting, for messages. */
  readonly pathSetting?: string | undefined;
  /** The variables of the caller. Default: those of this process. */
  readonly inherited?: Environment | undefined;
  /** Maximum wait for one answer of the model. */
  readonly callTimeoutMs?: number | undefined;
};

type Upstream = ModelGatewayOptions['upstream'];

/** An agent CLI that was found, with all that its runs have in common. */
export type Agent = {
  readonly id: string;
  readonly cli: AgentCli<AgentName>;
  readonly located: Located;
  readonly version: string;
  readonly model: string | undefined;
  readonly sandbox: Sandbox;
  readonly scope: 'user' | 'project';
  /** Whom the gateway asks, and with what key. Absent where the CLI asks its provider itself, with the user's sign-in. */
  readonly upstream: Upstream | undefined;
  readonly signIn: AgentSignIn;
  readonly price: Price | undefined;
  readonly env: Environment;
  readonly callTimeoutMs: number;
};

/** Finds the program of an agent, its version, and how its model will be asked. Asks no model. */
export async function openAgent(options: AgentRunnerOptions): Promise<Agent> {
  const { model, sandbox, scope = 'user', callTimeoutMs = 120_000 } = options;
  const cli = cliNamed(options.agent);
  await sandbox.ready();
  const env = callerVariables(options);
  const words = { agent: cli.name, path: options.pathSetting ?? 'path' };
  const located = locate({ cli: cli.cli, path: options.path, inherited: env, words });
  for (const needed of cli.needs ?? []) requireNeeded(needed, cli, env);
  const version = await requireProgram({ cli: cli.cli, ...located }, env);
  const { upstream, hasKey } = upstreamOf(cli, options, env);
  const signIn = upstream === undefined ? ownSignIn({ cli, located, model, env }) : hasKey ? 'key' : 'address';
  const id = `${cli.name}@${version}:${model ?? 'default'}${addressIn(upstream, cli, model)} in ${sandbox.id}, ${scope} skills`;
  const price = options.price ?? (model === undefined ? undefined : priceOf(model));
  return { id, cli, located, version, model, sandbox, scope, upstream, signIn, price, env, callTimeoutMs };
}

function cliNamed(name: string): AgentCli<AgentName> {
  const cli = Object.hasOwn(agentPrograms, name) ? agentPrograms[name as AgentName] : undefined;
  if (cli !== undefined) return cli;
  const names = Object.keys(agentPrograms);
  throw new SkillError('CONFIG_INVALID', `there is no agent "${name}"${suggestion(name, names)}`, {
    hint: `There is ${names.join(', ')}.`,
  });
}

function requireNeeded(name: string, { binary }: AgentCli, env: Environment): void {
  if (findBinary(name, env) !== undefined) return;
  throw new SkillError('CONFIG_INVALID', `${binary} needs the program ${name}, which is not on PATH`, {
    hint: name === 'rg' ? 'Install it: apt-get install ripgrep, brew install ripgrep.' : `Install ${name}.`,
  });
}

/** Without a key and an address there is no upstream: the CLI asks its provider itself, with the user's sign-in. */
function upstreamOf(cli: AgentCli, options: AgentRunnerOptions, env: Environment) {
  const { baseURL, apiKeyEnv, model } = options;
  const provider = cli.provider(env, model);
  const key = apiKeyEnv === undefined ? provider.key : env[apiKeyEnv];
  if (apiKeyEnv !== undefined && !key) {
    const problem = `the variable ${apiKeyEnv} is not set, which is to hold the key for ${cli.binary}`;
    const hint = `Set ${apiKeyEnv}, also in .env, or take apiKeyEnv away to use the sign-in of ${cli.binary}.`;
    throw new SkillError('CONFIG_INVALID', problem, { hint });
  }
  knowKey(key); // a verifier may print it before the agent is asked
  if (!key && baseURL === undefined) return { upstream: undefined, hasKey: false };
  if (baseURL !== undefined && !URL.canParse(baseURL))
    throw new SkillError('CONFIG_INVALID', `the model's address must be a URL, got ${JSON.stringify(baseURL)}`, {
      hint: 'Such as https://api.anthropic.com or http://127.0.0.1:8000/v1.',
    });
  const upstream: Upstream = { baseURL: baseURL ?? provider.baseURL, auth: headerFor(provider.auth, key || NO_KEY) };
  return { upstream, hasKey: Boolean(key) };
}

const headerFor = (auth: Provider['auth'], key: string) =>
  auth === 'bearer' ? { header: 'authorization', value: `Bearer ${key}` } : { header: auth, value: key };

/** Another address than the usual one may have another model under the same name. */
function addressIn(upstream: Upstream | undefined, cli: AgentCli, model: string | undefined): string {
  if (upstream === undefined || upstream.baseURL === cli.provider({}, model).baseURL) return '';
  const { host, pathname } = new URL(upstream.baseURL);
  return `@${host}${pathname.replace(/\/$/, '')}`;
}

/** Names of an agent's own variables that hold a key, or select a cloud that knows the user. */
const CREDENTIAL = /(_KEY|_TOKEN|_CREDENTIALS|_USE_(BEDROCK|VERTEX|VERTEXAI|GCA))$/;

/** How an agent without a gateway signs in, as far as that can be seen without asking its model. */
function ownSignIn({ cli, located, model, env }: Pick<Agent, 'cli' | 'located' | 'model' | 'env'>): AgentSignIn {
  if (Object.values(signInFiles({ cli, env })).some((file) => existsSync(file))) return 'file';
  const theirs = childEnvironment({ cli, model, program: located, inherited: env });
  if (Object.entries(theirs).some(([name, value]) => value && CREDENTIAL.test(name))) return 'variable';
  return cli.keyrings?.includes(process.platform) ? 'unseen' : 'none';
}

/** The files of the user's own sign-in, by path in the agent's home. They need not exist. */
export const signInFiles = ({ cli, env }: Pick<Agent, 'cli' | 'env'>) => cli.signIn({ env, userHome: homeIn(env) });
