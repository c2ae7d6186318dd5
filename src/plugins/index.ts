// The public names of this room. Adding a line is adding API.

export { type ExaminedPlugin, examinePlugins, type ListedPlugin, listPlugins, type PluginProblem } from './examine.ts';
export { PLUGIN_AGENTS, type PluginAgent, requirePluginAgent } from './hosts.ts';
export { type InstallOptions, installPlugin, type PluginInstall } from './install.ts';
export type { PluginsPlace } from './receipt.ts';
export { type LeftFile, type PluginUninstall, uninstallPlugin } from './uninstall.ts';
