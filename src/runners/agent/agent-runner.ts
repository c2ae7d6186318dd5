import {
  type AgentName,
  type AgentProgram,
  agentClis,
  agentPrograms,
  callerVariables,
  type Environment,
  findBinary,
  locate,
  NO_KEY,
  type Provider,
  requireProgram,
} from '../../agents/index.ts';
import { type AgentRunner, type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { type Price, priceOf } from '../../models/index.ts';
import type { Agent, Upstream } from './agent.ts';
import { runAgent } from './run-agent.ts';
import { ownSignIn } from './sign-in.ts';

export type AgentRunnerOptions = {
  readonly agent: AgentName;
  /** As the CLI spells it. Without one, the CLI's own default. */
  readonly model?: string | undefined;
  readonly sandbox: Sandbox;
  /** Where the skill is installed: in the home that the agent is given, or in the workspace. */
  readonly scope?: 'user' | 'project' | undefined;
  /** Another place to ask the model at than the CLI's provider, and the variable that holds the key for it. */
  readonly baseURL?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
  readonly price?: Price | undefined;
  /** The CLI's program, when it is not to be searched on `PATH`. */
  readonly path?: string | undefined;
  /** What the caller calls that setting, for messages. */
  readonly pathSetting?: string | undefined;
  /** The variables of the caller. Default: those of this process. */
  readonly inherited?: Environment | undefined;
  /** Longest wait for one answer of the model. */
  readonly callTimeoutMs?: number | undefined;
};

/** An installed agent CLI that works in workspaces. Looks for its program and its version, and asks no model. */
export async function agentRunner(options: AgentRunnerOptions): Promise<AgentRunner> {
  const agent = await openAgent(options);
  const { program, located, upstream, model, version, sandbox, signIn } = agent;
  return {
    id: agent.id,
    ...(upstream === undefined ? {} : { account: `${program.name} ${new URL(upstream.baseURL).host}` }),
    ...(model === undefined ? {} : { modelName: model }),
    capabilities: { ...program.capabilities, seesOffers: program.capabilities.seesOffers || upstream !== undefined },
    about: {
      ...{ agent: program.name, version, path: located.path, sandbox: sandbox.id, signIn },
      ...(model === undefined ? {} : { model }),
    },
    tellsSpending: upstream !== undefined,
    run: (request) => runAgent(agent, request),
  };
}

async function openAgent(options: AgentRunnerOptions): Promise<Agent> {
  const { model, sandbox, scope = 'user', callTimeoutMs = 120_000 } = options;
  const program = programNamed(options.agent);
  await sandbox.ready();
  const env = callerVariables(options);
  const words = { agent: program.name, path: options.pathSetting ?? 'path' };
  const located = locate({ cli: program.cli, path: options.path, inherited: env, words });
  for (const needed of program.needs ?? []) requireNeeded(needed, program, env);
  const version = await requireProgram({ cli: program.cli, ...located }, env);
  const { upstream, hasKey } = upstreamOf(program, options, env);
  const ours = hasKey ? 'key' : 'address';
  const signIn = upstream === undefined ? ownSignIn({ program, located, model, env }) : ours;
  const id = `${program.name}@${version}:${model ?? 'default'}${placeOf(upstream, program, model)} in ${sandbox.id}, ${scope} skills`;
  const price = options.price ?? (model === undefined ? undefined : priceOf(model));
  return {
    id,
    program,
    located,
    version,
    model,
    sandbox,
    scope,
    upstream,
    signIn,
    price,
    env,
    callTimeoutMs,
  };
}

function requireNeeded(name: string, { cli }: AgentProgram, env: Environment): void {
  if (findBinary(name, env) !== undefined) return;
  throw new SkillError('CONFIG_INVALID', `${agentClis[cli].binary} needs the program ${name}, which is not on PATH`, {
    hint: name === 'rg' ? 'Install it: apt-get install ripgrep, brew install ripgrep.' : `Install ${name}.`,
  });
}

function programNamed(name: string): AgentProgram {
  const program = Object.hasOwn(agentPrograms, name) ? agentPrograms[name as AgentName] : undefined;
  if (program !== undefined) return program;
  const names = Object.keys(agentPrograms);
  throw new SkillError('CONFIG_INVALID', `there is no agent "${name}"${suggestion(name, names)}`, {
    hint: `There is ${names.join(', ')}.`,
  });
}

type Asked = { readonly upstream: Upstream | undefined; readonly hasKey: boolean };

/** Whom the gateway asks, with what. Nothing without a key: then the CLI asks its provider itself, with the user's sign-in. */
function upstreamOf(program: AgentProgram, options: AgentRunnerOptions, env: Environment): Asked {
  const { baseURL, apiKeyEnv, model } = options;
  const provider = program.provider(env, model);
  const key = apiKeyEnv === undefined ? provider.key : env[apiKeyEnv];
  if (apiKeyEnv !== undefined && !key) throw keyMissing(program, apiKeyEnv);
  if (!key && baseURL === undefined) return { upstream: undefined, hasKey: false };
  if (baseURL !== undefined && !URL.canParse(baseURL)) throw noUrl(baseURL);
  const upstream = { baseURL: baseURL ?? provider.baseURL, auth: headerFor(provider.auth, key || NO_KEY) };
  return { upstream, hasKey: Boolean(key) };
}

/** Another place than the usual one may have another model under the same name. */
function placeOf(upstream: Upstream | undefined, program: AgentProgram, model: string | undefined): string {
  if (upstream === undefined || upstream.baseURL === program.provider({}, model).baseURL) return '';
  const { host, pathname } = new URL(upstream.baseURL);
  return `@${host}${pathname.replace(/\/$/, '')}`;
}

const headerFor = (auth: Provider['auth'], key: string) =>
  auth === 'bearer' ? { header: 'authorization', value: `Bearer ${key}` } : { header: auth, value: key };

function noUrl(baseURL: string): SkillError {
  return new SkillError('CONFIG_INVALID', `the model's address must be a URL, got ${JSON.stringify(baseURL)}`, {
    hint: 'Such as https://api.anthropic.com or http://127.0.0.1:8000/v1.',
  });
}

function keyMissing({ cli }: AgentProgram, name: string): SkillError {
  const { binary } = agentClis[cli];
  return new SkillError('CONFIG_INVALID', `the variable ${name} is not set, which is to hold the key for ${binary}`, {
    hint: `Set ${name}, also in .env, or take apiKeyEnv away to use the sign-in of ${binary}.`,
  });
}
