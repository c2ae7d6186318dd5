import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const pages = ['.', 'docs', 'docs/decisions', 'docs/quality'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** Code by its path (`train/plan.ts`, from the root or from `src`), and links. Names of single files are no paths. */
function pathsIn(text: string): string[] {
  const code = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs))`/g)].map(([, path]) => path!);
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path!);
  return [...code, ...links].filter((path) => !path.includes('NAME')); // of a file that is yet to be written
}

it('pages name only files that exist', () => {
  const missing = pages.flatMap((page) =>
    pathsIn(readFileSync(page, 'utf8'))
      .filter((path) => !['', 'src', dirname(page)].some((root) => existsSync(join(root, path))))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});
