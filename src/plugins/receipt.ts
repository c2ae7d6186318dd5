import { realpath, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { type Environment, homeIn, isInside } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { jsonText } from '../core/text/index.ts';
import {
  makeFolderBelow,
  openStateFolder,
  orIfMissing,
  PLUGINS_FOLDER,
  readPrivate,
  stateFolderOf,
  takeLock,
  writePrivate,
} from '../stores/index.ts';
import { isInterrupted, recoverFiles } from './copy.ts';
import { hostFolder, PLUGIN_AGENTS, type PluginAgent, pluginHosts } from './hosts.ts';
import { SettingsFile } from './settings-files.ts';

/** What an install did, and nothing else is undone. It holds no key and no command that is run. */
const Receipt = z.strictObject({
  format: z.literal(1),
  agent: z.enum(PLUGIN_AGENTS),
  version: z.string().regex(/^[0-9A-Za-z.+-]+$/),
  at: z.string(),
  /** False until the install has ended: the rest may be lacking. */
  isWhole: z.boolean(),
  /** What was called, to read. */
  commands: z.array(z.array(z.string())),
  pinned: z.strictObject({ node: z.string(), entry: z.string() }),
  files: z.array(z.strictObject({ path: z.string(), digest: z.string() })),
  /** Folders that were made for them. */
  folders: z.array(z.string()),
  settings: z.array(SettingsFile),
  /** The text that was put into a settings file by hand. */
  inserted: z.strictObject({ path: z.string(), text: z.string() }).nullable(),
});
export type Receipt = z.infer<typeof Receipt>;

/** The person's machine, and the folder that is open: nothing of it is run. */
export type PluginsPlace = { readonly env: Environment; readonly cwd: string };

export const pluginsFolderOf = ({ env }: PluginsPlace): string =>
  join(stateFolderOf({ env, home: homeIn(env), platform: process.platform }), PLUGINS_FOLDER);

export const rootOf = (pluginsFolder: string, { agent, version }: Pick<Receipt, 'agent' | 'version'>): string =>
  join(pluginsFolder, version, agent);

const LOCK_WORDS = {
  whenOwn: 'Wait for the other change of this process.',
  whenAlive: 'Another install or uninstall is at work. Wait until it ends, and start again.',
  mode: 0o600,
};

/** Runs `work` with the private folder of plugins, while no other process installs. */
export async function withPlugins<Result>(
  place: PluginsPlace,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = pluginsFolderOf(place);
  await openStateFolder(dirname(folder));
  // Agents are started in `empty`, and some read settings from all folders above it.
  for (const name of ['empty', 'receipts']) await makeFolderBelow(dirname(folder), join(folder, name));
  const lock = await takeLock(join(folder, 'plugins.lock'), LOCK_WORDS);
  try {
    return await work(folder);
  } finally {
    await lock.release();
  }
}

/** Takes back what a killed install or uninstall, of any agent, has left half done in a file. */
export async function recoverInterrupted(place: PluginsPlace): Promise<void> {
  if (await isInterrupted(pluginsFolderOf(place))) await withPlugins(place, recoverFiles);
}

const receiptPath = (pluginsFolder: string, agent: PluginAgent) => join(pluginsFolder, 'receipts', `${agent}.json`);

export const writeReceipt = (pluginsFolder: string, receipt: Receipt) =>
  writePrivate(receiptPath(pluginsFolder, receipt.agent), `${jsonText(receipt)}\n`);

export const removeReceipt = (pluginsFolder: string, agent: PluginAgent) =>
  rm(receiptPath(pluginsFolder, agent), { force: true });

/** Undefined where nothing was installed. Throws for a receipt that no install wrote: files would be removed by it. */
export async function readReceipt(agent: PluginAgent, place: PluginsPlace): Promise<Receipt | undefined> {
  const folder = pluginsFolderOf(place);
  const path = receiptPath(folder, agent);
  const text = await readPrivate(path);
  if (text === undefined) return undefined;
  const damaged = (what: string) =>
    new SkillError('STATE_UNUSABLE', `${path} is damaged: ${what}`, {
      hint: `Nothing was changed. Remove the plugin with the commands of the agent itself, then delete this file and ${folder}.`,
    });
  let receipt: Receipt;
  try {
    receipt = Receipt.parse(JSON.parse(text));
  } catch {
    throw damaged('it is not the receipt of an install');
  }
  const strange = strangePath(receipt, agent, place);
  if (receipt.agent !== agent) throw damaged(`it is of ${receipt.agent}`);
  if (strange !== undefined) throw damaged(`it names ${strange}, where an install writes nothing`);
  const linked = await linkedPath(receipt, folder);
  if (linked !== undefined) throw damaged(`it names ${linked}, and a link leads from there to another folder`);
  return receipt;
}

/** A path that an install of this agent never writes to. */
function strangePath(receipt: Receipt, agent: PluginAgent, place: PluginsPlace): string | undefined {
  const { settings, byHand } = pluginHosts[agent];
  const host = hostFolder(agent, place.env);
  const root = rootOf(pluginsFolderOf(place), receipt);
  const copies = Object.keys(byHand?.copies ?? {}).map((name) => join(host, name));
  const isKnown = (path: string) =>
    !path.split(/[\\/]/).includes('..') && (copies.includes(path) || (isInside(path, root) && path !== root));
  const known = [...settings, ...(byHand?.settings ?? [])].map((name) => join(host, name));
  const byHandPaths = (byHand?.settings ?? []).map((name) => join(host, name));
  return (
    receipt.files.map(({ path }) => path).find((path) => !isKnown(path)) ??
    receipt.settings.map(({ path }) => path).find((path) => !known.includes(path)) ??
    (receipt.inserted && !byHandPaths.includes(receipt.inserted.path) ? receipt.inserted.path : undefined) ??
    receipt.folders.find((path) => !mayMakeFolder(path, [host, pluginsFolderOf(place)]))
  );
}

/** A file of the copy whose folder is not in the copy really: somebody put a link in its place. */
async function linkedPath(receipt: Receipt, pluginsFolder: string): Promise<string | undefined> {
  const root = rootOf(pluginsFolder, receipt);
  const realRoot = rootOf(await realpath(pluginsFolder), receipt);
  for (const { path } of receipt.files.filter((file) => isInside(file.path, root))) {
    const real = await orIfMissing(realpath(dirname(path)), undefined);
    if (real !== undefined && !isInside(real, realRoot)) return path;
  }
  return undefined;
}

/** In one of them, or above one: that is removed only when it is empty. */
const mayMakeFolder = (path: string, folders: readonly string[]): boolean =>
  isAbsolute(path) &&
  !path.split(/[\\/]/).includes('..') &&
  folders.some((folder) => isInside(path, folder) || isInside(folder, path));
