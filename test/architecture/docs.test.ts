import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { shipped } from '../../scripts/release/source-checks.ts';
import { floors } from './floors.ts';

const { homepage } = JSON.parse(readFileSync('package.json', 'utf8')) as { homepage: string };

const FOLDERS = ['.', 'docs', 'docs/from', 'docs/decisions', 'docs/quality'];
const pages = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** How pages of the package link to what is not in it. */
const IN_REPOSITORY = homepage.replace('#readme', '/blob/main/');

type Link = { readonly path: string; readonly anchor: string | undefined; readonly isAddress: boolean };

/** From one page to others of ours, in the text or as a definition below it; their paths are from the root. */
function linksOf(page: string): Link[] {
  const text = readFileSync(page, 'utf8');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]^]+\]: (\S+)$/gm)].map((match) => match[1] ?? match[2]!);
  return targets.flatMap((target) => {
    const isAddress = target.startsWith(IN_REPOSITORY);
    if (!isAddress && /^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.replace(IN_REPOSITORY, '').split('#');
    return [{ path: isAddress ? path : path === '' ? page : join(dirname(page), path), anchor, isAddress }];
  });
}

/** Code by its path (`train/plan.ts`, from the root or from `src`). Names of single files are no paths. */
function codeIn(text: string): string[] {
  const paths = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs))`/g)].map(([, path]) => path!);
  return paths.filter((path) => !path.includes('NAME')); // of a file that is yet to be written
}

it('pages name only files that exist', () => {
  const missing = pages.flatMap((page) => {
    const code = codeIn(readFileSync(page, 'utf8')).filter(
      (path) => !['', 'src', dirname(page)].some((root) => existsSync(join(root, path))),
    );
    const links = linksOf(page).filter(({ path }) => !existsSync(path));
    return [...code, ...links.map(({ path }) => path)].map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

it('AGENTS.md tells each of five acts by at most four files that exist', () => {
  const [, table = ''] = /^## Five acts.*?^\|---\|---\|\n(.*?)\n\n/ms.exec(readFileSync('AGENTS.md', 'utf8')) ?? [];
  const acts = table.split('\n').map(codeIn);
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
    linksOf(page)
      .filter(({ path, anchor }) => anchor !== undefined && !anchorsOf(path).includes(anchor))
      .map(({ path, anchor }) => `${page}: ${path}#${anchor}`),
  );
  expect(missing).toEqual([]);
});

it.each([
  ['docs/README.md', ['docs', 'docs/from']],
  ['docs/quality/README.md', ['docs/quality']],
  ['CONTRIBUTING.md', ['docs/decisions']],
])('%s lists every page of its folders', (list, folders) => {
  const listed = linksOf(list).map(({ path }) => path);
  const others = pages.filter((page) => folders.includes(dirname(page)) && page !== list);
  expect(others.length).toBeGreaterThan(5);
  expect(others.filter((page) => !listed.includes(page))).toEqual([]);
});

it('the README fits a window of 120 columns', () => {
  const wide = readFileSync('README.md', 'utf8')
    .split('\n')
    .filter((line) => line.length > 120);
  expect(wide).toEqual([]);
});

it('pages of the package link to what is in it, and to the rest by its address in the repository', () => {
  const packed = pages.filter((page) => shipped(page) && page !== 'README.md'); // npm shows that one with links of the repository
  expect(packed.length).toBeGreaterThan(20);
  const wrong = packed.flatMap((page) =>
    linksOf(page)
      .filter(({ path, isAddress }) => shipped(path) === isAddress)
      .map(({ path }) => `${page}: ${path}`),
  );
  expect(wrong).toEqual([]);
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
