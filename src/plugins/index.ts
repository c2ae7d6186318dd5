// The public names of this room. Adding a line is adding API.

export { type ExaminedPlugin, examinePlugins, listPlugins } from './examine.ts';
export { PLUGIN_AGENTS, requirePluginAgent } from './hosts.ts';
export { installPlugin, type PluginInstall } from './install.ts';
export { type PluginUninstall, uninstallPlugin } from './uninstall.ts';
