import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentPrograms, findAgents, type Located, versionOf } from '../agents/index.ts';
import { oneLine } from '../core/text/index.ts';
import { type AgentAtHand, listedVersion, sayHello } from './agent-process.ts';
import { digestAt, LAUNCHER, packageVersion } from './copy.ts';
import { hostFolder, PLUGIN, PLUGIN_AGENTS, type PluginAgent, pluginHosts, removalOf } from './hosts.ts';
import { findOtherServer, hasPluginOfOurName } from './own-name.ts';
import {
  type PluginsPlace,
  pluginsFolderOf,
  type Receipt,
  readReceipt,
  recoverInterrupted,
  rootOf,
} from './receipt.ts';

export type ListedPlugin = {
  readonly agent: PluginAgent;
  /** By this command. */
  readonly installed: boolean;
  readonly version?: string;
  readonly installedAt?: string;
  readonly folder?: string;
};

/** What receipts say. Runs nothing. */
export async function listPlugins(place: PluginsPlace): Promise<readonly ListedPlugin[]> {
  return Promise.all(
    PLUGIN_AGENTS.map(async (agent) => {
      const receipt = await readReceipt(agent, place);
      if (receipt === undefined) return { agent, installed: false };
      const folder = rootOf(pluginsFolderOf(place), receipt);
      return { agent, installed: true, version: receipt.version, installedAt: receipt.at, folder };
    }),
  );
}

export type ExaminedPlugin = {
  readonly agent: PluginAgent;
  readonly title: string;
  readonly program?: string;
  readonly agentVersion?: string;
  /** Of the plugin: by the receipt, in the agent's list, and as the server says that is started. */
  readonly version?: string;
  readonly listedVersion?: string;
  readonly runningVersion?: string;
  /** `absent`: no such agent. `none`: no plugin in it, and nothing else of its name but what `serverByHand` names. */
  readonly standing: 'absent' | 'none' | 'good' | 'broken';
  /** Settings in which the person's own `skillopt mcp` is. */
  readonly serverByHand?: string;
  readonly problems: readonly PluginProblem[];
};

type PluginProblem = { readonly message: string; readonly remedy: string };

/** Looks at each agent: whether it is there, and whether the plugin in it is the one of this package and starts. */
export async function examinePlugins(
  place: PluginsPlace,
  agents: readonly PluginAgent[] = PLUGIN_AGENTS,
): Promise<readonly ExaminedPlugin[]> {
  await recoverInterrupted(place);
  const found = findAgents(place.env, place.cwd);
  return Promise.all(
    agents.map((agent) =>
      examineOne(
        agent,
        place,
        found.find(({ cli }) => cli === agentPrograms[agent].cli),
      ),
    ),
  );
}

async function examineOne(agent: PluginAgent, place: PluginsPlace, program?: Located): Promise<ExaminedPlugin> {
  const { title, cli } = agentPrograms[agent];
  const receipt = await readReceipt(agent, place);
  const agentVersion = program && (await versionOf({ ...program, cli }, place.env));
  const seen = { agent, title, ...(program && { program: program.path }), ...(agentVersion && { agentVersion }) };
  if (receipt === undefined)
    return program ? examineWithout(agent, place, seen) : { ...seen, standing: 'absent', problems: [] };
  const own = { ...seen, version: receipt.version };
  if (program === undefined) return { ...own, standing: 'broken', problems: [gone(agent)] };
  const at: AgentAtHand = { agent, program, place, pluginsFolder: pluginsFolderOf(place) };
  const others = await lookForOthers(at, receipt);
  if (!receipt.isWhole) return { ...own, standing: 'broken', problems: [...others, cutOff(agent)] };
  const files = await lookAtFiles(at, receipt);
  const listed = await lookAtList(at);
  const running = await lookAtServer(at, receipt);
  const problems = [...others, ...files, ...listed.problems, ...running.problems];
  const versions = {
    ...(listed.version !== undefined && { listedVersion: listed.version }),
    ...(running.version !== undefined && { runningVersion: running.version }),
  };
  return { ...own, ...versions, standing: problems.length === 0 ? 'good' : 'broken', problems };
}

type Seen = Pick<ExaminedPlugin, 'agent' | 'title' | 'program' | 'agentVersion'>;

/** An agent into which nothing was installed. What it has of our name is somebody else's, or was left over. */
async function examineWithout(agent: PluginAgent, place: PluginsPlace, seen: Seen): Promise<ExaminedPlugin> {
  try {
    const server = await findOtherServer(agent, place);
    const byHand = server?.isByHand ? { serverByHand: server.path } : {};
    const problems = [
      ...(server && !server.isByHand ? [{ message: server.message, remedy: server.remedy }] : []),
      ...((await hasPluginOfOurName(agent, place)) ? [leftOver(agent)] : []),
    ];
    return { ...seen, ...byHand, standing: problems.length === 0 ? 'none' : 'broken', problems };
  } catch (error) {
    return { ...seen, standing: 'broken', problems: [unreadable(agent, error)] };
  }
}

/** Such as of an uninstall while the program of the agent was gone. An install refuses it. */
function leftOver(agent: PluginAgent): PluginProblem {
  return {
    message: `${agentPrograms[agent].title} has a plugin or a marketplace named ${PLUGIN}, and no install of this command is known`,
    remedy: `${removalOf(agent)}; ${again(agent)}`,
  };
}

async function lookForOthers({ agent, place, pluginsFolder }: AgentAtHand, receipt: Receipt): Promise<PluginProblem[]> {
  try {
    const server = await findOtherServer(agent, place, join(rootOf(pluginsFolder, receipt), LAUNCHER));
    return server ? [{ message: server.message, remedy: server.remedy }] : [];
  } catch (error) {
    return [unreadable(agent, error)];
  }
}

const unreadable = (agent: PluginAgent, error: unknown): PluginProblem => ({
  message: (error as Error).message,
  remedy: `Correct it: ${agentPrograms[agent].title} cannot read it either`,
});

/** The rest need not be looked at: an install undoes it first, and does all again. */
const cutOff = (agent: PluginAgent): PluginProblem => ({ message: 'its install was cut off', remedy: again(agent) });

const again = (agent: PluginAgent) => `skillopt plugin install ${agent}`;

const gone = (agent: PluginAgent): PluginProblem => ({
  message: `the plugin was installed into ${agentPrograms[agent].title}, which is not on PATH now`,
  remedy: `Put it on PATH again: ${agentPrograms[agent].installCommand}`,
});

async function lookAtFiles({ agent, pluginsFolder }: AgentAtHand, receipt: Receipt): Promise<PluginProblem[]> {
  const { node, entry } = receipt.pinned;
  const root = rootOf(pluginsFolder, receipt);
  const digests = await Promise.all(
    receipt.files.map(async ({ path, digest }) => [path, digest === (await digestAt(path))] as const),
  );
  const changed = digests.flatMap(([path, isSame]) => (isSame ? [] : [path]));
  return [
    ...(receipt.version === packageVersion()
      ? []
      : [
          {
            message: `expected version ${packageVersion()}, as this package has, got ${receipt.version}`,
            remedy: again(agent),
          },
        ]),
    ...[node, entry]
      .filter((path) => !existsSync(path))
      .map((path) => ({
        message: `its launcher starts ${oneLine(path)}, which is not there any more`,
        remedy: again(agent),
      })),
    ...(changed.length === 0
      ? []
      : [
          {
            message: `${changed.length} of its files in ${oneLine(root)} were changed or removed, such as ${oneLine(changed[0]!)}`,
            remedy: `skillopt plugin uninstall ${agent}, then ${again(agent)}`,
          },
        ]),
  ];
}

async function lookAtList(at: AgentAtHand): Promise<{ version?: string; problems: PluginProblem[] }> {
  const remedy = `skillopt plugin uninstall ${at.agent}, then ${again(at.agent)}`;
  try {
    const version = await listedVersion(at);
    if (version === undefined) return { problems: [{ message: 'the agent does not list it any more', remedy }] };
    if (version === packageVersion()) return { version, problems: [] };
    const message = `expected the agent to list version ${packageVersion()}, got ${version}`;
    return { version, problems: [{ message, remedy }] };
  } catch (error) {
    return { problems: [{ message: (error as Error).message, remedy }] };
  }
}

/** Asks the server as the agent would: by the agent's own copy of the launcher, where it keeps one. */
async function lookAtServer(
  at: AgentAtHand,
  receipt: Receipt,
): Promise<{ version?: string; problems: PluginProblem[] }> {
  const { agent, place, pluginsFolder } = at;
  const cache = pluginHosts[agent].cache?.(receipt.version);
  const cached = cache && join(hostFolder(agent, place.env), cache, LAUNCHER.replace('plugin/', ''));
  const launcher = join(rootOf(pluginsFolder, receipt), LAUNCHER);
  const hello = await sayHello(at, cached !== undefined && existsSync(cached) ? cached : launcher);
  if ('problem' in hello) {
    return { problems: [{ message: `its server did not answer: ${hello.problem}`, remedy: again(agent) }] };
  }
  const { version } = hello;
  if (version === packageVersion()) return { version, problems: [] };
  const message = `expected its server to be of version ${packageVersion()}, got ${version}`;
  return {
    version,
    problems: [{ message, remedy: `${again(agent)}, then restart the agent: a reload keeps the old server` }],
  };
}
