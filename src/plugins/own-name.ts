import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { agentPrograms, type Environment } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { clip, isObject, oneLine } from '../core/text/index.ts';
import { orIfMissing } from '../stores/index.ts';
import { hostFolder, PLUGIN, type PluginAgent, pluginHosts } from './hosts.ts';
import { parseJsonc } from './jsonc.ts';
import type { PluginsPlace } from './receipt.ts';

/** A server named `skillopt` in the person's settings of an agent, which is not of the plugin. */
export type OtherServer = {
  readonly path: string;
  readonly message: string;
  /** What takes it away: a command, or a sentence. */
  readonly remedy: string;
  /** Whether it starts `skillopt mcp`, as the docs say for those who want no plugin. */
  readonly isByHand: boolean;
};

/** Looks in files of the agent alone, and runs nothing. `launcher` is that of our install, which is no other server. */
export async function findOtherServer(
  agent: PluginAgent,
  { env }: PluginsPlace,
  launcher?: string,
): Promise<OtherServer | undefined> {
  const { key, remove } = pluginHosts[agent].servers;
  for (const path of serverFiles(agent, env)) {
    const servers = (await readSettings(path))[key];
    if (!isObject(servers) || !Object.hasOwn(servers, PLUGIN)) continue;
    const words = wordsOf(servers[PLUGIN]);
    if (launcher !== undefined && isDeepStrictEqual(words, [launcher])) continue;
    const remedy = remove
      ? [agentPrograms[agent].binary, ...remove].join(' ')
      : `Remove the key ${key}.${PLUGIN} from ${path}`;
    return { path, message: messageFor(agent, path, words), remedy, isByHand: startsOwn(words) };
  }
  return undefined;
}

function messageFor(agent: PluginAgent, path: string, words: readonly string[]): string {
  const has = `${agentPrograms[agent].title} has a server named ${PLUGIN} that this command did not install`;
  if (startsOwn(words)) return `${has}: the same server was added by hand, in ${path}`;
  // Arguments may hold keys.
  return `${has}: it starts ${clip(oneLine(words[0] ?? 'something else'), 100)}, by ${path}`;
}

/** The command of a server, with its arguments: one list, or a text beside a list. */
function wordsOf(server: unknown): string[] {
  const { command, args = [] } = isObject(server) ? server : {};
  return [command, args].flat().filter((word) => typeof word === 'string');
}

const startsOwn = (words: readonly string[]) =>
  words.some((word, at) => /^skillopt(?:\.(?:mjs|cmd|exe))?$/.test(basename(word)) && words[at + 1] === 'mcp');

/** Claude Code keeps servers beside its folder, unless a variable names the folder. */
function serverFiles(agent: PluginAgent, env: Environment): string[] {
  const folder = hostFolder(agent, env);
  const { files } = pluginHosts[agent].servers;
  if (agent !== 'claude' || env[agentPrograms.claude.documents!.home.variable])
    return files.map((name) => join(folder, name));
  return files.map((name) => join(dirname(folder), name));
}

/** The object in a settings file; an empty one if there is no file. */
async function readSettings(path: string): Promise<Record<string, unknown>> {
  const text = await orIfMissing(readFile(path, 'utf8'), '');
  if (text.trim() === '') return {};
  try {
    const data = extname(path) === '.toml' ? parse(text) : parseJsonc(text);
    return isObject(data) ? data : {};
  } catch {
    const form = extname(path) === '.toml' ? 'TOML' : 'JSON with comments';
    throw new SkillError('DOCUMENT_REFUSED', `${path} is not ${form}`, {
      hint: 'Nothing was changed. Correct it, and start again.',
    });
  }
}

/** Whether an agent has a plugin or a marketplace of our name, by its files. Runs nothing. */
export async function hasPluginOfOurName(agent: PluginAgent, { env }: PluginsPlace): Promise<boolean> {
  const { settings, cache } = pluginHosts[agent];
  const folder = hostFolder(agent, env);
  const extension = cache?.('');
  if (extension?.startsWith('extensions/')) return existsSync(join(folder, extension));
  if (settings[0] === undefined) return false;
  const lists = Object.values(await readSettings(join(folder, settings[0]))).filter(isObject);
  return lists.some((list) => isMarketplace(list[PLUGIN])); // without it, no agent finds the plugin
}

const isMarketplace = (value: unknown) => isObject(value) && Object.hasOwn(value, 'source');
