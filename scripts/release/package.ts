import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installed, output, peerDependencies } from './source-checks.ts';

const PACKED = resolve('.cache/release');
/** Outside of the clone, with what a user gets and nothing else: what only developers have would be found from within. */
export const PROJECT = mkdtempSync(join(tmpdir(), 'skillopt-release-'));
/** The package as a user installs it. */
export const PACKAGE = join(PROJECT, 'node_modules/skillopt');
process.on('exit', () => rmSync(PROJECT, { recursive: true, force: true }));

type Exports = Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
type Manifest = { readonly bin: Readonly<Record<string, string>>; readonly exports: Exports };

let packed: { readonly size: number; readonly filename: string };

/** In bytes. */
export const packedSize = () => packed.size;

export const manifest = (): Manifest => JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));

/** The paths of all files below a folder. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile());

export const firstLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 8);

/** What stands against the package: that it cannot be made. */
export function buildAndPack(): string[] {
  mkdirSync(PACKED, { recursive: true });
  const built = spawnSync(process.execPath, ['scripts/build.mjs'], { encoding: 'utf8' });
  if (built.status !== 0) return firstLines(built.stdout + built.stderr);
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', PACKED];
  const { status, stdout, stderr } = spawnSync('npm', words, { encoding: 'utf8' });
  if (status !== 0) return firstLines(stderr);
  [packed] = JSON.parse(stdout);
  const beside = Object.keys(peerDependencies).map((name) => `node_modules/${name}`); // types of workers name theirs
  for (const path of [...installed.map(([name]) => name), ...beside, 'node_modules/@types/node']) {
    const isNested = path.lastIndexOf('node_modules/') > 0; // it comes with the one around it
    if (isNested || !existsSync(path)) continue; // or is the native build of another system
    mkdirSync(join(PROJECT, path, '..'), { recursive: true });
    symlinkSync(resolve(path), join(PROJECT, path), 'junction');
  }
  mkdirSync(PACKAGE);
  const unpacked = spawnSync('tar', ['-xzf', join(PACKED, packed.filename), '--strip-components=1', '-C', PACKAGE], {
    encoding: 'utf8',
  });
  return unpacked.status === 0 ? [] : firstLines(unpacked.stderr);
}

/** What was checked. Somebody may commit or build while the tests run. */
export type Checked = { readonly tarball: string; readonly sha256: string; readonly commit: string };

export function checkedPackage(): Checked {
  const tarball = join(PACKED, packed.filename);
  const sha256 = createHash('sha256').update(readFileSync(tarball)).digest('hex');
  return { tarball, sha256, commit: output('git', ['rev-parse', 'HEAD']).trim() };
}
