import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'vite';

/** Builds the page into dist/web, unless it is there. */
export async function buildPage(): Promise<void> {
  if (!existsSync('dist/web/index.html')) await build({ configFile: resolve('vite.config.ts'), logLevel: 'warn' });
}
