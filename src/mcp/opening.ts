import type { Readable } from 'node:stream';
import { isObject } from '../core/text/index.ts';

export type McpOptions = {
  readonly input: Readable;
  readonly write: (text: string) => unknown;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an agent may start a night without asking the person each time. */
  readonly mayRun: boolean;
  /** A command as the person can type it. */
  readonly called: (command: string) => string;
};

export const SERVER_NAME = 'skillopt';

export const INSTRUCTIONS =
  'Nights learn from past sessions of coding agents and propose better skills. Pass the absolute path of the project. Adopting is up to the person: show the command.';

/** Versions whose handshake is the same; later ones are answered by the SDK. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** What lacks in the params of an `initialize`; nothing where the SDK can take it. */
export function openingProblem({ method, params = {} }: Readonly<Record<string, unknown>>): string | undefined {
  if (method !== 'initialize' || !isObject(params) || '_meta' in params) return undefined;
  const { protocolVersion, capabilities, clientInfo } = params;
  const lacks = [
    ...(typeof protocolVersion === 'string' ? [] : ['protocolVersion (text)']),
    ...(isObject(capabilities) ? [] : ['capabilities (an object)']),
    ...(isObject(clientInfo) && hasTexts(clientInfo, ['name', 'version']) ? [] : ['clientInfo (name and version)']),
  ];
  return lacks.length === 0 ? undefined : `initialize needs ${lacks.join(', ')}`;
}

/** What the SDK answers to a first `initialize`; nothing where it should answer itself. */
export function openingAnswer({ id, method, params }: Readonly<Record<string, unknown>>, version: string) {
  if (method !== 'initialize' || id === undefined || !isObject(params) || '_meta' in params) return undefined;
  const { protocolVersion, capabilities, clientInfo } = params;
  const isWhole = isObject(capabilities) && isObject(clientInfo) && hasTexts(clientInfo, ['name', 'version']);
  if (!isWhole || !VERSIONS.includes(String(protocolVersion))) return undefined;
  const result = {
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: SERVER_NAME, version },
    instructions: INSTRUCTIONS,
  };
  return { result, jsonrpc: '2.0', id };
}

const hasTexts = (value: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  keys.every((key) => typeof value[key] === 'string');
