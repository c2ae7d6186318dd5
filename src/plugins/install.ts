import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentPrograms } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
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
import { hostFolder, PLUGIN, type PluginAgent, pluginHosts } from './hosts.ts';
import { insertKey, parseJsonc } from './jsonc.ts';
import {
  type PluginsPlace,
  pluginsFolderOf,
  type Receipt,
  readReceipt,
  rootOf,
  withPlugins,
  writeReceipt,
} from './receipt.ts';
import { changesBetween, readAll, type Snapshot } from './settings-files.ts';
import { takeOut } from './uninstall.ts';

export type InstallOptions = {
  /** Only says what would be done. */
  readonly isDryRun?: boolean;
  /** What the launcher starts. Default: this Node and this package. */
  readonly pinned?: Pinned;
};

export type PluginInstall = {
  readonly agent: PluginAgent;
  readonly version: string;
  /** `installed`, or `already` there as it should be; `planned` by a dry run. */
  readonly standing: 'installed' | 'already' | 'planned';
  /** What is called, each with its arguments. */
  readonly commands: readonly (readonly string[])[];
  /** What is written by us. */
  readonly files: readonly string[];
  /** Settings of the agent that its commands, or we, change. */
  readonly settings: readonly string[];
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
  const { isDryRun = false, pinned = await ownProgram() } = options;
  const program = await requireAgent(agent, place);
  const at: AgentAtHand = { agent, program, place, pluginsFolder: pluginsFolderOf(place) };
  const plan = await planInstall(at, pinned);
  const answer = {
    agent,
    version: packageVersion(),
    commands: plan.commands,
    files: [...plan.files.keys()],
    settings: plan.settings,
  };
  if (isDryRun) return { ...answer, standing: 'planned' };
  return withPlugins(place, async () => {
    const receipt = await readReceipt(agent, place);
    if (receipt && (await isAsPlanned(at, receipt, plan))) return { ...answer, standing: 'already' };
    if (receipt) await takeOut(at, receipt);
    const before = await readAll(plan.settings); // an agent may rewrite them when it is asked for its list
    await refuseTaken(at);
    await perform(at, plan, before);
    return { ...answer, standing: 'installed' };
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
  const { list, installedIn, uninstall, byHand } = pluginHosts[at.agent];
  const { title, binary } = agentPrograms[at.agent];
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
  if (!isTaken && !(byHand && (await hasServer(at)))) return;
  const verbs = uninstall.map((verb) => [binary, ...verb].join(' '));
  throw new SkillError(
    'DOCUMENT_REFUSED',
    `${title} has a plugin, marketplace or server named ${PLUGIN} that this command did not install`,
    {
      hint: `Nothing was changed. ${verbs.length > 0 ? `If it may go: ${verbs.join(' && ')}` : 'If it may go, remove the key mcp.skillopt from its settings.'} Then start again.`,
    },
  );
}

async function hasServer({ agent, place }: AgentAtHand): Promise<boolean> {
  for (const name of pluginHosts[agent].byHand!.settings) {
    const text = await orIfMissing(readFile(join(hostFolder(agent, place.env), name), 'utf8'), '{}');
    const { mcp } = readSettings(text, name) as { mcp?: object };
    if (mcp !== undefined && Object.hasOwn(mcp, PLUGIN)) return true;
  }
  return false;
}

function readSettings(text: string, name: string): object {
  try {
    return parseJsonc(text) as object;
  } catch {
    throw new SkillError('DOCUMENT_REFUSED', `${name} is not JSON with comments`, {
      hint: 'Nothing was changed. Correct it, and start again.',
    });
  }
}

/** Each part is in the receipt before it is done, so that a crash leaves nothing that cannot be undone. */
async function perform(at: AgentAtHand, plan: Plan, before: Snapshot): Promise<void> {
  const { agent, pluginsFolder } = at;
  const files = [...plan.files].map(([path, bytes]): OwnFile => ({ path, digest: digestOf(bytes) }));
  const folders = missingFolders([...plan.files.keys(), ...plan.settings]);
  const begun: Receipt = {
    ...{ format: 1, agent, version: packageVersion(), at: new Date().toISOString(), isWhole: false },
    ...{
      commands: plan.commands.map((command) => [...command]),
      pinned: plan.pinned,
      files,
      folders,
      settings: [],
      inserted: null,
    },
  };
  await writeReceipt(pluginsFolder, begun);
  let receipt = begun;
  try {
    await writeCopy(at, plan);
    receipt = { ...receipt, inserted: await insertByHand(at, plan) };
    await writeReceipt(pluginsFolder, receipt);
    await runVerbs(at, pluginHosts[agent].install(plan.root));
    const version = await listedVersion(at);
    if (version !== begun.version)
      throw agentFailed(agent, `expected ${PLUGIN} ${begun.version} in its list, got ${version ?? 'no such plugin'}`);
    await writeReceipt(pluginsFolder, {
      ...receipt,
      isWhole: true,
      settings: changesBetween(before, await readAll(plan.settings)),
    });
  } catch (error) {
    const settings = changesBetween(before, await readAll(plan.settings));
    await takeOut(at, { ...receipt, settings }).catch(() => undefined); // the first error says more
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

async function insertByHand(
  { agent, pluginsFolder }: AgentAtHand,
  { root, settings }: Plan,
): Promise<Receipt['inserted']> {
  if (pluginHosts[agent].byHand === undefined) return null;
  const path = await realpath(settings[0]!).catch(() => settings[0]!);
  const old = await orIfMissing(readFile(path), null);
  const server = { type: 'local', command: [join(root, LAUNCHER)], enabled: true };
  const text = old === null ? '{}\n' : old.toString('utf8');
  const insertion = insertKey(text, ['mcp', PLUGIN], server);
  if (insertion === undefined || (old !== null && !Buffer.from(text).equals(old))) {
    throw new SkillError('DOCUMENT_REFUSED', `expected an object without the key mcp.${PLUGIN} in ${path}`, {
      hint: 'It was not changed. Look at the file, and start again.',
    });
  }
  const bytes = Buffer.from(insertion.text);
  await changeFiles(pluginsFolder, [{ path, expected: old === null ? null : digestOf(old), bytes, isAnyFile: true }]);
  return { path: settings[0]!, text: insertion.inserted };
}
