import type { IncomingHttpHeaders } from 'node:http';

/** What belongs to one connection, or is counted anew for the next. */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings', 'host', 'expect', 'content-length', 'accept-encoding'],
];

/** Where clients put what they sign in with. */
const SIGN_IN = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];

export type PlainHeaders = Record<string, string | string[]>;

export function withoutHops(headers: IncomingHttpHeaders | PlainHeaders): PlainHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] =>
      entry[1] !== undefined && !HOP_BY_HOP.includes(entry[0]) && !named.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** The caller's headers with `own` sign-in in place of its own; with its own if there is none. Answers are to come unpacked. */
export function requestHeaders(headers: IncomingHttpHeaders, own: Readonly<Record<string, string>>): PlainHeaders {
  const passed = Object.entries(withoutHops(headers)).filter(
    ([name]) => Object.keys(own).length === 0 || !SIGN_IN.includes(name),
  );
  return { ...Object.fromEntries(passed), 'accept-encoding': 'identity', ...lowerCase(own) };
}

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** What a caller that signs in itself must not read in a message either. */
export function signInOf(headers: IncomingHttpHeaders): string[] {
  return SIGN_IN.map((name) => headers[name])
    .filter((value) => typeof value === 'string')
    .map((value) => value.replace(/^(Bearer|Basic) /, ''));
}
