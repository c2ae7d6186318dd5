import { type AgentCliName, agentClis, agentPrograms, findAgents } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { type AgentTarget, agentTargetOf, type ModelSpec, readPins } from '../project/index.ts';
import { giveConsent, hasConsent, type SleepState } from './state/sleep-state.ts';

export type SleepModels = {
  readonly target: ModelSpec;
  readonly optimizer: ModelSpec;
  readonly judge: ModelSpec;
  /** Whether somebody named them; else it is the first agent CLI that is pinned, or installed here. */
  readonly isChosen: boolean;
};

type Named = {
  readonly target?: ModelSpec | undefined;
  readonly optimizer?: ModelSpec | undefined;
  readonly judge?: ModelSpec | undefined;
};

type Here = {
  readonly place: { readonly env: Readonly<Record<string, string | undefined>> };
  readonly project: string;
};

/** The models that settings name, where they name one; for the other roles the target, or an agent CLI that is installed. */
export async function chooseModels(named: Named, here: Here): Promise<SleepModels> {
  if (named.target === HANDOFF) return { target: HANDOFF, optimizer: HANDOFF, judge: HANDOFF, isChosen: true };
  if (named.optimizer === HANDOFF || named.judge === HANDOFF) throw halfHandoff();
  const optimizer = named.optimizer ?? inWords(named.target) ?? (await installedAgent(here));
  const target = named.target ?? optimizer;
  const isChosen = named.target !== undefined || named.optimizer !== undefined;
  return { target, optimizer, judge: named.judge ?? optimizer, isChosen };
}

/** An agent with tools answers nobody: the same CLI is asked in words. Which model one asks at another address is not known. */
function inWords(target: ModelSpec | undefined): ModelSpec | undefined {
  const spec = agentTargetOf({ target });
  if (spec === undefined) return target;
  const { agent, model, path, baseURL, apiKeyEnv } = spec;
  if (baseURL !== undefined || apiKeyEnv !== undefined) throw needsOptimizer(agent);
  const { cli: provider } = agentPrograms[agent];
  return { provider, ...(model === undefined ? {} : { model }), ...(path === undefined ? {} : { path }) };
}

const needsOptimizer = (agent: string) =>
  new SkillError(
    'CONFIG_INVALID',
    `${agent} as the target asks its model with a key or an address of its own, and no optimizer is named`,
    {
      hint: 'Name the model that finds tasks, proposes edits and judges: optimizer: provider:model, beside the target.',
    },
  );

/** No model at all: questions are written to files, and a session of an agent answers them. All roles or none. */
const HANDOFF = 'handoff';

export const isHandoff = (spec: ModelSpec) => spec === HANDOFF;

const halfHandoff = () =>
  new SkillError('CONFIG_INVALID', 'expected handoff for the target, which is for all roles; got it for another one', {
    hint: 'Name it once, as the target.',
  });

async function installedAgent({ place: { env }, project }: Here): Promise<string> {
  const pins = await readPins(env);
  const pinned = Object.values(agentClis).find(({ cli }) => pins[cli] !== undefined);
  const agent = pinned?.cli ?? findAgents(env, project)[0]?.cli;
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'no model is named for the night, and no agent CLI is installed here', {
    hint: 'Install and sign in to one (Claude Code, Codex, Gemini CLI …), or name a model: target: provider:model in the project file or in config.yaml in the state folder.',
  });
}

/** Whether a model can find tasks. With a handoff that would take a round of its own, so rules find them. */
export const canMine = (spec: SleepModels['optimizer']) => !isSimulated(spec) && !isHandoff(spec);

/** A simulated model is part of this process: it reads no sessions and finds no tasks. */
export const isSimulated = (spec: SleepModels['optimizer']) =>
  (typeof spec === 'string' ? spec : String(spec.provider)).startsWith('simulated');

/** Who a model of a night belongs to, for the person whose texts it would read. */
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

type Models = Readonly<Record<string, ModelSpec | undefined>>;
type Environment = Readonly<Record<string, string | undefined>>;

function labelOf(provider: string): string {
  if (!Object.hasOwn(agentClis, provider)) return NAMES[provider] ?? provider;
  const { title, hasManyProviders } = agentClis[provider as AgentCliName];
  return `${title}${hasManyProviders ? ' and the provider that is set up there' : ', as you are signed in there'}`;
}

/** Everybody who would read something, with what for. Simulated models are part of this process; of a handoff nothing is sent by us. */
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

/** More is sent than texts of sessions, so that it is agreed to by itself. */
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

/** Raise it when more is sent than before: what people agreed to was less. */
const CONSENT_VERSION = 1;

/** Who would read texts of sessions outside of this machine, and was not agreed to yet. */
export function withoutConsent(recipients: readonly Recipient[], state: SleepState): Recipient[] {
  return recipients.filter(
    ({ isRemote, provider }) => isRemote && !hasConsent(state, { provider, textVersion: CONSENT_VERSION }),
  );
}

/** What a person is asked, for one recipient. */
export const consentQuestion = ({ name, roles }: Recipient) =>
  `May these texts of your sessions be sent to ${name}, as ${roles.join(' and ')}? The answer yes is remembered.`;

/** The state once somebody has agreed. */
export function withConsent(state: SleepState, recipients: readonly Recipient[], by: string, at: string): SleepState {
  const give = (before: SleepState, { provider }: Recipient) =>
    giveConsent(before, { provider, by, at, textVersion: CONSENT_VERSION });
  return recipients.reduce(give, state);
}

/** Where nobody can be asked. `pages`: how the texts are seen. */
export function consentMissing(recipients: readonly Recipient[], pages?: string): SkillError {
  const names = recipients.map(({ name }) => name).join(', ');
  const providers = recipients.map(({ provider }) => provider).join(' ');
  return new SkillError('CONSENT_MISSING', `nobody agreed yet that texts of your sessions are sent to ${names}`, {
    hint: `Look at them ${pages === undefined ? 'in the plan of the night' : `with ${pages}`}, and agree once: consent ${providers}`,
  });
}
