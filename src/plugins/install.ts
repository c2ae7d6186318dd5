import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentPrograms } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { clip, isObject } from '../core/text/index.ts';
import { digestOf, type Replacement } from '../skills/index.ts';
import { makeFolderBelow, orIfMissing } from '../stores/index.ts';
import { type AgentAtHand, agentFailed, listedVersion, requireAgent, runVerb, runVerbs } from './agent-process.ts';
import {
  changeFiles,
  digestAt,
  filesOfCopy,
  LAUNCHER,
  type OwnFile,
  ownProgram,
  type Pinned,
  packageVersion,
} from './copy.ts';
import { hostFolder, PLUGIN, type PluginAgent, pluginHosts, removalOf, SERVER } from './hosts.ts';
import { insertKey, parseJsonc } from './jsonc.ts';
import { findOtherServer } from './own-name.ts';
import {
  type PluginsPlace,
  pluginsFolderOf,
  type Receipt,
  readReceipt,
  recoverInterrupted,
  rootOf,
  withPlugins,
  writeReceipt,
} from './receipt.ts';
import { changesBetween, changesSoFar, readAll, type Snapshot } from './settings-files.ts';
import { type LeftFile, serverOf, takeOut } from './uninstall.ts';

export type InstallOptions = {
  /** Only says what would be done. */
  readonly isDryRun?: boolean;
  /** What the launcher starts. Default: this Node and this package. */
  readonly pinned?: Pinned;
  /** Cuts the install off. What it did stays until an uninstall undoes it: that calls the agent, which takes seconds. */
  readonly signal?: AbortSignal | undefined;
};

export type PluginInstall = {
  readonly agent: PluginAgent;
  readonly version: string;
  /** `installed`, or `already` there as it should be; `planned` by a dry run. */
  readonly standing: 'installed' | 'already' | 'planned';
  /** What is called, each with its arguments. */
  readonly commands: readonly (readonly string[])[];
  /** The copy of the plugin. */
  readonly folder: string;
  /** What is written by us. */
  readonly files: readonly string[];
  /** Settings of the agent that its commands, or we, change. */
  readonly settings: readonly string[];
  /** What an older install, which was taken out first, left. */
  readonly left: readonly LeftFile[];
};

/** What an install would write and call. */
type Plan = {
  readonly root: string;
  readonly pinned: Pinned;
  /** By absolute path. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly commands: readonly (readonly string[])[];
  readonly settings: readonly string[];
};

/**
 * Gives an agent the plugin of this package by the agent's own commands, and keeps a receipt of it. Refuses where the agent has a
 * plugin or a server of this name that we did not install, and files that are not ours.
 */
export async function installPlugin(
  agent: PluginAgent,
  place: PluginsPlace,
  options: InstallOptions = {},
): Promise<PluginInstall> {
  const { isDryRun = false, pinned = await ownProgram(), signal } = options;
  const program = await requireAgent(agent, place);
  if (!isDryRun) await recoverInterrupted(place);
  const at: AgentAtHand = { agent, program, place, pluginsFolder: pluginsFolderOf(place), signal };
  const plan = await planInstall(at, pinned);
  refuseOddPaths([...plan.files.keys(), ...plan.settings]);
  await refuseOtherServer(at, await readReceipt(agent, place));
  const answer = {
    agent,
    version: packageVersion(),
    commands: plan.commands,
    folder: plan.root,
    files: [...plan.files.keys()],
    settings: plan.settings,
    left: [],
  };
  if (isDryRun) return { ...answer, standing: 'planned' };
  return withPlugins(place, async () => {
    const receipt = await readReceipt(agent, place);
    if (receipt && (await isAsPlanned(at, receipt, plan))) return { ...answer, standing: 'already' };
    const left = receipt ? await takeOut(at, receipt) : [];
    const before = await readAll(plan.settings); // an agent may rewrite them when it is asked for its list
    await refuseTaken(at);
    await perform(at, plan, before);
    return { ...answer, standing: 'installed', left };
  });
}

function refuseOddPaths(paths: readonly string[]): void {
  const odd = paths.find((path) => /\p{Cc}/u.test(path));
  if (odd === undefined) return;
  throw new SkillError('DOCUMENT_REFUSED', `expected a path without control characters, got ${JSON.stringify(odd)}`, {
    hint: 'Nothing was changed. A line break in the name of a folder cannot stand in a launcher. Name another SKILLOPT_HOME.',
  });
}

async function planInstall({ agent, program, place, pluginsFolder }: AgentAtHand, pinned: Pinned): Promise<Plan> {
  const { install, settings, byHand } = pluginHosts[agent];
  const host = hostFolder(agent, place.env);
  const root = rootOf(pluginsFolder, { agent, version: packageVersion() });
  const copy = filesOfCopy({ pinned, agent, stateFolder: dirname(pluginsFolder) });
  const copies = Object.entries(byHand?.copies ?? {}).map(([to, from]) => [join(host, to), copy.get(from)!] as const);
  return {
    ...{ root, pinned },
    files: new Map([...[...copy].map(([name, bytes]) => [join(root, name), bytes] as const), ...copies]),
    commands: install(root).map((verb) => [program.path, ...verb]),
    settings: byHand ? [await settingsByHand(agent, place)] : settings.map((name) => join(host, name)),
  };
}

/** The settings file that we edit ourselves: the first that is there, or the usual one. */
async function settingsByHand(agent: PluginAgent, place: PluginsPlace): Promise<string> {
  const paths = pluginHosts[agent].byHand!.settings.map((name) => join(hostFolder(agent, place.env), name));
  return paths.find((path) => existsSync(path)) ?? paths[1]!;
}

async function isAsPlanned(at: AgentAtHand, receipt: Receipt, { files }: Plan): Promise<boolean> {
  if (!receipt.isWhole || receipt.version !== packageVersion() || receipt.files.length !== files.size) return false;
  for (const [path, bytes] of files) if ((await digestAt(path)) !== digestOf(bytes)) return false;
  return (await listedVersion(at)) === receipt.version;
}

/** Somebody else's plugin, marketplace or server of this name stays. */
async function refuseTaken(at: AgentAtHand): Promise<void> {
  const { list, installedIn } = pluginHosts[at.agent];
  const { title } = agentPrograms[at.agent];
  await refuseOtherServer(at);
  const printed: string[] = [];
  for (const verb of list) {
    const ran = await runVerb(at, verb); // one after the other: two at once would write the same files
    if (!ran.isGood) throw agentFailed(at.agent, `it could not list what it has: ${ran.words}`);
    printed.push(ran.printed);
  }
  const [plugins = '', ...others] = printed;
  const isTaken =
    installedIn(plugins) !== undefined ||
    others.some((text) => /(?<![\w-])skillopt(?![\w-])/.test(text.replaceAll(/\S*\/\S*/g, '')));
  if (!isTaken) return;
  const remedy = removalOf(at.agent) || `remove the key ${SERVER.join('.')} from its settings`;
  throw new SkillError(
    'DOCUMENT_REFUSED',
    `${title} has a plugin, marketplace or server named ${PLUGIN} that this command did not install`,
    { hint: `Nothing was changed. If it may go, remove it, and start again: ${remedy}` },
  );
}

/** The agent would start the other server under our name. */
async function refuseOtherServer({ agent, place, pluginsFolder }: AgentAtHand, receipt?: Receipt): Promise<void> {
  const other = await findOtherServer(agent, place, receipt && join(rootOf(pluginsFolder, receipt), LAUNCHER));
  if (other === undefined) return;
  const may = other.isByHand ? 'The plugin brings the same server. Remove yours' : 'If it may go, remove it';
  throw new SkillError('DOCUMENT_REFUSED', other.message, {
    hint: `Nothing was changed. ${may}, and start again: ${other.remedy}`,
  });
}

function readSettings(text: string, name: string): unknown {
  try {
    return parseJsonc(text);
  } catch {
    throw new SkillError('DOCUMENT_REFUSED', `${name} is not JSON with comments`, {
      hint: 'Nothing was changed. Correct it, and start again.',
    });
  }
}

/** Each part is in the receipt before it is done, so that a crash leaves nothing that cannot be undone. */
async function perform(at: AgentAtHand, plan: Plan, before: Snapshot): Promise<void> {
  const { agent, pluginsFolder } = at;
  const insertion = await planInsertion(at, plan);
  const files = [...plan.files].map(([path, bytes]): OwnFile => ({ path, digest: digestOf(bytes) }));
  const folders = missingFolders([...plan.files.keys(), ...plan.settings]);
  const begun: Receipt = {
    ...{ format: 1, agent, version: packageVersion(), at: new Date().toISOString(), isWhole: false },
    ...{
      commands: plan.commands.map((command) => [...command]),
      pinned: plan.pinned,
      files,
      folders,
      settings: changesSoFar(before, insertion ? new Map([[insertion.path, insertion.bytes]]) : before),
      inserted: insertion && { path: insertion.path, text: insertion.text },
    },
  };
  await writeReceipt(pluginsFolder, begun);
  let hasCalled = false;
  try {
    at.signal?.throwIfAborted();
    await writeCopy(at, plan);
    if (insertion) await insertByHand(at, insertion);
    hasCalled = true;
    for (const verb of pluginHosts[agent].install(plan.root)) {
      await runVerbs(at, [verb]);
      await writeReceipt(pluginsFolder, { ...begun, settings: changesSoFar(before, await readAll(plan.settings)) });
    }
    const version = await listedVersion(at);
    if (version !== begun.version)
      throw agentFailed(agent, `expected ${PLUGIN} ${begun.version} in its list, got ${version ?? 'no such plugin'}`);
    const settings = changesBetween(before, await readAll(plan.settings));
    await writeReceipt(pluginsFolder, { ...begun, isWhole: true, settings });
  } catch (error) {
    at.signal?.throwIfAborted();
    const settings = changesBetween(before, await readAll(plan.settings));
    await takeOut(at, { ...begun, settings }, { hasCalled }).catch(() => undefined); // the first error says more
    throw error;
  }
}

/** Those above the paths that are not there. */
function missingFolders(paths: readonly string[]): string[] {
  const above = (path: string): string[] => (existsSync(dirname(path)) ? [] : [dirname(path), ...above(dirname(path))]);
  return [...new Set(paths.flatMap(above))];
}

async function writeCopy({ pluginsFolder }: AgentAtHand, { root, files }: Plan): Promise<void> {
  await makeFolderBelow(dirname(pluginsFolder), root);
  const replacements = [...files].map(
    ([path, bytes]): Replacement => ({ path, expected: null, bytes, isAnyFile: true }),
  );
  await changeFiles(pluginsFolder, replacements);
}

type Insertion = { readonly path: string; readonly old: Buffer | null; readonly bytes: Buffer; readonly text: string };

/** What is to be put into the settings of an agent without verbs. */
async function planInsertion({ agent }: AgentAtHand, { root, settings }: Plan): Promise<Insertion | null> {
  if (pluginHosts[agent].byHand === undefined) return null;
  const path = settings[0]!;
  const old = await orIfMissing(readFile(path), null);
  const server = serverOf(join(root, LAUNCHER));
  const text = old === null ? '{}\n' : old.toString('utf8');
  const insertion = insertKey(text, SERVER, server);
  if (insertion === undefined || (old !== null && !Buffer.from(text).equals(old))) throw notInsertable(path, text);
  return { path, old, bytes: Buffer.from(insertion.text), text: insertion.inserted };
}

function notInsertable(path: string, text: string): SkillError {
  const [parent] = SERVER;
  const whole = readSettings(text, path);
  const { [parent]: members = {} } = isObject(whole) ? whole : {};
  const hint = 'It was not changed. Correct it, and start again.';
  if (!isObject(whole)) return new SkillError('DOCUMENT_REFUSED', `expected an object in ${path}`, { hint });
  const what = isObject(members)
    ? `${path} cannot be edited with certainty: its key ${parent} may stand there twice, or it is not UTF-8`
    : `expected an object in the key ${parent} of ${path}, got ${clip(JSON.stringify(members), 40)}`;
  return new SkillError('DOCUMENT_REFUSED', what, { hint });
}

async function insertByHand({ pluginsFolder }: AgentAtHand, { path, old, bytes }: Insertion): Promise<void> {
  const real = await realpath(path).catch(() => path);
  const expected = old === null ? null : digestOf(old);
  await changeFiles(pluginsFolder, [{ path: real, expected, bytes, isAnyFile: true }]);
}
