import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

const IMPORT = /(?:\bfrom|\bimport|\brequire\s*\()\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]*)\1/g;
const ENDINGS = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js', '/index.mjs'];

/** A module and the files that it imports by relative paths, and those that they import, with their texts; the module first. */
export async function moduleFiles(path: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const visit = async (file: string): Promise<void> => {
    if (files.has(file)) return;
    const text = await readFile(file, 'utf8');
    files.set(file, text);
    for (const [, , specifier] of text.matchAll(IMPORT)) {
      const found = fileOf(resolve(dirname(file), specifier!));
      if (found !== undefined) await visit(found);
    }
  };
  await visit(path);
  return files;
}

/** TypeScript names the file that will be made of it: `./x.js` may be `./x.ts`. */
function fileOf(path: string): string | undefined {
  const typed = path.replace(/\.([cm]?)js$/, '.$1ts');
  return [...ENDINGS.map((ending) => path + ending), typed].find(isFile);
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

const LOCK_FILES = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];

/** What is installed for a module: the lock file of its folder, or of the nearest one above that has one. */
export function lockFileOf(folder: string): string | undefined {
  const found = LOCK_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  const above = dirname(folder);
  return found ?? (above === folder ? undefined : lockFileOf(above));
}
