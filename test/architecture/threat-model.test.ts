import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/threat-model.md', 'utf8');

/** The rows of the tables of promises: those of the page up to what is not tested. */
const rows = page
  .slice(0, page.indexOf('\n## Promised by construction'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| who |'));

type Held = { readonly file: string; readonly title: string };

/** The test that a row names in its last cell. */
function heldBy(row: string): Held | undefined {
  const [, file, title] = /\| `(test\/[^`]+\.ts)`: «([^»]+)» \|$/.exec(row) ?? [];
  return file === undefined ? undefined : { file, title: title! };
}

/** As the first argument of a call, in any quotes: a title of a test, and not words in a comment. */
function hasTest({ file, title }: Held): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  return ['"', "'", '`'].some((quote) => {
    const parts = source.split(`${quote}${title}${quote}`);
    return parts.slice(1).some((after, at) => /\(\s*$/.test(parts[at]!) && /^\s*,/.test(after));
  });
}

describe('the threat model', () => {
  it('has areas, and ends with what is not defended', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings.slice(-2)).toEqual(['Promised by construction, not tested', 'Not defended']);
    expect(headings.length).toBe(12);
  });

  it('names one test for each promise', () => {
    expect(rows.filter((row) => heldBy(row) === undefined)).toEqual([]);
  });

  it('names only tests that there are', () => {
    const held = rows.map(heldBy).filter((one) => one !== undefined);
    expect(held.filter((one) => !hasTest(one)).map(({ file, title }) => `${file}: «${title}»`)).toEqual([]);
  });
});

type Locked = Readonly<Partial<Record<'dev' | 'devOptional' | 'peer' | 'hasInstallScript', boolean>>>;

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

it('nothing that a user installs with the package runs a script', () => {
  const scripts = Object.keys(read('package.json').scripts);
  expect(scripts.filter((name) => /^(?:pre|post)?(?:install|prepare|uninstall)$/.test(name))).toEqual([]);
  const packages = Object.entries<Locked>(read('package-lock.json').packages);
  const installed = packages.filter(([path, { dev, devOptional, peer }]) => path && !dev && !devOptional && !peer);
  expect(installed.length).toBeGreaterThan(20);
  expect(installed.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [path] : []))).toEqual([]);
});

it('the package depends on one fixed version of each dependency', () => {
  const versions = Object.entries<string>(read('package.json').dependencies);
  expect(versions.length).toBeGreaterThan(20);
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
