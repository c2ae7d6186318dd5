import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { otherVersions } from './versions.ts';

/** One line for each thing that stands against a release. */
export type Check = { readonly name: string; readonly about: string; find(): string[] | Promise<string[]> };

export const { version, dependencies, peerDependencies, overrides } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as {
  version: string;
  dependencies: Readonly<Record<string, string>>;
  peerDependencies: Readonly<Record<string, string>>;
  overrides: Readonly<Record<string, unknown>>;
};

/** What is wrong with the sources: read in a few seconds. */
export const sourceChecks: readonly Check[] = [
  { name: 'tree', about: 'all is committed, and this version is no tag yet', find: findUncommitted },
  { name: 'versions', about: 'every place tells the same version', find: () => otherVersions('.') },
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

function findMissingEntry(): string[] {
  const [entry = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m).slice(1);
  const [heading = ''] = entry.split('\n');
  const expected = `CHANGELOG.md: expected the heading «## ${version} (YYYY-MM-DD)», got «## ${heading}»`;
  const isDated = /^\S+ \(\d{4}-\d{2}-\d{2}\)$/.test(heading) && heading.startsWith(`${version} `);
  return isDated ? [] : [expected];
}

type Locked = Readonly<Partial<Record<'dev' | 'devOptional' | 'peer' | 'hasInstallScript', boolean>>> & {
  readonly resolved?: string;
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
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error'], {
    encoding: 'utf8',
  });
  const loose = Object.entries(dependencies).filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range));
  const ours = Object.keys(overrides).filter((name) =>
    installed.some(([path]) => path.endsWith(`node_modules/${name}`)),
  );
  return [
    ...(status === 0 ? [] : [`npm ci refuses package-lock.json: ${linesOf(stderr)}`]),
    ...(onOneSystem <= MOST_PACKAGES
      ? []
      : [`${onOneSystem} packages are installed, at most ${MOST_PACKAGES} are allowed`]),
    ...scripts.map((path) => `${path} runs a script when it is installed`),
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

function output(command: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
