import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { floors } from './floors.ts';

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

it('AGENTS.md tells each of five acts by at most four files that exist', () => {
  const [, table = ''] = /^## Five acts.*?^\|---\|---\|\n(.*?)\n\n/ms.exec(readFileSync('AGENTS.md', 'utf8')) ?? [];
  const acts = table.split('\n').map((row) => pathsIn(row));
  expect(acts.map((files) => files.length >= 1 && files.length <= 4)).toEqual(Array(5).fill(true));
  expect(acts.flat().filter((path) => !existsSync(join('src', path)))).toEqual([]);
});

/** As GitHub names the headings of a page in links. */
function anchorsOf(page: string): string[] {
  const headings = readFileSync(page, 'utf8')
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('links to a heading name one that exists', () => {
  const missing = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)]
      .map(([, path, anchor]) => ({ to: path === '' ? page : join(dirname(page), path!), anchor: anchor! }))
      .filter(({ to, anchor }) => !anchorsOf(to).includes(anchor))
      .map(({ to, anchor }) => `${page}: ${to}#${anchor}`),
  );
  expect(missing).toEqual([]);
});

it('docs/README.md lists every page', () => {
  const listed = pathsIn(readFileSync('docs/README.md', 'utf8')).map((path) => join('docs', path));
  const others = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(others.filter((page) => !listed.includes(page))).toEqual([]);
});

it('the README fits a window of 120 columns', () => {
  const wide = readFileSync('README.md', 'utf8')
    .split('\n')
    .filter((line) => line.length > 120);
  expect(wide).toEqual([]);
});

/** What npm packs besides what `files` names. */
const ALWAYS = ['README.md', 'LICENSE', 'package.json'];

/** Read in the repository, as code is. */
const IN_REPOSITORY = /\.ts$|^docs\/(?:decisions|images|quality)(?:\/|$)|^(?:AGENTS|CONTRIBUTING)\.md$/;

it('pages of the package link to pages that are in the package, and to what is read in the repository', () => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  const isIn = (path: string, entries: readonly string[]) =>
    entries.some((entry) => path === entry || path.startsWith(`${entry}/`));
  const left = files.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  const isPacked = (path: string) => isIn(path, [...files, ...ALWAYS]) && !isIn(path, left);
  const links = pages
    .filter(isPacked)
    .flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(
        ([, path]) => [page, join(dirname(page), path!)] as const,
      ),
    );
  expect(links.length).toBeGreaterThan(20);
  expect(
    links.filter(([, path]) => !isPacked(path) && !IN_REPOSITORY.test(path)).map(([page, path]) => `${page}: ${path}`),
  ).toEqual([]);
});

/** The floors as AGENTS.md shows them, the top one first. */
function floorTable(): string {
  const rows = floors.flatMap((rooms, at) =>
    Object.entries(rooms).map(([room, what]) => `| ${at} | \`${room}\` | ${what} |`),
  );
  return ['| floor | room in `src` | what it holds |', '|---:|---|---|', ...rows.reverse()].join('\n');
}

/** The floors as CONTRIBUTING.md names them, from the ground up. */
const floorLine = () =>
  floors
    .map((rooms) =>
      Object.keys(rooms)
        .map((room) => `\`${room}\``)
        .join(' '),
    )
    .join(' ← ');

it.each([
  ['AGENTS.md', floorTable],
  ['CONTRIBUTING.md', floorLine],
])('%s has the floors of test/architecture/floors.ts; WRITE_DOCS=1 writes them', (page, render) => {
  const text = readFileSync(page, 'utf8');
  const block = `<!-- floors -->\n${render()}\n<!-- end of floors -->`;
  const written = text.replace(/<!-- floors -->[\s\S]*<!-- end of floors -->/, () => block);
  if (process.env.WRITE_DOCS === '1') writeFileSync(page, written);
  expect(written).toContain(block);
  expect(text === written || process.env.WRITE_DOCS === '1').toBe(true);
});
