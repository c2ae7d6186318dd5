import { type AgentCliName, agentClis, agentPrograms } from '../../agents/index.ts';
import { type AgentTarget, agentTargetOf, type ModelSpec } from '../../project/index.ts';

/** Who reads a person's texts through a model of a night. */
export type Recipient = {
  /** What consent is given to. */
  readonly provider: string;
  readonly name: string;
  /** What it would do: mine, attempt, judge, propose. */
  readonly roles: readonly string[];
  /** Whether texts leave this machine. */
  readonly isRemote: boolean;
};

const NAMES: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  azure: 'Azure OpenAI',
  google: 'Google',
  minimax: 'MiniMax',
  openai: 'OpenAI',
  qwen: 'Qwen',
};

function labelOf(provider: string): string {
  if (!Object.hasOwn(agentClis, provider)) return NAMES[provider] ?? provider;
  const { title, hasManyProviders } = agentClis[provider as AgentCliName];
  return `${title}${hasManyProviders ? ' and the provider that is set up there' : ', as you are signed in there'}`;
}

type Models = Readonly<Record<string, ModelSpec | undefined>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** All who would read something, with the roles. Simulated models are part of this process; for a handoff we send nothing. */
export function recipientsOf(models: Models, env: Environment): Recipient[] {
  const found = new Map<string, Recipient>();
  for (const [role, spec] of Object.entries(models)) {
    const reader = spec === undefined ? undefined : readerOf(spec, env);
    if (reader === undefined) continue;
    const roles = [...(found.get(reader.provider)?.roles ?? []), role];
    found.set(reader.provider, { ...reader, roles });
  }
  return [...found.values()];
}

function readerOf(spec: ModelSpec, env: Environment): Omit<Recipient, 'roles'> | undefined {
  const agent = agentTargetOf({ target: spec });
  if (agent !== undefined) return agentReader(agent);
  const { name, address } = readSpec(spec, env);
  if (name === 'simulated' || name === 'handoff') return undefined;
  const label = labelOf(name);
  if (address === undefined) return { provider: name, name: label, isRemote: true };
  const host = hostOf(address);
  return { provider: `${name}@${host}`, name: `${label} at ${host}`, isRemote: !isLoopback(host) };
}

/** It reads more than texts of sessions, so it needs a consent of its own. */
function agentReader({ agent, baseURL }: AgentTarget): Omit<Recipient, 'roles'> {
  const files = 'with tools: also files of this project that it opens';
  const [provider, label] = [`${agent}-agent`, labelOf(agentPrograms[agent].cli)];
  if (baseURL === undefined) return { provider, name: `${label} (${files})`, isRemote: true };
  const host = hostOf(baseURL);
  return { provider: `${provider}@${host}`, name: `${agent} at ${host} (${files})`, isRemote: !isLoopback(host) };
}

/** A name before the colon; an address behind `@`, in the block, or in the variable that such servers are named by. */
function readSpec(spec: ModelSpec, env: Environment): { name: string; address?: string } {
  if (typeof spec === 'string') {
    const [name = '', rest = ''] = spec.split(/:(.*)/s);
    const address = /@(https?:\/\/\S+)$/.exec(rest)?.[1] ?? addressIn(name, env);
    return { name, ...(address === undefined ? {} : { address }) };
  }
  const name = String(spec.provider ?? '');
  const address = typeof spec.baseURL === 'string' ? spec.baseURL : addressIn(name, env);
  return { name, ...(address === undefined ? {} : { address }) };
}

const addressIn = (name: string, env: Environment) =>
  /^(compatible|openai_compatible)/.test(name) ? env.OPENAI_COMPATIBLE_BASE_URL : undefined;

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);
