import { isAbsolute, join } from 'node:path';
import { agentPrograms, type Environment, homeIn } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { isObject } from '../core/text/index.ts';

export const PLUGIN_AGENTS = ['claude', 'codex', 'copilot', 'gemini', 'qwen', 'opencode'] as const;
export type PluginAgent = (typeof PLUGIN_AGENTS)[number];

export const PLUGIN = 'skillopt';
/** The key of a server in settings that are edited by hand. */
export const SERVER = ['mcp', PLUGIN] as const;
const AT_MARKETPLACE = `${PLUGIN}@${PLUGIN}`;

/** Arguments of the agent's own program. */
type Verb = readonly string[];

/** How one agent takes a plugin, gives it back, and says which it has. Observed by running it. */
export type PluginHost = {
  /** `root` is our copy: marketplace files, with the plugin in `plugin`. */
  install(root: string): readonly Verb[];
  readonly uninstall: readonly Verb[];
  /** Verbs that print what is there, the plugins first. */
  readonly list: readonly Verb[];
  /** The version of our plugin in what the first of them printed. */
  installedIn(printed: string): string | undefined;
  /** Variables for its verbs. */
  readonly env?: Environment;
  /** Files of its own folder that its verbs change. */
  readonly settings: readonly string[];
  /** The person's own servers: files that hold them, their key, and the verb that removes ours. Without a verb it is done by hand. */
  readonly servers: { readonly files: readonly string[]; readonly key: string; readonly remove?: Verb };
  /** Where in its own folder it keeps a copy of the plugin. */
  cache?(version: string): string;
  /** Undefined for an agent that has verbs. Otherwise one key of its settings is edited, and these files are copied. */
  readonly byHand?: { readonly settings: readonly string[]; readonly copies: Readonly<Record<string, string>> };
};

const marketplaces = (word: string): Omit<PluginHost, 'installedIn' | 'settings' | 'servers'> => ({
  install: (root) => [
    ['plugin', 'marketplace', 'add', root],
    ['plugin', word, AT_MARKETPLACE],
  ],
  uninstall: [
    ['plugin', word === 'add' ? 'remove' : 'uninstall', AT_MARKETPLACE],
    ['plugin', 'marketplace', 'remove', PLUGIN],
  ],
  list: [
    ['plugin', 'list'],
    ['plugin', 'marketplace', 'list'],
  ],
});

const REMOVE = ['mcp', 'remove', PLUGIN];
/** Without it, some remove it from the project that is open. */
const REMOVE_OWN = ['mcp', 'remove', '--scope', 'user', PLUGIN];

const extensions = {
  install: (root: string) => [['extensions', 'install', join(root, 'plugin'), '--consent']],
  uninstall: [['extensions', 'uninstall', PLUGIN]],
  list: [['extensions', 'list']],
  installedIn: (printed: string) => /^\W*skillopt \(v?([^)]+)\)/m.exec(printed)?.[1],
  cache: () => `extensions/${PLUGIN}`,
  servers: { files: ['settings.json'], key: 'mcpServers', remove: REMOVE_OWN },
};

/** The JSON in what a program printed. */
function parsed(printed: string): unknown {
  try {
    const text = printed.slice(printed.search(/[[{]/));
    return JSON.parse(text.slice(0, Math.max(text.lastIndexOf(']'), text.lastIndexOf('}')) + 1));
  } catch {
    return undefined;
  }
}

const valueAt = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

/** The version of the row whose `key` has this value. */
function versionAt(rows: unknown, key: string, value: string): string | undefined {
  const row = Array.isArray(rows) ? rows.find((one) => valueAt(one, key) === value) : undefined;
  return row && String(valueAt(row, 'version') ?? 'unknown');
}

const cache = (version: string) => `plugins/cache/${PLUGIN}/${PLUGIN}/${version}`;

const OPENCODE_SETTINGS = ['opencode.jsonc', 'opencode.json', 'config.json'];

export const pluginHosts: Readonly<Record<PluginAgent, PluginHost>> = {
  claude: {
    ...marketplaces('install'),
    list: [
      ['plugin', 'list', '--json'],
      ['plugin', 'marketplace', 'list'],
    ],
    installedIn: (printed) => versionAt(parsed(printed), 'id', AT_MARKETPLACE),
    settings: ['settings.json', 'plugins/installed_plugins.json', 'plugins/known_marketplaces.json'],
    servers: { files: ['.claude.json'], key: 'mcpServers', remove: REMOVE_OWN },
    cache,
  },
  codex: {
    ...marketplaces('add'),
    list: [
      ['plugin', 'list', '--json'],
      ['plugin', 'marketplace', 'list'],
    ],
    installedIn: (printed) => versionAt(valueAt(parsed(printed), 'installed'), 'pluginId', AT_MARKETPLACE),
    settings: ['config.toml'],
    servers: { files: ['config.toml'], key: 'mcp_servers', remove: REMOVE },
    cache,
  },
  copilot: {
    ...marketplaces('install'),
    installedIn: (printed) => /skillopt@skillopt \(v([^)]+)\)/.exec(printed)?.[1],
    settings: ['settings.json'],
    servers: { files: ['mcp-config.json'], key: 'mcpServers', remove: REMOVE },
  },
  gemini: {
    ...extensions,
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' }, // of an empty folder of ours; it would ask otherwise
    settings: ['settings.json', 'projects.json', 'extension_integrity.json', 'extensions/extension-enablement.json'],
  },
  qwen: { ...extensions, settings: ['settings.json', 'extensions/extension-enablement.json'] },
  opencode: {
    install: () => [],
    uninstall: [],
    list: [['debug', 'config']],
    installedIn: (printed) => {
      const command = valueAt(valueAt(valueAt(parsed(printed), 'mcp'), PLUGIN), 'command');
      return /[\\/]plugins[\\/]([^\\/]+)[\\/]opencode[\\/]/.exec(Array.isArray(command) ? String(command[0]) : '')?.[1];
    },
    settings: [],
    servers: { files: OPENCODE_SETTINGS, key: SERVER[0] },
    byHand: {
      settings: OPENCODE_SETTINGS,
      copies: {
        'skills/skillopt-sleep/SKILL.md': 'plugin/skills/skillopt-sleep/SKILL.md',
        'commands/sleep.md': 'plugin/commands/sleep.md',
      },
    },
  },
};

/** What a person types to remove the plugin. Each by itself: Copilot fails at the first if the files are gone, and the second helps. */
export const removalOf = (agent: PluginAgent): string =>
  pluginHosts[agent].uninstall.map((verb) => [agentPrograms[agent].binary, ...verb].join(' ')).join('; ');

/** The agent's own folder: where its variable says, or in the user's home. */
export function hostFolder(agent: PluginAgent, env: Environment): string {
  const { variable, folder } = agentPrograms[agent].documents!.home;
  const home = env[variable] || join(homeIn(env), folder);
  const below = { claude: '', codex: '', copilot: '', gemini: '.gemini', qwen: '', opencode: 'opencode' }[agent];
  if (isAbsolute(home)) return join(home, below);
  throw new SkillError('CONFIG_INVALID', `expected an absolute path in ${variable}, got ${home}`, {
    hint: `Correct it, or unset it: ${agentPrograms[agent].title} would use another folder in every place.`,
  });
}

/** Throws for an agent that takes no plugin of ours. */
export function requirePluginAgent(name: string): PluginAgent {
  const agent = PLUGIN_AGENTS.find((one) => one === name);
  if (agent !== undefined) return agent;
  throw new SkillError('USAGE', `expected the name of an agent, got ${JSON.stringify(name)}`, {
    hint: `There is: ${PLUGIN_AGENTS.join(', ')}. For another agent, copy the folder plugin/skills to where it reads skills.`,
  });
}
