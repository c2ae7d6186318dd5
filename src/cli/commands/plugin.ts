import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import {
  type ExaminedPlugin,
  examinePlugins,
  installPlugin,
  listPlugins,
  PLUGIN_AGENTS,
  type PluginInstall,
  type PluginUninstall,
  requirePluginAgent,
  uninstallPlugin,
} from '../../plugins/index.ts';
import { Answered } from '../errors.ts';
import { jsonOption } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

const AGENTS = PLUGIN_AGENTS.join(', ');
type Flags = { readonly dryRun?: boolean };

export const define: DefineCommand = (command, terminal) => {
  const part = (name: string, description: string) => command.command(name).description(description);
  const parts = [
    part('install <agent>', `give an agent the skill, the command and the tools of skillopt: ${AGENTS}`)
      .option('--dry-run', 'show what would be called and written, and do nothing')
      .action((agent: string, flags: Flags) => install(agent, flags, terminal)),
    part('uninstall <agent>', 'undo that, and nothing else')
      .option('--dry-run', 'show what would be called and removed, and do nothing')
      .action((agent: string, flags: Flags) => uninstall(agent, flags, terminal)),
    part('list', 'where it is installed').action(() => list(terminal)),
    part('doctor [agent]', 'check each agent: is the plugin there, of this version, and does it start').action(
      (agent: string | undefined) => examine(agent, terminal),
    ),
  ];
  for (const each of parts) each.addOption(jsonOption());
  for (const each of [command, ...parts]) each.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt plugin install claude --dry-run', 'what would be called and written'],
  ['skillopt plugin install claude', 'install it; start a new session of the agent afterwards'],
  ['skillopt plugin doctor', 'after an update of skillopt, Node or an agent'],
  ['skillopt plugin uninstall claude', 'undo it; settings are as before'],
]);

const placeOf = ({ io }: Terminal) => ({ env: io.env, cwd: io.cwd() });

const commandLine = (command: readonly string[]) => command.map(shellWord).join(' ');

async function install(name: string, { dryRun = false }: Flags, terminal: Terminal): Promise<void> {
  const agent = requirePluginAgent(name);
  const done = await installPlugin(agent, placeOf(terminal), { isDryRun: dryRun });
  terminal.answer(done, done.standing === 'planned' ? plannedLines(done, terminal) : installedLines(done, terminal));
}

function plannedLines(plan: PluginInstall | PluginUninstall, { colors: { dim } }: Terminal): string[] {
  const isInstall = 'settings' in plan;
  const { commands, files } = plan;
  return [
    dim('commands'),
    ...(commands.length > 0 ? commands.map((command) => `  ${commandLine(command)}`) : ['  none']),
    dim(isInstall ? 'files that are written' : 'files that are removed'),
    ...files.map((path) => `  ${oneLine(path)}`),
    ...(isInstall ? [dim('settings that change'), ...plan.settings.map((path) => `  ${oneLine(path)}`)] : []),
    'Nothing was changed.',
  ];
}

function installedLines({ agent, version, standing, commands, files }: PluginInstall, { colors }: Terminal): string[] {
  if (standing === 'already') return [`${agent} has skillopt ${version} already. Nothing was changed.`];
  return [
    colors.green(`skillopt ${version} is installed in ${agent}.`),
    ...commands.map((command) => `  called   ${commandLine(command)}`),
    `  written  ${plural(files.length, 'file')}`,
    'Restart the agent: a reload keeps the old server. Then ask it: «What did you learn last night?»',
    `To undo it: skillopt plugin uninstall ${agent}`,
  ];
}

async function uninstall(name: string, { dryRun = false }: Flags, terminal: Terminal): Promise<void> {
  const agent = requirePluginAgent(name);
  const done = await uninstallPlugin(agent, placeOf(terminal), { isDryRun: dryRun });
  terminal.answer(done, uninstalledLines(done, terminal));
}

function uninstalledLines(done: PluginUninstall, terminal: Terminal): string[] {
  const { agent, standing, left } = done;
  if (standing === 'none') return [`skillopt was not installed in ${agent} by this command. Nothing was changed.`];
  if (standing === 'planned') return plannedLines(done, terminal);
  return [
    terminal.colors.green(`skillopt is removed from ${agent}.`),
    ...left.map(({ path, why }) => `  left as it is: ${oneLine(path)}: ${why}`),
  ];
}

async function list(terminal: Terminal): Promise<void> {
  const plugins = await listPlugins(placeOf(terminal));
  const lines = plugins.map(
    ({ agent, version }) => `${agent.padEnd(9)} ${version ?? terminal.colors.dim('not installed')}`,
  );
  terminal.answer({ plugins }, lines);
}

async function examine(name: string | undefined, terminal: Terminal): Promise<void> {
  const agents = name === undefined ? PLUGIN_AGENTS : [requirePluginAgent(name)];
  const plugins = await examinePlugins(placeOf(terminal), agents);
  const isOk = plugins.every(({ standing }) => standing !== 'broken');
  terminal.answer(
    { isOk, plugins },
    plugins.flatMap((plugin) => examinedLines(plugin, terminal)),
  );
  if (!isOk) throw new Answered(1);
}

function examinedLines(plugin: ExaminedPlugin, { colors, called }: Terminal): string[] {
  const { agent, standing, agentVersion = 'version unknown', version, problems } = plugin;
  const name = agent.padEnd(9);
  if (standing === 'absent') return [colors.dim(`- ${name} not on this machine`)];
  const hint = called(`skillopt plugin install ${agent}`);
  if (standing === 'none') return [`- ${name} ${agentVersion}, without the plugin: ${hint}`];
  if (standing === 'good')
    return [
      `${colors.green('✓')} ${name} ${agentVersion}, with skillopt ${version}: it is listed, and its server answers`,
    ];
  return [
    `${colors.red('✗')} ${name} skillopt ${version}`,
    ...problems.flatMap(({ message, remedy }) => [`  ${message}`, `  ${colors.dim('→')} ${called(remedy)}`]),
  ];
}
