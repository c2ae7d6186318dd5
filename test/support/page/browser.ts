import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';

/** Where tests build the page, apart from `dist`, which other tests make again. */
export const BUILT = '.cache/page';

export const buildPage = () =>
  build({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: `../../${BUILT}` } });

/** Root has no sandbox in it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

export type Served = AsyncDisposable & { readonly url: string };

export async function serveApp(app: Hono, port = 0): Promise<Served> {
  const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
  if (!server.listening) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  };
}

/** What a reader would see as broken: errors of the page and of its console. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  return faults;
}

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

const RUN_AXE = `axe.run().then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`;

/** Violations that axe finds, with the places. Injected by the debugger: the policy of the page blocks other scripts. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(RUN_AXE);
}

export const countNodes = (page: Page): Promise<number> => page.evaluate("document.querySelectorAll('*').length");
