import { type AgentCliName, agentClis, agentPrograms, findAgents } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { defined, oneLine } from '../core/text/index.ts';
import {
  type AgentTarget,
  addressOf,
  agentTargetOf,
  type ModelRole,
  type ModelSpec,
  namedEndpoint,
  readPins,
} from '../project/index.ts';
import { isOfProject } from './settings/load-settings.ts';
import { giveConsent, hasConsent, type SleepState } from './state/sleep-state.ts';

export type SleepModels = Readonly<Record<'target' | 'optimizer' | 'judge', ModelSpec>> & {
  /** Whether the settings name them. Otherwise it is the first agent CLI that is pinned, or installed here. */
  readonly isChosen: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;
type ModelsByRole = Readonly<Record<string, ModelSpec | undefined>>;
type ModelPlace = { readonly place: { readonly env: Environment }; readonly project: string };

/** No model at all: questions are written to files, and an agent session answers them. For all roles or none. */
const HANDOFF = 'handoff';

export const isHandoff = (spec: ModelSpec) => spec === HANDOFF;

const invalid = (message: string, hint: string) => new SkillError('CONFIG_INVALID', message, { hint });

/** The models that the settings name; for other roles the target, or an installed agent CLI. */
export async function chooseModels(
  named: { [Role in 'target' | 'optimizer' | 'judge']?: ModelSpec | undefined },
  here: ModelPlace,
): Promise<SleepModels> {
  if (named.target === HANDOFF) return { target: HANDOFF, optimizer: HANDOFF, judge: HANDOFF, isChosen: true };
  if (named.optimizer === HANDOFF || named.judge === HANDOFF) {
    const message = 'expected handoff for the target, which is for all roles; got it for another one';
    throw invalid(message, 'Name it once, as the target.');
  }
  const optimizer = named.optimizer ?? inWords(named.target) ?? (await installedAgent(here));
  const target = named.target ?? optimizer;
  const isChosen = named.target !== undefined || named.optimizer !== undefined;
  return { target, optimizer, judge: named.judge ?? optimizer, isChosen };
}

/** For an agent with tools: its CLI as a chat model. The model behind another address or key is not known. */
function inWords(target: ModelSpec | undefined): ModelSpec | undefined {
  const spec = agentTargetOf({ target });
  if (spec === undefined) return target;
  const { agent, model, path, baseURL, apiKeyEnv } = spec;
  if (baseURL !== undefined || apiKeyEnv !== undefined)
    throw invalid(
      `${agent} as the target asks its model with a key or an address of its own, and no optimizer is named`,
      'Name the model that finds tasks, proposes edits and judges: optimizer: provider:model, beside the target.',
    );
  const { cli: provider } = agentPrograms[agent];
  return { provider, ...defined({ model, path }) };
}

async function installedAgent({ place: { env }, project }: ModelPlace): Promise<string> {
  const pins = await readPins(env);
  const pinned = Object.values(agentClis).find(({ cli }) => pins[cli] !== undefined);
  const agent = pinned?.cli ?? findAgents(env, project)[0]?.cli;
  if (agent !== undefined) return agent;
  throw invalid(
    'no model is named for the night, and no agent CLI is installed here',
    'Install and sign in to one (Claude Code, Codex, Gemini CLI …), or name a model: target: provider:model in the project file or in config.yaml in the state folder.',
  );
}

/** Whether a model can find tasks. A handoff would need a further round for it, so rules find them. */
export const canMine = (spec: ModelSpec) => !isSimulated(spec) && !isHandoff(spec);

/** A simulated model is part of this process: it reads no sessions and finds no tasks. */
export const isSimulated = (spec: ModelSpec) =>
  (typeof spec === 'string' ? spec : String(spec.provider)).startsWith('simulated');

type Role = 'target' | 'optimizer' | 'judge';

/** Where the model of a role may come from, first what counts most: as in `chooseModels`. */
const SOURCES: Readonly<Record<Role, readonly Role[]>> = {
  target: ['target', 'optimizer'],
  optimizer: ['optimizer', 'target'],
  judge: ['judge', 'optimizer', 'target'],
};

/** The roles whose models a project names. */
export function rolesOfProject(where: Parameters<typeof isOfProject>[1]): ReadonlySet<Role> {
  const sourceOf = (role: Role) => SOURCES[role].find((key) => where.origins[key] !== undefined);
  const isForeign = (role: Role) => isOfProject(sourceOf(role) ?? role, where);
  return new Set((Object.keys(SOURCES) as Role[]).filter(isForeign));
}

export type Recipient = {
  readonly provider: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly isRemote: boolean;
  /** Whether a project names the address, or the key that goes there: people are asked, also on this machine. */
  readonly isNamedByProject?: boolean;
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

/** Everybody who would read something, with their roles. Nothing is sent to simulated models or in a handoff. */
export function recipientsOf(
  models: ModelsByRole,
  env: Environment,
  /** The roles whose models a project names. */
  namedByProject: ReadonlySet<string> = new Set(),
): Recipient[] {
  const found = new Map<string, Recipient>();
  for (const [role, spec] of Object.entries(models)) {
    const isForeign = namedByProject.has(role);
    const reader = spec === undefined ? undefined : readerOf(spec, role as ModelRole, { env, isForeign });
    if (reader === undefined) continue;
    const roles = [...(found.get(reader.provider)?.roles ?? []), role];
    found.set(reader.provider, { ...found.get(reader.provider), ...reader, roles });
  }
  return [...found.values()];
}

type Reader = Omit<Recipient, 'roles'>;
type Naming = { readonly env: Environment; readonly isForeign: boolean };

function readerOf(spec: ModelSpec, role: ModelRole, { env, isForeign }: Naming): Reader | undefined {
  const agent = agentTargetOf({ target: spec });
  if (agent !== undefined) return agentReader(agent, isForeign);
  const name = typeof spec === 'string' ? spec.split(':')[0]! : String(spec.provider ?? '');
  if (name === 'simulated' || name === 'handoff') return undefined;
  const reader = readerAt(addressOf(spec, role, env), name, labelOf(name));
  return isForeign ? namedReader(reader, namedEndpoint(spec, role)) : reader;
}

/** Without an address it is the provider's own, which is never on this machine. */
function readerAt(address: string | undefined, provider: string, name: string): Reader {
  if (address === undefined) return { provider, name, isRemote: true };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLoopback = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const place = placeOf(url) ?? address.replace(/^.*@/, '…@');
  return { provider: `${provider}@${place}`, name: `${name} at ${place}`, isRemote: !isLoopback };
}

/** Scheme, host, port and path: another one is somebody else. Without a comma, which divides names of those agreed to. */
function placeOf(url: URL | undefined): string | undefined {
  return url && `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`.replaceAll(',', '%2C');
}

/** A project could send any variable to its own address: a person who agrees has seen which, and agrees to no other. */
function namedReader(reader: Reader, { baseURL, resource, apiKeyEnv }: ReturnType<typeof namedEndpoint>): Reader {
  if (baseURL === undefined && resource === undefined && apiKeyEnv === undefined) return reader;
  const isOwnPlace = !reader.provider.includes('@');
  const key = apiKeyEnv === undefined ? '' : oneLine(apiKeyEnv);
  return {
    ...reader,
    provider: key === '' || isOwnPlace ? reader.provider : `${reader.provider}#${key.replaceAll(',', '%2C')}`,
    name: `${reader.name}${key === '' ? '' : `, with the key in ${key}`}, as the project says`,
    isNamedByProject: true,
  };
}

/** An agent reads more than texts of sessions, so it needs a consent of its own. */
function agentReader(target: AgentTarget, isForeign: boolean): Reader {
  const { agent, baseURL } = target;
  const label = baseURL === undefined ? labelOf(agentPrograms[agent].cli) : agent;
  const found = readerAt(baseURL, `${agent}-agent`, label);
  const reader = isForeign ? namedReader(found, target) : found;
  return { ...reader, name: `${reader.name} (with tools: also files of this project that it opens)` };
}

/** Raise it when more is sent than people agreed to. */
const CONSENT_VERSION = 1;

/** Models of this machine need no consent, unless a project names where they are. */
export const needsConsent = ({ isRemote, isNamedByProject = false }: Recipient): boolean =>
  isRemote || isNamedByProject;

/** Recipients that nobody has agreed to yet, of those that need it. */
export function withoutConsent(recipients: readonly Recipient[], state: SleepState): Recipient[] {
  return recipients.filter(
    (one) => needsConsent(one) && !hasConsent(state, { provider: one.provider, textVersion: CONSENT_VERSION }),
  );
}

export const consentQuestion = ({ name, roles }: Recipient) =>
  `May these texts of your sessions be sent to ${name}, as ${roles.join(' and ')}? The answer yes is remembered.`;

export function withConsent(state: SleepState, recipients: readonly Recipient[], by: string, at: string): SleepState {
  const give = (before: SleepState, { provider }: Recipient) =>
    giveConsent(before, { provider, by, at, textVersion: CONSENT_VERSION });
  return recipients.reduce(give, state);
}

/** For when nobody can be asked. `pages`: the command that shows the texts. */
export function consentMissing(recipients: readonly Recipient[], pages?: string): SkillError {
  const names = recipients.map(({ name }) => name).join(', ');
  const providers = recipients.map(({ provider }) => provider).join(' ');
  return new SkillError('CONSENT_MISSING', `nobody agreed yet that texts of your sessions are sent to ${names}`, {
    hint: `Look at them ${pages === undefined ? 'in the plan of the night' : `with ${pages}`}, and agree once: consent ${providers}`,
  });
}
