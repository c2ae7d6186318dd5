import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { Refusal } from './failure.ts';

type Guarded = {
  readonly token: string;
  /** Exactly as a browser sends them: `127.0.0.1:4317`. */
  readonly hosts: readonly string[];
};

const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** No HSTS: the next server on this port may be another one, without TLS. */
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

const REOPEN = 'Open the address that was printed when the page was started: it holds the token.';

/** Lets nobody in but the person who started the server: not another site in their browser, and no other user. */
export function guard({ token, hosts }: Guarded): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    requireOwnHost(context, hosts);
    if (!isRead(context)) requireOwnPage(context);
    if (context.req.path !== '/open' && !isSame(getCookie(context, cookieName(context)) ?? '', token))
      throw new Refusal(401, 'this page was not opened with its token', REOPEN);
    await next();
  };
}

const hostOf = ({ req }: Context) => req.header('host') ?? new URL(req.url).host;

/** A name of another site may lead here (DNS rebinding), and a page of another site may send requests here. */
function requireOwnHost(context: Context, hosts: readonly string[]): void {
  const [host, origin, site] = [
    hostOf(context),
    context.req.header('origin'),
    context.req.header('sec-fetch-site') ?? 'none',
  ];
  const isOwnOrigin = origin === undefined || hosts.some((name) => origin === `http://${name}`);
  if (hosts.includes(host) && isOwnOrigin && ['same-origin', 'none'].includes(site)) return;
  throw new Refusal(403, 'this server answers only its own page', REOPEN);
}

const isRead = ({ req }: Context) => req.method === 'GET' || req.method === 'HEAD';

/** A form of another site can send neither. */
function requireOwnPage({ req }: Context): void {
  const isJson = /^application\/json(;|$)/.test(req.header('content-type') ?? '');
  if (req.header('x-skillopt') === '1' && isJson) return;
  throw new Refusal(403, 'a change needs JSON and the header X-Skillopt: 1', 'Use the buttons of the page.');
}

/** Cookies are shared by all ports of a host. */
const cookieName = (context: Context) => `skillopt-${/:(\d+)$/.exec(hostOf(context))?.[1] ?? '80'}`;

const digest = (text: string) => createHash('sha256').update(text).digest();
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));

/**
 * The path below which the page and all that it asks for lie. A browser sends a cookie to every port of a host: without a path that
 * only this server and its page know, a server of somebody else on this machine would be sent the token.
 */
export const homeOf = (token: string): string =>
  `/${createHash('sha256').update(`home of ${token}`).digest('base64url')}`;

/** Changes the token of the address into a cookie. */
export function admit(context: Context, token: string): Response {
  if (!isSame(context.req.query('token') ?? '', token))
    throw new Refusal(401, 'this is not the token of this server', REOPEN);
  setCookie(context, cookieName(context), token, { httpOnly: true, sameSite: 'Strict', path: `${homeOf(token)}/` });
  return context.redirect(`${homeOf(token)}/`);
}
