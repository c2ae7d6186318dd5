import { StringDecoder } from 'node:string_decoder';
import type { Usage } from '../../core/contracts/index.ts';
import { type Fault, faultOf, type GatewayDialect, type Json } from './gateway-dialects.ts';

type Answer = { readonly dialect: GatewayDialect; readonly onUsage: (usage: Usage) => void };

/** Reads server-sent events as they pass, for what they tell of tokens, of faults and of their end. */
export function streamReader({ dialect, onUsage }: Answer) {
  const events = eventReader({ dialect, onUsage });
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let data: string[] = [];
  function readLine(line: string): void {
    if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    else if (line === '') {
      if (data.length > 0) events.read(data.join('\n'));
      data = [];
    }
  }
  return {
    add(chunk: Uint8Array) {
      const lines = `${rest}${decoder.write(Buffer.from(chunk))}`.split(/\r?\n/);
      rest = lines.pop()!;
      for (const line of lines) readLine(line);
    },
    /** Whether the provider has said all of it. */
    isWhole() {
      for (const line of [rest, '']) readLine(line); // a last event may come without an empty line behind it
      rest = '';
      return events.isWhole();
    },
    fault: events.fault,
  };
}

function eventReader({ dialect, onUsage }: Answer) {
  let [isWhole, fault, told]: [boolean, Fault | undefined, object] = [false, undefined, {}];
  return {
    read(text: string): void {
      if (text === '[DONE]') isWhole = true;
      const event = parse(text);
      if (typeof event !== 'object' || event === null) return;
      fault ??= faultOf(dialect.faultIn(event));
      isWhole ||= dialect.isLast(event);
      told = mergeTold(told, dialect.usageIn(event));
      if (dialect.usageIn(event)) onUsage(dialect.toUsage(told));
    },
    isWhole: () => isWhole,
    fault: () => fault,
  };
}

/** An answer in one piece, or undefined if it is none. Gemini may send a list where a stream was asked for. */
export function readWhole(
  text: string,
  { dialect, onUsage }: Answer,
): { readonly fault?: Fault | undefined } | undefined {
  const parsed = parse(text);
  const events: Json[] = Array.isArray(parsed) ? parsed : [parsed];
  if (events.length === 0 || events.some((event) => typeof event !== 'object' || event === null)) return undefined;
  const told = events.map((event) => dialect.usageIn(event)).reduce<object>(mergeTold, {});
  if (Object.keys(told).length > 0) onUsage(dialect.toUsage(told));
  return { fault: events.map((event) => faultOf(dialect.faultIn(event))).find((fault) => fault !== undefined) };
}

function mergeTold(told: object, more: object | undefined | null): object {
  const known = Object.entries(more ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...told, ...Object.fromEntries(known) };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Shorter values, such as the `none` that local servers want for a key, are no secrets but parts of many words. */
const SHORTEST_SECRET = 8;
const MASK = '***';

/** Bytes as they pass, with `secrets` masked, also where one is torn over two chunks. */
export function maskBytes(secrets: readonly string[]) {
  // One character for a byte, so that no chunk is torn in the midst of one.
  const masked = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .map((secret) => Buffer.from(secret).toString('latin1'));
  let waiting = '';
  return {
    /** What may pass of `chunk` now. What could be the beginning of a secret waits for the next. */
    add(chunk: Uint8Array): Buffer {
      const text = masked.reduce(
        (all, secret) => all.replaceAll(secret, MASK),
        waiting + Buffer.from(chunk).toString('latin1'),
      );
      const held = Math.max(0, ...masked.map((secret) => heldBack(text, secret)));
      waiting = text.slice(text.length - held);
      return Buffer.from(text.slice(0, text.length - held), 'latin1');
    },
    /** What still waits. */
    end(): Buffer {
      const rest = Buffer.from(waiting, 'latin1');
      waiting = '';
      return rest;
    },
  };
}

/** How many characters at the end of `text` are the beginning of `secret`. */
function heldBack(text: string, secret: string): number {
  const most = Math.min(secret.length - 1, text.length);
  for (let length = most; length > 0; length--) if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

export function maskText(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((all, secret) => all.replaceAll(secret, MASK), text);
}
