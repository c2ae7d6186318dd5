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
import { Answered, interruptible } from '../errors.ts';
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
  const helps = { install: INSTALLS, uninstall: INSTALLS, list: LISTS, doctor: EXAMINES } as const;
  for (const each of parts) each.addHelpText('after', helps[each.name() as keyof typeof helps]);
  command.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt plugin install claude --dry-run', 'what would be called and written'],
  ['skillopt plugin install claude', 'install it; start a new session of the agent afterwards'],
  ['skillopt plugin doctor', 'after an update of skillopt, Node or an agent'],
  ['skillopt plugin uninstall claude', 'undo it; settings are as before'],
]);

const INSTALLS = examples([
  ['skillopt plugin install claude --dry-run', 'what would be called and written'],
  ['skillopt plugin install claude', 'install it; start a new session of the agent afterwards'],
  ['skillopt plugin uninstall claude --dry-run', 'what would be called and removed'],
  ['skillopt plugin uninstall claude', 'undo it; settings are as before'],
]);

const LISTS = examples([
  ['skillopt plugin list', 'each agent, and the version of the plugin in it'],
  ['skillopt plugin list --json', 'the same for a program, with folders and times'],
]);

const EXAMINES = examples([
  ['skillopt plugin doctor', 'look at all agents'],
  ['skillopt plugin doctor claude', 'look at one of them'],
  ['skillopt plugin doctor --json', 'the same for a program: isOk, and the problems of each agent'],
]);

const placeOf = ({ io }: Terminal) => ({ env: io.env, cwd: io.cwd() });

/** It stops at once: the one line is what it says at its end. */
const STOPPING = { onStop: () => {} };

const commandLine = (command: readonly string[]) => command.map(shellWord).join(' ');

async function install(name: string, { dryRun = false }: Flags, terminal: Terminal): Promise<void> {
  const agent = requirePluginAgent(name);
  const hint = `The install was cut off. To undo what it did: skillopt plugin uninstall ${agent}`;
  const done = await interruptible({ ...STOPPING, io: terminal.io, hint }, (signal) =>
    installPlugin(agent, placeOf(terminal), { isDryRun: dryRun, signal }),
  );
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

function installedLines(done: PluginInstall, { colors, io: { env } }: Terminal): string[] {
  const { agent, version, standing, commands, folder, files, left } = done;
  if (standing === 'already') return [`${agent} has skillopt ${version} already. Nothing was changed.`];
  const short = (path: string) => inHome(path, env);
  const elsewhere = files.filter((path) => !path.startsWith(folder));
  return [
    colors.green(`skillopt ${version} is installed in ${agent}.`),
    ...commands.map(([, ...words]) => `  called   ${[agent, ...words.map(short)].map(wordShown).join(' ')}`),
    `  written  ${plural(files.length - elsewhere.length, 'file')} in ${oneLine(short(folder))}`,
    ...elsewhere.map((path) => `  written  ${oneLine(short(path))}`),
    ...leftLines(left),
    'Restart the agent: a reload keeps the old server. Then ask it: «What did you learn last night?»',
    `To undo it: skillopt plugin uninstall ${agent}`,
  ];
}

/** A shell reads `~` only without quotes. */
const wordShown = (word: string) => (/^~(?:\/[\w@./+-]+)?$/.test(word) ? word : shellWord(word));

/** With `~` for the home. */
function inHome(path: string, { HOME = '' }: Readonly<Record<string, string | undefined>>): string {
  return HOME !== '' && path.startsWith(`${HOME}/`) ? `~${path.slice(HOME.length)}` : path;
}

const leftLines = (left: PluginUninstall['left']) => left.map(({ path, why }) => `  stays    ${oneLine(path)}: ${why}`);

async function uninstall(name: string, { dryRun = false }: Flags, terminal: Terminal): Promise<void> {
  const agent = requirePluginAgent(name);
  const hint = `The uninstall was cut off. To go on with it: skillopt plugin uninstall ${agent}`;
  const done = await interruptible({ ...STOPPING, io: terminal.io, hint }, (signal) =>
    uninstallPlugin(agent, placeOf(terminal), { isDryRun: dryRun, signal }),
  );
  terminal.answer(done, uninstalledLines(done, terminal));
}

function uninstalledLines(done: PluginUninstall, terminal: Terminal): string[] {
  const { agent, standing, left } = done;
  if (standing === 'none') return [`skillopt was not installed in ${agent} by this command. Nothing was changed.`];
  if (standing === 'planned') return plannedLines(done, terminal);
  return [terminal.colors.green(`skillopt is removed from ${agent}.`), ...leftLines(left)];
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
  const { agent, standing, agentVersion = 'version unknown', version, serverByHand, problems } = plugin;
  const name = agent.padEnd(9);
  if (standing === 'absent') return [colors.dim(`- ${name} not on this machine`)];
  const hint = called(`skillopt plugin install ${agent}`);
  if (standing === 'none' && serverByHand !== undefined)
    return [`- ${name} ${agentVersion}, without the plugin: its server was added by hand, in ${oneLine(serverByHand)}`];
  if (standing === 'none') return [`- ${name} ${agentVersion}, without the plugin: ${hint}`];
  if (standing === 'good')
    return [
      `${colors.green('✓')} ${name} ${agentVersion}, with skillopt ${version}: it is listed, and its server answers`,
    ];
  return [
    `${colors.red('✗')} ${name} ${version === undefined ? `${agentVersion}, without the plugin` : `skillopt ${version}`}`,
    ...problems.flatMap(({ message, remedy }) => [`  ${message}`, `  ${colors.dim('→')} ${called(remedy)}`]),
  ];
}
