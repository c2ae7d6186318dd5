import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMissing } from '../stores/index.ts';
import { Refusal } from './failure.ts';

const FOLDER = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const ASSETS = join(FOLDER, 'assets');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export const typeOf = (name: string) => TYPES[extname(name)] ?? 'application/octet-stream';

const listed = async (): Promise<string[]> =>
  readdir(ASSETS).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });

/** The page as it was built: nothing else is served. */
export async function readIndex(): Promise<string> {
  return readFile(join(FOLDER, 'index.html'), 'utf8').catch((error) => {
    if (!isMissing(error)) throw error;
    throw new Refusal(404, 'the page is not built, and its data is', 'In a clone, build it with: npm run build');
  });
}

/** By its exact name in the folder: a path cannot be asked for. */
export async function readAsset(name: string): Promise<Buffer> {
  if ((await listed()).includes(name)) return readFile(join(ASSETS, name));
  throw new Refusal(404, 'there is no such file', 'Reload the page.');
}

/** All scripts and styles of the page. */
export async function readAssets(): Promise<{ name: string; text: string }[]> {
  const names = (await listed()).filter((name) => /\.(js|css)$/.test(name));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(ASSETS, name), 'utf8') })));
}
