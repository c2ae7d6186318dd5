import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, isCutOff, type Replacement, recoverReplacements, replaceFiles } from '../skills/index.ts';
import { orIfMissing } from '../stores/index.ts';
import { PLUGIN, type PluginAgent } from './hosts.ts';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['plugin', '.claude-plugin', '.agents/plugins'];
export const LAUNCHER = process.platform === 'win32' ? 'plugin/bin/skillopt-mcp.cmd' : 'plugin/bin/skillopt-mcp';

/** The version of this package, which is the plugin's. */
export const packageVersion = (): string => JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')).version;

/** What the launcher of a copy starts: absolute real paths, as they were at the install. */
export type Pinned = { readonly node: string; readonly entry: string };

export const ownProgram = async (): Promise<Pinned> => ({
  node: await realpath(process.execPath),
  entry: await realpath(join(PACKAGE, 'bin/skillopt.mjs')),
});

type Launching = { readonly pinned: Pinned; readonly agent: PluginAgent; readonly stateFolder: string };

/** The files of a copy, by path below its root. The launchers start exactly what is pinned. */
export function filesOfCopy(launching: Launching): ReadonlyMap<string, Buffer> {
  const paths = PARTS.flatMap((part) =>
    readdirSync(join(PACKAGE, part), { recursive: true, encoding: 'utf8' }).map((path) => join(part, path)),
  ).filter((path) => statSync(join(PACKAGE, path)).isFile());
  const files = new Map(paths.sort().map((path) => [path.split(sep).join('/'), readFileSync(join(PACKAGE, path))]));
  files.set('plugin/bin/skillopt-mcp', Buffer.from(posixLauncher(launching)));
  files.set('plugin/bin/skillopt-mcp.cmd', Buffer.from(windowsLauncher(launching)));
  return files;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const BEFORE_SEARCH = /^#!\/bin\/sh\n(.*?)\n# The skillopt of the person\./s;

/** What the launcher of the repository does before it looks for a program: it unsets what a project may have set. */
function cleaningPart(): string {
  const [, part] = BEFORE_SEARCH.exec(readFileSync(join(PACKAGE, 'plugin/bin/skillopt-mcp'), 'utf8')) ?? [];
  if (part === undefined) throw new Error('plugin/bin/skillopt-mcp has no part before its search');
  return part;
}

const posixLauncher = ({ pinned: { node, entry }, agent, stateFolder }: Launching) => `#!/bin/sh
# Written by "skillopt plugin install ${agent}"; "skillopt plugin uninstall ${agent}" takes it away.
${cleaningPart()}
node=${quoted(node)}
entry=${quoted(entry)}
if [ ! -x "$node" ] || [ ! -f "$entry" ]; then
  echo 'skillopt or its Node was moved or removed. Write this launcher again: skillopt plugin install ${agent}' >&2
  exit 127
fi
SKILLOPT_HOME=${quoted(stateFolder)} # a project's settings can name another, with consents that nobody gave
export SKILLOPT_HOME
exec "$node" "$entry" mcp
`;

const windowsLauncher = ({ pinned: { node, entry }, agent, stateFolder }: Launching) =>
  [
    '@echo off',
    `rem Written by "skillopt plugin install ${agent}"; "skillopt plugin uninstall ${agent}" takes it away.`,
    'rem With these variables, which a project can set, Node and OpenSSL load code or trust other servers.',
    String.raw`set "ComSpec=%SystemRoot%\System32\cmd.exe"`,
    ...['NODE_', 'OPENSSL_', 'SSL_CERT_'].map(
      (prefix) => `for /f "delims==" %%v in ('set ${prefix} 2^>nul') do set "%%v="`,
    ),
    `set "SKILLOPT_HOME=${stateFolder}"`,
    `"${node}" "${entry}" mcp`,
    '',
  ].join('\r\n');

/** Writes, replaces or removes files: all or none, and nothing over bytes that were not expected. */
export async function changeFiles(pluginsFolder: string, replacements: readonly Replacement[]): Promise<void> {
  if (replacements.length === 0) return;
  const real = await Promise.all(replacements.map(({ path }) => realpath(path).catch(() => path)));
  const roots = new Set([...replacements.map(({ path }) => path), ...real].map((path) => dirname(path)));
  const journalFolder = journalOf(pluginsFolder);
  const id = randomUUID();
  await replaceFiles(replacements, { journalFolder, id, roots: [...roots] });
  await rm(join(journalFolder, id), { recursive: true, force: true }); // old bytes of settings may hold keys
}

const journalOf = (pluginsFolder: string) => join(pluginsFolder, 'journal');

async function foldersOfJournal(pluginsFolder: string): Promise<string[]> {
  const entries = await orIfMissing(readdir(journalOf(pluginsFolder), { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(journalOf(pluginsFolder), name));
}

/** Whether a process was killed while it changed files. */
export const isInterrupted = async (pluginsFolder: string): Promise<boolean> =>
  isCutOff(journalOf(pluginsFolder)) || (await foldersOfJournal(pluginsFolder)).length > 0;

/** Takes back what was interrupted, and leaves no old bytes behind: they may hold keys. */
export async function recoverFiles(pluginsFolder: string): Promise<void> {
  await recoverReplacements(journalOf(pluginsFolder));
  for (const folder of await foldersOfJournal(pluginsFolder)) await rm(folder, { recursive: true, force: true });
}

/** A file that an install wrote. */
export type OwnFile = { readonly path: string; readonly digest: string };

/** Removes those that still hold our bytes, and gives back the others that are there. */
export async function removeOwn(pluginsFolder: string, files: readonly OwnFile[]): Promise<readonly string[]> {
  const looked = await Promise.all(files.map(async (file) => ({ ...file, now: await digestAt(file.path) })));
  const own = looked.filter(({ digest, now }) => digest === now);
  await changeFiles(
    pluginsFolder,
    own.map(({ path, digest }) => ({ path, expected: digest, bytes: null, isAnyFile: true })),
  );
  return looked.filter(({ digest, now }) => now !== undefined && now !== digest).map(({ path }) => path);
}

export const digestAt = async (path: string): Promise<string | undefined> => {
  const bytes = await orIfMissing(readFile(path), undefined);
  return bytes && digestOf(bytes);
};

/** Removes folders, the deepest first, if they are empty. */
export async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) await rmdir(folder).catch(() => undefined);
}

/**
 * Removes a copy that an agent keeps although it gave the plugin back: it would start it again for the same version. Only if every
 * file in it is ours, or a mark of the agent.
 */
export async function removeCache(folder: string, own: ReadonlyMap<string, string>): Promise<void> {
  const entries = await orIfMissing(readdir(folder, { recursive: true, withFileTypes: true }), []);
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const isOurs = async (path: string) => {
    const name = relative(folder, path).split(sep).join('/');
    return name === '.orphaned_at' || own.get(name) === (await digestAt(path));
  };
  if (files.length > 0 && (await Promise.all(files.map(isOurs))).every(Boolean))
    await rm(folder, { recursive: true, force: true });
  await removeEmpty([dirname(folder), dirname(dirname(folder))].filter((path) => basename(path) === PLUGIN));
}
