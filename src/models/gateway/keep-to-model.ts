import type { GatewayDialect, Json } from './gateway-dialects.ts';

/** What a call asks of the provider besides its model. */
export class AsksMoreError extends Error {
  constructor(what: string) {
    const named = what.slice(0, 200);
    super(`This run asks a model and nothing else of its provider, so ${named} is refused. No call was made.`);
  }
}

/**
 * A request as it may be sent with our key: the model is asked, and nothing else that its provider could do. Providers search,
 * fetch pages, run code and call servers for whoever asks. That leads out of a sandbox without a network, and costs what no limit
 * counts. Such tools are taken out, so that an agent that lists one beside its own keeps working. A call that has no others, or
 * asks in another way, is refused with `AsksMoreError`: without them, its answer would not be what the agent takes it for.
 * What needs no change is returned as it is, and can be sent as it came: in a copy, numbers of more than 15 digits could differ.
 */
export const keepToModel = (body: Json, { clientTool }: Pick<GatewayDialect, 'clientTool'>): Json =>
  kept(body, { clientTool, isSetting: true });

/** Of all spellings: some servers read names in camel case as well as with underscores, and some in any case. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Settings by which a provider does more than generate, with what it was sent, or with a model that is not named in `model`. */
const ELSEWHERE = new Set([
  ...['mcpservers', 'container', 'websearchoptions', 'searchparameters', 'searchoptions', 'enablesearch', 'plugins'],
  ...['datasources', 'connectors', 'models', 'fallbacks'],
  'prompt', // one that is kept at the provider, with tools of its own
  'background', // its answer comes later, and nothing counts it
]);
/** Objects that hold settings too: of a request with a Google sign-in, and of a provider behind another one's API. */
const MORE_SETTINGS = new Set(['request', 'extrabody', 'google']);

/** What a model or a tool of the agent said, and schemas: no provider follows an address in these. */
const SAID = new Set([
  ...['args', 'response', 'arguments', 'action', 'operation', 'annotations', 'citations', 'functions', 'text'],
  ...[
    'responseformat',
    'outputconfig',
    'outputformat',
    'responseschema',
    'responsejsonschema',
    'metadata',
    'clientmetadata',
  ],
]);

/** Parts of a message that may be given as an address, from which the provider then fetches them. */
const MEDIA = new Set([
  ...[
    'image',
    'imageurl',
    'video',
    'videourl',
    'audio',
    'audiourl',
    'inputaudio',
    'file',
    'fileurl',
    'filedata',
    'fileuri',
  ],
]);
const MEDIA_NAMES = new Set(['filename', 'displayname', 'name', 'title', 'type', 'mimetype']);

type Place = Pick<GatewayDialect, 'clientTool'> & { readonly isSetting: boolean };

function kept(value: Json, place: Place): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return changed(
      value,
      value.map((entry) => kept(entry, { ...place, isSetting: false })),
    );
  refuseAddress(value);
  const entries = Object.entries<Json>(value);
  if (place.isSetting) refuseSettings(entries);
  const isToolCall = String(value.type).endsWith('tool_use');
  const after = entries.map(([key, entry]) => {
    const name = plainName(key);
    const isSaid = SAID.has(name) || (isToolCall && name === 'input');
    if (isSaid && typeof entry === 'object') return entry;
    if (name === 'tools') return keptTools(entry, place);
    if (MEDIA.has(name) && isElsewhere(entry)) throw fetched(key);
    return kept(entry, { ...place, isSetting: place.isSetting && MORE_SETTINGS.has(name) });
  });
  if (after.every((entry, at) => entry === entries[at]![1])) return value;
  return Object.fromEntries(entries.map(([key], at) => [key, after[at]]));
}

const changed = (before: Json[], after: Json[]): Json[] =>
  after.length === before.length && after.every((entry, at) => entry === before[at]) ? before : after;

function refuseSettings(entries: readonly (readonly [string, Json])[]): void {
  const names = entries.map(([key]) => plainName(key));
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (twin !== undefined) throw new AsksMoreError(`${twin}, which is there in two spellings,`);
  const asked = entries.find(([key, value]) => ELSEWHERE.has(plainName(key)) && !isNothing(value));
  if (asked !== undefined) throw new AsksMoreError(asked[0]);
}

const isNothing = (value: Json) => value === null || value === false || (Array.isArray(value) && value.length === 0);

/** A source of Anthropic, and an image of some other servers, is named beside its address. */
function refuseAddress(value: Json): void {
  const kind = plainName(String(value.type));
  if ((kind === 'url' || MEDIA.has(kind)) && valuesOf(value, 'url').some(isElsewhere)) throw fetched('url');
}

const fetched = (key: string) => new AsksMoreError(`an address in ${key}, which the provider would fetch,`);

/** An address, or a part that holds one. A part in the request itself is a data URL, or base64, which has no colon. */
function isElsewhere(value: Json): boolean {
  if (typeof value === 'string') return SCHEME.test(value) && !/^data:/i.test(value.trimStart());
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, entry]) => !MEDIA_NAMES.has(plainName(key)) && isElsewhere(entry));
}

/** Clients that fetch pass over blanks and control characters in it. */
const SCHEME = /^[\s\p{Cc}]*[a-z](?:[\s\p{Cc}]*[a-z0-9+.-]){0,40}[\s\p{Cc}]*:/iu;

function keptTools(tools: Json, place: Place): Json {
  if (tools === null) return tools;
  if (!Array.isArray(tools)) throw new AsksMoreError('a setting of tools that is no list');
  const after = tools.flatMap((tool) => {
    const client = isObject(tool) ? place.clientTool(tool) : undefined;
    if (client?.tools === undefined) return client ?? [];
    const inner = keptTools(client.tools, { ...place, isSetting: false });
    return inner === client.tools ? client : { ...client, tools: inner };
  });
  if (place.isSetting && tools.length > 0 && after.length === 0)
    throw new AsksMoreError(`${tools.map(kindOf).join(', ')}, which runs at the provider,`);
  return changed(tools, after);
}

const isObject = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value);

const kindOf = (tool: Json): string =>
  isObject(tool) ? String(valuesOf(tool, 'type')[0] ?? Object.keys(tool).join(', ')) : String(tool);

/** By any spelling of a name. */
export const valuesOf = (object: Json, name: string): Json[] =>
  Object.entries<Json>(object).flatMap(([key, value]) => (plainName(key) === name ? [value] : []));
