import type { GatewayDialect, Json } from './gateway-dialects.ts';
import { plainName, valuesOf } from './plain-names.ts';

/** What a call asks of the provider besides its model. */
export class AsksMoreError extends Error {
  constructor(what: string) {
    const named = what.slice(0, 200);
    super(`This run asks a model and nothing else of its provider, so ${named} is refused. No call was made.`);
  }
}

/**
 * A request as it may be sent with our key: the model is asked, and nothing else that its provider could do. Providers search,
 * fetch pages, run code and call servers for everybody who asks. That leads out of a sandbox without a network, and costs what no limit
 * counts. Such tools are taken out, so that an agent that lists one beside its own keeps working. A call that has no others, or
 * asks in another way, is refused with `AsksMoreError`: without them, its answer would not be what the agent takes it for.
 * What needs no change is returned as it is, and can be sent as it came: in a copy, numbers of more than 15 digits could differ.
 */
export const keepToModel = (body: Json, { clientTool }: Pick<GatewayDialect, 'clientTool'>): Json =>
  kept(body, { clientTool, isSetting: true });

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
  ...['args', 'response', 'arguments', 'action', 'operation', 'annotations', 'citations', 'metadata', 'clientmetadata'],
  ...['functions', 'text', 'responseformat', 'outputconfig', 'outputformat', 'responseschema', 'responsejsonschema'],
]);

/** Parts of a message that may be given as an address, from which the provider then fetches them. */
const MEDIA = new Set([
  ...['image', 'imageurl', 'video', 'videourl', 'audio', 'audiourl', 'inputaudio'],
  ...['file', 'fileurl', 'filedata', 'fileuri'],
]);
const MEDIA_NAMES = new Set(['filename', 'displayname', 'name', 'title', 'type', 'mimetype']);

type Place = Pick<GatewayDialect, 'clientTool'> & { readonly isSetting: boolean };

/** In loops without lists beside them: a request of 20 MB may hold millions of values, and all others wait for this. */
function kept(value: Json, place: Place): Json {
  if (typeof value !== 'object' || value === null) return value;
  const inner = place.isSetting ? { ...place, isSetting: false } : place;
  let copy: Json;
  const set = (key: number | string, after: Json) => {
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    copy[key] = after;
  };
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const after = kept(value[at], inner);
      if (after !== value[at]) set(at, after);
    }
    return copy ?? value;
  }
  refuseAddress(value);
  if (place.isSetting) refuseSettings(Object.entries(value));
  for (const key in value) {
    const after = keptEntry(key, value, { place, inner });
    if (after !== value[key]) set(key, after);
  }
  return copy ?? value;
}

function keptEntry(key: string, { [key]: entry, type }: Json, { place, inner }: { place: Place; inner: Place }): Json {
  if (entry === null || (typeof entry !== 'object' && typeof entry !== 'string')) return entry;
  const name = plainName(key);
  if (MEDIA.has(name) && isElsewhere(entry)) throw fetched(key);
  if (SAID.has(name) || (name === 'input' && typeof type === 'string' && type.endsWith('tool_use'))) return entry;
  if (name === 'tools') return keptTools(entry, place);
  return kept(entry, MORE_SETTINGS.has(name) ? place : inner);
}

function refuseSettings(entries: readonly (readonly [string, Json])[]): void {
  const names = new Set<string>();
  for (const [key, value] of entries) {
    const name = plainName(key);
    if (names.has(name)) throw new AsksMoreError(`${key}, which is there in two spellings,`);
    if (ELSEWHERE.has(name) && !isNothing(value)) throw new AsksMoreError(key);
    names.add(name);
  }
}

const isNothing = (value: Json) => value === null || value === false || (Array.isArray(value) && value.length === 0);

/** A source of Anthropic, and an image of some other servers, is named beside its address. */
function refuseAddress(value: Json): void {
  if (typeof value.type !== 'string') return;
  const kind = plainName(value.type);
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
  return after.length === tools.length && after.every((tool, at) => tool === tools[at]) ? tools : after;
}

const isObject = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value);

const kindOf = (tool: Json): string =>
  isObject(tool) ? String(valuesOf(tool, 'type')[0] ?? Object.keys(tool).join(', ')) : String(tool);
