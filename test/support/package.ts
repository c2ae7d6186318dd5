import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = '.cache/package';
const SOURCES = ['src', 'bin', 'scripts', 'docs', 'examples', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/** Before the tests: packs what a user would install into `.cache/package`, unless that is already newer than the sources. */
export default function packPackage(): void {
  if (existsSync(PACKAGE) && statSync(PACKAGE).mtimeMs > newest(SOURCES)) return;
  rmSync(PACKAGE, { recursive: true, force: true });
  mkdirSync('.cache', { recursive: true });
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', '.cache'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n')));
  execFileSync('tar', ['-xzmf', join('.cache', filename), '-C', '.cache']);
}

function newest(paths: readonly string[]): number {
  const files = paths.flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
      : [path],
  );
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}
