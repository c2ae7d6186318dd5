import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = '.cache/package';
const COMPILED = '.cache/compiled';
const CONFIGS = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.tests.json', 'vite.config.ts'];
const SOURCES = [
  'src',
  'bin',
  'scripts',
  'docs',
  'examples',
  'plugin',
  '.claude-plugin',
  '.agents',
  'test/support',
  'bench/workers',
  'bench/quality',
  ...CONFIGS,
];

/**
 * Before the tests: compiles the sources once, with the programs that tests start as processes (`.cache/compiled`), and packs the
 * package that a user would install (`.cache/package`), unless both are newer than the sources. Types are checked elsewhere, so
 * nothing is checked here, and the package has no declarations.
 */
export default function packQuickly(): void {
  if (isFresh(PACKAGE) && isFresh(COMPILED)) return;
  compile();
  rmSync('dist', { recursive: true, force: true });
  cpSync(join(COMPILED, 'dist'), 'dist', { recursive: true });
  execFileSync(process.execPath, ['scripts/bundle.mjs'], { stdio: 'inherit' });
  execFileSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], {
    stdio: 'inherit',
  });
  pack('--ignore-scripts');
}

/** Before the heavy tests: the same, and the package is built as it is for a release, with its declarations. */
export function packWhole(): void {
  const isWhole = existsSync(join(PACKAGE, 'dist/index.d.ts'));
  if (isWhole && isFresh(PACKAGE) && isFresh(COMPILED)) return;
  if (!isFresh(COMPILED)) compile(); // it is fresh after the other tests, whose package has no declarations
  pack();
}

/** The modules one by one, since programs of tests reach inside: a package of its own, where they also find it by its name. */
function compile(): void {
  rmSync(COMPILED, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.tests.json'], {
    stdio: 'inherit',
  });
  renameSync(join(COMPILED, 'src'), join(COMPILED, 'dist'));
  const isText = (path: string) => /\.(md|mjs|py)$/.test(path);
  for (const path of filesIn('src').filter(isText)) cpSync(path, join(COMPILED, path.replace('src', 'dist')));
  for (const path of ['package.json', 'bin', 'plugin', '.claude-plugin', '.agents'])
    cpSync(path, join(COMPILED, path), { recursive: true });
  symlinkSync('dist', join(COMPILED, 'src')); // one copy of the code for both: its place among the sources, and in the package
}

function pack(...flags: string[]): void {
  rmSync(PACKAGE, { recursive: true, force: true });
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', '.cache', ...flags], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n')));
  execFileSync('tar', ['-xzmf', join('.cache', filename), '-C', '.cache']);
  for (const command of filesIn(join(PACKAGE, 'bin'))) chmodSync(command, 0o755); // as `npm install` does
}

function isFresh(folder: string): boolean {
  const children = filesIn('test/unit').filter((path) => /\.(child|fixture)\.ts$/.test(path));
  const newest = Math.max(...[...SOURCES.flatMap(filesIn), ...children].map((path) => statSync(path).mtimeMs));
  return existsSync(folder) && statSync(folder).mtimeMs > newest;
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
}
