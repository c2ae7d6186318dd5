import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { keyBlocks, knownKeys } from '../../src/core/guard/redact/known-keys.ts';
import { type Check, installed, peerDependencies, version } from './source-checks.ts';

const PACKED = resolve('.cache/release');
/** Outside of the clone, with what a user gets and nothing else: what only developers have would be found from within. */
const PROJECT = mkdtempSync(join(tmpdir(), 'skillopt-release-'));
const PACKAGE = join(PROJECT, 'node_modules/skillopt');
process.on('exit', () => rmSync(PROJECT, { recursive: true, force: true }));

const [MOST_BYTES, MOST_FILES] = [2_000_000, 2_300];

type Exports = Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
type Manifest = { readonly bin: Readonly<Record<string, string>>; readonly exports: Exports };

/** What is wrong with the package that a user would install. The first one builds and packs it. */
export const packageChecks: readonly Check[] = [
  { name: 'build', about: 'compiles, and is packed', find: buildAndPack },
  { name: 'contents', about: 'all that users need, and nothing else', find: findOddContents },
  { name: 'secrets', about: 'no file holds a key', find: findSecrets },
  { name: 'publint', about: 'exports and files fit together', find: lintPackage },
  { name: 'types', about: 'strict programs compile against every door', find: findBrokenTypes },
  { name: 'start', about: 'the command and the server start, and tell the version', find: findWrongStart },
];

let packed: { readonly size: number; readonly filename: string };

/** Where `--publish` finds the package that was checked. */
export const tarball = (): string => join(PACKED, packed.filename);

function buildAndPack(): string[] {
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
  spawnSync('tar', ['-xzf', tarball(), '--strip-components=1', '-C', PACKAGE]);
  return [];
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile());

const manifest = (): Manifest => JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));

const EXPECTED = [
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'THIRD_PARTY.md', 'docs/README.md', 'dist/web/index.html'],
  ...[
    'plugin/plugin.json',
    '.claude-plugin/marketplace.json',
    '.agents/plugins/marketplace.json',
    'examples/quickstart.ts',
  ],
];
/** Nobody who uses the package needs these. */
const UNWANTED =
  /(?:^|\/)(?:node_modules|\.git|\.cache)\/|(?:^|\/)\.env|\.(?:tgz|map|log|tsbuildinfo)$|^(?:src|scripts|bench|test|runs)\/|^docs\/(?:decisions|quality)\/|^(?:AGENTS|CONTRIBUTING)\.md$/;

function findOddContents(): string[] {
  const files = new Set(filesIn(PACKAGE));
  const { bin, exports } = manifest();
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : [entry.types, entry.default],
  );
  const beside = filesIn('src')
    .filter((path) => /\.(?:md|mjs|py)$/.test(path))
    .map((path) => `dist/${path}`);
  const expected = [
    ...EXPECTED,
    ...beside,
    ...[...Object.values(bin), ...entries].map((path) => path.replace(/^\.\//, '')),
  ];
  return [
    ...expected.filter((path) => !files.has(path)).map((path) => `missing: ${path}`),
    ...[...files].filter((path) => UNWANTED.test(path)).map((path) => `no user needs it: ${path}`),
    ...(packed.size <= MOST_BYTES ? [] : [`${packed.size} bytes packed, at most ${MOST_BYTES} are allowed`]),
    ...(files.size <= MOST_FILES ? [] : [`${files.size} files, at most ${MOST_FILES} are allowed`]),
  ];
}

/** Written in a page to show what a key looks like. */
const SHOWN = 'sk-abcdefghij1234';

function findSecrets(): string[] {
  return filesIn(PACKAGE).flatMap((path) => {
    const lines = readFileSync(join(PACKAGE, path), 'utf8').replaceAll(SHOWN, '').split('\n');
    const isSecret = (line: string) => knownKeys.hide(line) !== line;
    const at = lines.flatMap((line, index) => (isSecret(line) ? [index + 1] : []));
    const text = lines.join('\n');
    const block = keyBlocks.hide(text) === text ? [] : [`${path} holds a private key`];
    return [...at.map((line) => `${path}:${line} holds what looks like a key`), ...block];
  });
}

async function lintPackage(): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/** Both ways in which programs find packages. `test/e2e/types.heavy.ts` tries the slower compiler too. */
const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const;

function findBrokenTypes(): string[] {
  const doors = Object.keys(manifest().exports).filter((door) => door !== './package.json');
  const program = doors.map((door, index) => `export * as door${index} from '${door.replace('.', 'skillopt')}';\n`);
  writeFileSync(join(PROJECT, 'index.ts'), program.join(''));
  writeFileSync(join(PROJECT, 'package.json'), '{ "type": "module" }');
  return RESOLUTIONS.flatMap(([module, moduleResolution]) => {
    const strictness = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
    const compilerOptions = {
      module,
      moduleResolution,
      ...strictness,
      target: 'es2022',
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(PROJECT, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
    const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', PROJECT], {
      encoding: 'utf8',
    });
    return status === 0 ? [] : firstLines(stdout).map((line) => `${moduleResolution}: ${line}`);
  });
}

const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'release', version } };

function findWrongStart(): string[] {
  const { skillopt } = manifest().bin;
  const path = join(PACKAGE, skillopt!);
  if (!existsSync(path)) return [`missing: ${skillopt}`];
  const start = (words: readonly string[], input = '') =>
    spawnSync(process.execPath, [path, ...words], { encoding: 'utf8', input, cwd: PROJECT, timeout: 30_000 });
  const told = start(['--version']).stdout.trim();
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: OPENING });
  const [answer = ''] = start(['mcp'], `${hello}\n`).stdout.split('\n');
  const served = /"serverInfo":\{[^}]*"version":"([^"]*)"/.exec(answer)?.[1];
  return [
    ...(told === version ? [] : [`skillopt --version: expected ${version}, got ${told || 'nothing'}`]),
    ...(served === version
      ? []
      : [`skillopt mcp: expected a server of version ${version}, got ${served ?? 'no answer'}`]),
  ];
}

const firstLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 8);
