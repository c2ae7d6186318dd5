import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import type { Environment, ModelContext, Place } from './provider.ts';

/**
 * A key in the usual variable of a provider goes to the provider's own address, and to one that the person says: in a variable
 * of the shell, in a flag, in settings of their own. To another address that a project says goes only the key that `apiKeyEnv`
 * names there, whatever machine that address is on. Everything that looks for a key asks this file.
 */
type UsualKey = {
  /** The first variable that is set counts. */
  readonly keys: readonly string[];
  /** Origins where only the provider answers. */
  readonly own: RegExp;
  /** Variables in which a person may say another address. */
  readonly addresses: readonly string[];
};

const AZURE =
  /^https:\/\/[\w-]+\.(?:openai\.azure\.(?:com|us|cn)|cognitiveservices\.azure\.(?:com|us|cn)|services\.ai\.azure\.com)$/;

export const USUAL_KEYS = {
  openai: {
    keys: ['OPENAI_API_KEY'],
    own: /^https:\/\/(?:\w\w\.)?api\.openai\.com$/,
    addresses: ['OPENAI_BASE_URL'],
  },
  azure: { keys: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'], own: AZURE, addresses: ['AZURE_OPENAI_ENDPOINT'] },
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    own: /^https:\/\/api\.anthropic\.com$/,
    addresses: ['ANTHROPIC_BASE_URL'],
  },
  google: {
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    own: /^https:\/\/generativelanguage\.googleapis\.com$/,
    addresses: ['GOOGLE_GEMINI_BASE_URL'],
  },
  minimax: {
    keys: ['MINIMAX_API_KEY'],
    own: /^https:\/\/api\.(?:minimax\.io|minimaxi\.com)$/,
    addresses: ['MINIMAX_BASE_URL'],
  },
} as const satisfies Readonly<Record<string, UsualKey>>;

/** Where a model is called, and who says so. */
export type Address = { readonly url: string; readonly place: Place };

type KeyedOptions = { readonly apiKeyEnv?: string | undefined; readonly baseURL?: string | undefined };

/** The address that the spec names, else the one in a variable. `undefined`: the provider's default. */
export function addressFrom(
  written: string | undefined,
  { specPlace, readSetting, placeOf }: ModelContext,
  variable?: string,
): Address | undefined {
  if (written) return { url: written, place: specPlace };
  const url = variable && readSetting(variable);
  return url ? { url, place: placeOf(variable) } : undefined;
}

/** The key that the options name, else a usual one. Throws if there is none, or if a usual one must not go to the address. */
export function keyFor(
  provider: keyof typeof USUAL_KEYS,
  { apiKeyEnv, baseURL }: KeyedOptions,
  context: ModelContext,
  address: Address | undefined = addressFrom(baseURL, context),
): ReturnType<ModelContext['readKey']> {
  if (apiKeyEnv !== undefined) return context.readKey(apiKeyEnv);
  const key = context.readKey(...USUAL_KEYS[provider].keys);
  requireOwn(provider, address, context, key.apiKeyVariable);
  return key;
}

/** Throws unless what `variable` holds may go to an address. Without a variable it is the sign-in of a program. */
export function requireOwn(
  provider: keyof typeof USUAL_KEYS,
  address: Address | undefined,
  context: ModelContext,
  variable?: string,
): void {
  const { own, addresses, keys }: UsualKey = USUAL_KEYS[provider];
  if (address === undefined || !URL.canParse(address.url)) return; // the provider refuses what is no address
  if (own.test(new URL(address.url).origin)) return;
  if (mayHave(address, addresses, context, variable === undefined ? undefined : context.placeOf(variable))) return;
  const [who, block] = [`the ${context.role} (${provider})`, `provider: ${provider}, model: …`];
  const isNameable = variable !== undefined && keys.includes(variable);
  throw refusal({ who, block, address, variable, isNameable, exported: addresses[0] });
}

/** Whether the key at a place may go to an address that is not the provider's own. */
export function mayHave(
  { url, place }: Address,
  addresses: readonly string[],
  { placeOf, readSetting }: Pick<ModelContext, 'placeOf' | 'readSetting'>,
  keyPlace: Place | undefined,
): boolean {
  if (place === 'person') return true;
  if (addresses.some((name) => placeOf(name) === 'person' && isSame(url, readSetting(name)))) return true;
  return place === '.env' && keyPlace === '.env'; // who wrote the one wrote the other
}

/** With the path, since one host may serve many people. */
const isSame = (one: string, other: string | undefined) =>
  other !== undefined && URL.canParse(one) && URL.canParse(other) && shown(one) === shown(other);

/** Without a user, a password and a query, which may be secret. */
function shown(url: string): string {
  if (!URL.canParse(url)) return 'an address that is none';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}`;
}

type Refused = {
  readonly who: string;
  /** The beginning of its block in the project file. */
  readonly block: string;
  readonly address: Address;
  /** That holds the key; none for the sign-in of a program. */
  readonly variable: string | undefined;
  /** Whether `apiKeyEnv` may name it: a token is none. */
  readonly isNameable: boolean;
  /** In which a person may say the address. */
  readonly exported: string | undefined;
};

function refusal({ who, block, address, variable, isNameable, exported }: Refused): SkillError {
  const url = shown(address.url);
  const says = address.place === '.env' ? 'the file .env says' : 'the project says';
  const what = variable === undefined ? 'your sign-in' : `the key in ${variable}`;
  const message = `${who} is called at ${url}, as ${says}, and ${what} goes there only if you say so`;
  const lines = [
    isNameable && `write apiKeyEnv: ${variable} beside it, as in { ${block}, baseURL: ${url}, apiKeyEnv: ${variable} }`,
    exported && `export ${exported}=${url}`,
  ].filter(Boolean);
  return new SkillError('CONFIG_INVALID', message, { hint: `If it belongs to that address: ${lines.join('. Or: ')}` });
}

type AgentSpec = {
  readonly agent: AgentName;
  readonly model?: string | undefined;
  readonly baseURL?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
};

type AgentPlaces = {
  /** The variables of the person, and those of the file `.env`. */
  readonly env: Environment;
  readonly fromFile: Environment;
  readonly isSpecOwn: boolean;
};

/** Names of variables that say where a program asks. */
const ADDRESS = /_(?:BASE_URL|ENDPOINT|API_HOST|RESOURCE_NAME)$/;

/**
 * The variables for an agent with tools. The rule is the same for its key and its sign-in. Throws if one of them would go to an
 * address that a project says.
 */
export function agentVariables(
  { agent, model, baseURL, apiKeyEnv }: AgentSpec,
  { env, fromFile, isSpecOwn }: AgentPlaces,
): Environment {
  const { provider, keyVariables } = agentPrograms[agent];
  const all = { ...fromFile, ...env };
  if (apiKeyEnv !== undefined) return all;
  const asked = provider(all, model);
  const url = baseURL ?? asked.baseURL;
  const isOwn = isAtOrigin(url, provider({}, model).baseURL) || isSame(url, provider(env, model).baseURL);
  const variable = keyVariables.find((name) => all[name] && all[name] === asked.key);
  const isNameable = variable !== undefined;
  const refused = { who: `the agent ${agent}`, block: `agent: ${agent}`, variable, isNameable };
  if (baseURL !== undefined) {
    if (isSpecOwn || isOwn || !asked.key) return all;
    throw refusal({ ...refused, address: { url, place: 'project' }, exported: undefined });
  }
  if (asked.key && asked.key === provider(fromFile, model).key) return all;
  const exported = Object.keys(fromFile).find((name) => fromFile[name] === url);
  if (!isOwn) throw refusal({ ...refused, address: { url, place: '.env' }, exported });
  return { ...Object.fromEntries(Object.entries(fromFile).filter(([name]) => !ADDRESS.test(name))), ...env };
}

const isAtOrigin = (url: string, other: string) =>
  URL.canParse(url) && URL.canParse(other) && new URL(url).origin === new URL(other).origin;
