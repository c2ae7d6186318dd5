import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProject } from './project.ts';

const PACKAGE = resolve('.cache/package');
const dist = join(PACKAGE, 'dist');
/** Without the page, which is for browsers. */
const codeFiles = () =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && !path.startsWith('web/'),
  );

/** Writes the address of every module that is loaded to stderr. It is sent as text, since it runs in the loader's thread. */
const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context); }
`;
const asUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const LISTING = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))});`);

/** What a command loads: files of ours, and packages by name. */
async function loadedBy(...args: readonly string[]) {
  await using project = await createProject();
  const { code, stderr } = await project.run(args, { NODE_OPTIONS: `--import=${LISTING}` });
  expect(code, stderr).toBe(0);
  const urls = [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = '']) => url);
  const packages = urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  return { own: urls.filter((url) => !url.includes('/node_modules/')).length, packages: [...new Set(packages)].sort() };
}

/** Counts, because times depend on the machine: before the bundle `--version` loaded 205 modules, and `runs` 828. */
describe('the packed command starts with few modules', () => {
  it('--version', async () => {
    const { own, packages } = await loadedBy('--version');
    expect(own).toBe(2); // the command, and what both commands share
    expect(packages).toEqual([]);
    const withMore = await loadedBy('--version', '--json');
    expect(withMore.own).toBeLessThan(20);
    expect(withMore.packages).toEqual(['picocolors']);
  });

  it('sleep status --short, which a shell prompt calls at every line', async () => {
    const { own, packages } = await loadedBy('sleep', 'status', '--short');
    expect(own).toBeLessThan(30);
    expect(packages).toEqual(['picocolors']);
  });

  it('runs', async () => {
    const { own, packages } = await loadedBy('runs');
    expect(own).toBeLessThan(90);
    expect(packages).toEqual(['@noble/hashes', 'commander', 'diff', 'picocolors', 'zod']);
  });

  it('train --help', async () => {
    const { own, packages } = await loadedBy('train', '--help');
    expect(own).toBeLessThan(115);
    expect(packages).toContain('commander');
    expect(packages.filter((name) => /^@ai-sdk|^(?:execa|libsql|csv-parse|undici|hyparquet)$/.test(name))).toEqual([]);
  });
});

describe('the bundle', () => {
  it('has every module in it: beside the chunks there are only the entries', () => {
    const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
    const entries = Object.values<{ default?: string }>(exports).flatMap(({ default: file }) => file ?? []);
    const files = codeFiles().filter((path) => !path.startsWith('chunks/'));
    expect(files.map((path) => `./dist/${path}`).sort()).toEqual([...entries, './dist/cli/index.js'].sort());
  });

  it('finds prompts and scripts where its modules had them', () => {
    const beside = /new URL\([`"]\.\/([\w.-]+)[^,]*, new URL\("([^"]+)", import\.meta\.url\)\.href\)/g;
    const found = codeFiles().flatMap((path) =>
      [...readFileSync(join(dist, path), 'utf8').matchAll(beside)].map(([, name = '', module = '']) =>
        resolve(dist, dirname(path), dirname(module), name),
      ),
    );
    expect(found).toHaveLength(8);
    expect(found.filter((path) => !existsSync(path))).toEqual([]);
  });
});
