import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentPrograms, findAgents, type Located, versionOf } from '../agents/index.ts';
import { oneLine } from '../core/text/index.ts';
import { type AgentAtHand, listedVersion, sayHello } from './agent-process.ts';
import { digestAt, LAUNCHER, packageVersion } from './copy.ts';
import { hostFolder, PLUGIN_AGENTS, type PluginAgent, pluginHosts } from './hosts.ts';
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
  /** What was installed by this command; undefined if nothing was. */
  readonly version?: string;
  readonly installedAt?: string;
  readonly folder?: string;
};

/** What receipts say. Runs nothing. */
export async function listPlugins(place: PluginsPlace): Promise<readonly ListedPlugin[]> {
  return Promise.all(
    PLUGIN_AGENTS.map(async (agent) => {
      const receipt = await readReceipt(agent, place);
      if (receipt === undefined) return { agent };
      const folder = rootOf(pluginsFolderOf(place), receipt);
      return { agent, version: receipt.version, installedAt: receipt.at, folder };
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
  /** `absent`: no such agent. `none`: no plugin of ours in it. */
  readonly standing: 'absent' | 'none' | 'good' | 'broken';
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
  if (receipt === undefined) return { ...seen, standing: program ? 'none' : 'absent', problems: [] };
  const own = { ...seen, version: receipt.version };
  if (program === undefined) return { ...own, standing: 'broken', problems: [gone(agent)] };
  const at: AgentAtHand = { agent, program, place, pluginsFolder: pluginsFolderOf(place) };
  const [files, listed, running] = [
    await lookAtFiles(at, receipt),
    await lookAtList(at),
    await lookAtServer(at, receipt),
  ];
  const problems = [...files, ...listed.problems, ...running.problems];
  const versions = {
    ...(listed.version !== undefined && { listedVersion: listed.version }),
    ...(running.version !== undefined && { runningVersion: running.version }),
  };
  return { ...own, ...versions, standing: problems.length === 0 ? 'good' : 'broken', problems };
}

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
    ...(receipt.isWhole ? [] : [{ message: 'its install did not end', remedy: again(agent) }]),
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
