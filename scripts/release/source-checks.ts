import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { otherVersions } from './versions.ts';

/** One line for each thing that stands against a release. */
export type Check = { readonly name: string; readonly about: string; find(): string[] | Promise<string[]> };

type Names = Readonly<Record<string, string>>;
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
  readonly scripts: Names;
  readonly dependencies: Names;
  readonly peerDependencies: Names;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly overrides: Readonly<Record<string, unknown>>;
};
export const { version, dependencies, peerDependencies } = manifest;

/** What is wrong with the sources: read in a few seconds. */
export const sourceChecks: readonly Check[] = [
  { name: 'tree', about: 'all is committed, and this version is no tag yet', find: findUncommitted },
  { name: 'versions', about: 'every place tells the same version', find: () => otherVersions('.') },
  { name: 'manifest', about: 'package.json says what npm and users rely on', find: findOddManifest },
  { name: 'changelog', about: 'the version has an entry with a date', find: findMissingEntry },
  { name: 'lock', about: 'fits package.json, and installs nothing that runs', find: findStaleLock },
  {
    name: 'written files',
    about: 'THIRD_PARTY.md and the plugin are those that their scripts write',
    find: findOldFiles,
  },
];

function findUncommitted(): string[] {
  const status = output('git', ['status', '--porcelain']);
  const tag = output('git', ['tag', '--list', `v${version}`]).trim();
  return [
    ...status
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `not committed: ${line.slice(3)}`),
    ...(tag === '' ? [] : [`the tag ${tag} is there already: raise the version`]),
  ];
}

/** What has to stand there word for word: with another one it is released to others, to elsewhere, or cannot be installed. */
const FIXED = {
  name: 'skillopt',
  license: 'MIT',
  type: 'module',
  engines: { node: '>=20.19' },
  publishConfig: { access: 'public' },
  bin: { skillopt: 'bin/skillopt.mjs', 'skillopt-sleep': 'bin/skillopt-sleep.mjs' },
  homepage: 'https://github.com/skillopt/skillopt#readme',
  repository: { type: 'git', url: 'git+https://github.com/skillopt/skillopt.git' },
  bugs: { url: 'https://github.com/skillopt/skillopt/issues' },
};
/** Of these npm runs some where the package is installed, and refuses others. */
const WITHOUT = ['private', 'os', 'cpu', 'libc', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies'];
const RUN_BY_INSTALL = /^(?:pre|post)?(?:install|prepare)$|^dependencies$/;

function findOddManifest(): string[] {
  const { scripts, exports, peerDependenciesMeta = {} } = manifest;
  const fields = manifest as unknown as Readonly<Record<string, unknown>>;
  const doors = readdirSync('src/public').map((name) => `./${name.replace(/\.ts$/, '')}`);
  return [
    ...Object.entries(FIXED)
      .filter(([field, expected]) => !isDeepStrictEqual(fields[field], expected))
      .map(
        ([field, expected]) => `${field}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(fields[field])}`,
      ),
    ...WITHOUT.filter((field) => field in fields).map((field) => `${field}: expected none`),
    ...Object.keys(scripts)
      .filter((name) => RUN_BY_INSTALL.test(name))
      .map((name) => `scripts.${name} runs where the package is installed`),
    ...['.', './package.json', ...doors]
      .filter((door) => !(door in exports))
      .map((door) => `exports: expected ${door}`),
    ...Object.keys(peerDependencies)
      .filter((name) => !peerDependenciesMeta[name]?.optional)
      .map((name) => `peerDependenciesMeta: ${name} is not optional, so every user gets it`),
  ].map((line) => `package.json: ${line}`);
}

/** What npm packs besides what `files` names. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE'];

/** Whether the manifest says that this file is in the package. */
export function shipped(path: string): boolean {
  const isIn = (entries: readonly string[]) => entries.some((entry) => path === entry || path.startsWith(`${entry}/`));
  const left = manifest.files.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  return isIn([...manifest.files, ...ALWAYS]) && !isIn(left);
}

function findMissingEntry(): string[] {
  const [entry = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m).slice(1);
  const [heading = ''] = entry.split('\n');
  const expected = `CHANGELOG.md: expected the heading «## ${version} (YYYY-MM-DD)», got «## ${heading}»`;
  const [, told, day = ''] = /^(\S+) \((\d{4}-\d{2}-\d{2})\)$/.exec(heading) ?? [];
  const isDay = new Date(day).toJSON()?.startsWith(day) ?? false; // the 31st of February is none
  return told === version && isDay ? [] : [expected];
}

type Locked = Readonly<Partial<Record<'dev' | 'devOptional' | 'peer' | 'hasInstallScript', boolean>>> & {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
};

/** As many as a user gets on one system, at the most. */
const MOST_PACKAGES = 72;
const SYSTEMS = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64'];

/** `libc` is not counted: npm 11 installs the native builds for both C libraries of Linux. */
function isFor(system: string, { os, cpu }: Locked): boolean {
  const [name = '', processor = ''] = system.split(' ');
  return (os ?? [name]).includes(name) && (cpu ?? [processor]).includes(processor);
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, Locked>>;
};

/** What a user gets with the package, with a native build for each system. */
export const installed = Object.entries(packages).filter(
  ([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer,
);

function findStaleLock(): string[] {
  const onOneSystem = Math.max(...SYSTEMS.map((system) => installed.filter(([, one]) => isFor(system, one)).length));
  const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  const hosts = Object.entries(packages).flatMap(([path, { resolved }]) => (resolved ? [`${path}: ${resolved}`] : []));
  const unsealed = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error'], {
    encoding: 'utf8',
  });
  const loose = Object.entries(dependencies).filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range));
  const ours = Object.keys(manifest.overrides).filter((name) =>
    installed.some(([path]) => path.endsWith(`node_modules/${name}`)),
  );
  return [
    ...(status === 0 ? [] : [`npm ci refuses package-lock.json: ${linesOf(stderr)}`]),
    ...(onOneSystem <= MOST_PACKAGES
      ? []
      : [`${onOneSystem} packages are installed, at most ${MOST_PACKAGES} are allowed`]),
    ...scripts.map((path) => `${path} runs a script when it is installed`),
    ...unsealed.map(([path]) => `${path} has no integrity in the lock`),
    ...hosts.map((line) => `the lock names a host: ${line}`),
    ...ours.map((name) => `package.json: the override of ${name} does not reach users, who get another version`),
    ...loose.map(([name, range]) => `package.json: ${name} has no fixed version but ${range}`),
  ];
}

/** What npm says, without its prefix. */
const linesOf = (stderr: string) =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!)/, '').trim())
    .filter((line) => line !== '')
    .slice(0, 8)
    .join('; ');

function findOldFiles(): string[] {
  return ['scripts/third-party.mjs', 'scripts/plugin.mjs'].flatMap((script) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    return status === 0 ? [] : (stderr || stdout).trim().split('\n');
  });
}

export function output(command: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
