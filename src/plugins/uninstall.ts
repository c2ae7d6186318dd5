import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { agentPrograms, findAgents } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { digestOf } from '../skills/index.ts';
import { orIfMissing } from '../stores/index.ts';
import { type AgentAtHand, agentFailed, listedVersion, requireAgent, runVerb } from './agent-process.ts';
import { changeFiles, LAUNCHER, removeCache, removeEmpty, removeOwn } from './copy.ts';
import { hostFolder, PLUGIN, type PluginAgent, pluginHosts, removalOf, SERVER } from './hosts.ts';
import { removeKey, valueIn } from './jsonc.ts';
import { differInOwnKeysOnly } from './own-keys.ts';
import {
  type PluginsPlace,
  pluginsFolderOf,
  type Receipt,
  readReceipt,
  recoverInterrupted,
  removeReceipt,
  rootOf,
  withPlugins,
} from './receipt.ts';
import {
  bytesBefore,
  bytesByForm,
  digestOrNull,
  hasNews,
  readAll,
  type SettingsFile,
  type Snapshot,
} from './settings-files.ts';

/** A file that was left as it is. */
export type LeftFile = { readonly path: string; readonly why: string };

export type PluginUninstall = {
  readonly agent: PluginAgent;
  /** `none` where no install of ours is known. */
  readonly standing: 'uninstalled' | 'none' | 'planned';
  readonly commands: readonly (readonly string[])[];
  readonly files: readonly string[];
  readonly left: readonly LeftFile[];
};

/** Undoes an install, as its receipt says, and nothing else. */
export async function uninstallPlugin(
  agent: PluginAgent,
  place: PluginsPlace,
  { isDryRun = false, signal }: { readonly isDryRun?: boolean; readonly signal?: AbortSignal } = {},
): Promise<PluginUninstall> {
  if (!isDryRun) await recoverInterrupted(place);
  const known = await readReceipt(agent, place);
  if (known === undefined) return { agent, standing: 'none', commands: [], files: [], left: [] };
  const isThere = findAgents(place.env, place.cwd).some(({ cli }) => cli === agentPrograms[agent].cli);
  const program = isThere ? await requireAgent(agent, place) : undefined;
  const at = { agent, place, pluginsFolder: pluginsFolderOf(place), signal, ...(program && { program }) };
  const commands = program ? pluginHosts[agent].uninstall.map((verb) => [program.path, ...verb]) : [];
  const files = known.files.map(({ path }) => path);
  if (isDryRun) return { agent, standing: 'planned', commands, files, left: [] };
  return withPlugins(place, async () => {
    const left = await takeOut(at, (await readReceipt(agent, place)) ?? known);
    return { agent, standing: 'uninstalled', commands, files, left };
  });
}

/** An agent that may have gone from the machine. */
type AgentOrNone = Omit<AgentAtHand, 'program'> & Partial<Pick<AgentAtHand, 'program'>>;

/** The plugin leaves the agent first: if that fails, everything else stays, and it can be tried again. */
export async function takeOut(
  at: AgentOrNone,
  receipt: Receipt,
  { hasCalled = true } = {},
): Promise<readonly LeftFile[]> {
  const { agent, place, pluginsFolder, program } = at;
  const left = [...(await removeInserted(at, receipt))];
  if (program && hasCalled) left.push(...(await leaveAgent({ ...at, program }, receipt)));
  else if (program === undefined) left.push(...ownEntry(at));
  const changed = await removeOwn(pluginsFolder, receipt.files);
  left.push(...changed.map((path) => ({ path, why: 'it was changed since the install' })));
  const root = rootOf(pluginsFolder, receipt);
  const cache = pluginHosts[agent].cache?.(receipt.version);
  if (cache !== undefined) await removeCache(join(hostFolder(agent, place.env), cache), pluginDigests(root, receipt));
  await removeEmpty(receipt.folders);
  await removeReceipt(pluginsFolder, agent);
  return left;
}

/** What stays in the settings of an agent that is not there. */
function ownEntry({ agent, place }: AgentOrNone): LeftFile[] {
  const { settings, uninstall } = pluginHosts[agent];
  const { title } = agentPrograms[agent];
  if (uninstall.length === 0) return [];
  const why = `${title} is not on PATH, so its own entry of ${PLUGIN} could not be removed. If it comes back: ${removalOf(agent)}`;
  return [{ path: join(hostFolder(agent, place.env), settings[0] ?? ''), why }];
}

/** Calls the agent's own verbs, and puts back what they leave over. */
async function leaveAgent(at: AgentAtHand, receipt: Receipt): Promise<LeftFile[]> {
  const { agent } = at;
  const now = await readAll(receipt.settings.map(({ path }) => path));
  const failures: string[] = [];
  for (const verb of pluginHosts[agent].uninstall) {
    const { isGood, words } = await runVerb(at, verb);
    if (!isGood) failures.push(words);
  }
  // The person may have removed it already: only the list counts.
  if ((await listedVersion(at)) !== undefined) throw stillListed(agent, receipt, failures);
  const left: LeftFile[] = [];
  for (const file of receipt.settings) left.push(...(await restoreSettings(at, receipt, file, now)));
  return left;
}

function stillListed(agent: PluginAgent, { inserted }: Receipt, failures: readonly string[]): SkillError {
  if (inserted === null) {
    const why = failures.length > 0 ? `: ${failures.join('; ')}` : '';
    return agentFailed(agent, `it still lists ${PLUGIN}${why}`);
  }
  const key = SERVER.join('.');
  const what = `${agentPrograms[agent].title} still lists ${PLUGIN}: the key ${key} is not as the install wrote it, such as by a key or a comment of yours`;
  const hint = `Nothing was removed. Remove the key ${key} from ${inserted.path}, and start again.`;
  return new SkillError('PLUGIN_FAILED', what, { hint });
}

/** By path below the plugin's folder. */
function pluginDigests(root: string, { files }: Receipt): ReadonlyMap<string, string> {
  const folder = join(root, 'plugin');
  const below = files.filter(({ path }) => path.startsWith(folder));
  return new Map(below.map(({ path, digest }) => [path.slice(folder.length + 1).replaceAll('\\', '/'), digest]));
}

/** Takes our key out of a settings file that an install edited by hand. */
async function removeInserted({ pluginsFolder }: AgentOrNone, receipt: Receipt): Promise<readonly LeftFile[]> {
  if (receipt.inserted === null) return [];
  const { path, text } = receipt.inserted;
  const old = await orIfMissing(readFile(path), undefined);
  if (old === undefined) return [];
  const after = withoutServer(old, { text, launcher: join(rootOf(pluginsFolder, receipt), LAUNCHER) });
  if (after === 'none') return [];
  if (after === undefined) return [{ path, why: CHANGED_KEY }];
  const replacement = { path: await realpath(path), expected: digestOf(old), bytes: after, isAnyFile: true };
  await changeFiles(pluginsFolder, [replacement]);
  return [];
}

const CHANGED_KEY = `its key ${SERVER.join('.')} is not as the install wrote it, so it stays. To remove it, remove that key by hand`;

/** What an install writes into settings by hand. */
export const serverOf = (launcher: string) => ({ type: 'local', command: [launcher], enabled: true });

type OwnServer = { readonly text: string; readonly launcher: string };

/** Settings without our server. Undefined if it is not certain that it is ours, and that all else stays. */
function withoutServer(old: Buffer, { text, launcher }: OwnServer): Buffer | 'none' | undefined {
  const settings = old.toString('utf8');
  if (!Buffer.from(settings).equals(old)) return undefined;
  try {
    const server = valueIn(settings, SERVER);
    if (server === undefined) return 'none';
    if (!isDeepStrictEqual(server, serverOf(launcher))) return undefined; // the person changed it
    const after = removeKey(settings, SERVER, text);
    return after === undefined ? undefined : Buffer.from(after);
  } catch {
    return undefined; // no JSON with comments any more
  }
}

/** What the agent's own commands leave over goes, if nobody else has changed the file since the install. */
async function restoreSettings(
  at: AgentAtHand,
  receipt: Receipt,
  file: SettingsFile,
  atStart: Snapshot,
): Promise<readonly LeftFile[]> {
  const { path, before, after } = file;
  const start = atStart.get(path) ?? null;
  const now = (await readAll([path])).get(path) ?? null;
  if (now === null || digestOrNull(now) === before) return [];
  const isAsInstalled = start !== null && digestOrNull(start) === after;
  const old = before === null ? null : start === null ? undefined : oldBytes(receipt, file, start);
  const others = [...(isAsInstalled ? [start] : []), old ?? null];
  const { pluginsFolder } = at;
  if (old !== undefined && !hasNews(now, others) && differInOwnKeysOnly({ path, now, old, pluginsFolder })) {
    await changeFiles(pluginsFolder, [{ path, expected: digestOf(now), bytes: old, isAnyFile: true }]);
    return [];
  }
  const marks = [`${PLUGIN}@${PLUGIN}`, rootOf(pluginsFolder, receipt)];
  const isNamed = marks.some((mark) => now.includes(mark));
  if (pluginHosts[at.agent].byHand && !isNamed) return []; // only our key was cut
  const why = whyLeft(receipt, { isAsInstalled, isKnown: old !== undefined });
  const gone = isNamed ? `it still names ${PLUGIN}` : 'the entries of the plugin are gone';
  return [{ path, why: `${gone}, and the rest stays as it is now. Its old bytes were not put back: ${why}` }];
}

/** Undefined if they are not known. Those of an install that was cut off are found in the file of today. */
function oldBytes({ isWhole }: Receipt, file: SettingsFile, start: Buffer): Buffer | null | undefined {
  const back = digestOrNull(start) === file.after ? bytesBefore(file, start) : undefined;
  return back ?? (isWhole ? undefined : bytesByForm(file, start));
}

function whyLeft({ isWhole }: Receipt, { isAsInstalled, isKnown }: { isAsInstalled: boolean; isKnown: boolean }) {
  if (!isWhole) return isKnown ? 'it was changed after the install was cut off' : 'the install was cut off';
  if (!isAsInstalled) return 'it was changed since the install';
  if (!isKnown) return 'the way back to them is not known';
  return 'it was changed during the install or the uninstall';
}
