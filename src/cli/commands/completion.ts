import { Argument, type Command, type Option } from 'commander';
import { jsonOption } from '../flags/flags.ts';
import { buildCommand, type CommandEntry, type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What a shell may offer in a place: names of runs, files, folders, these words, or nothing that is known. */
type Offer = 'runs' | 'files' | 'folders' | 'nothing' | readonly string[];

type Flag = { readonly name: string; readonly help: string; readonly takes: Offer | undefined };

/** A command, or a part of one, as it is typed: `train`, `sleep run`. */
type Level = {
  readonly path: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly words: Offer;
};

async function commandLevels(entries: readonly CommandEntry[], terminal: Terminal): Promise<Level[]> {
  const commands = await Promise.all(entries.map((entry) => buildCommand(entry, terminal)));
  return commands.flatMap((command, at) => levelsOf(command, entries[at]!.name));
}

function levelsOf(command: Command, path: string): Level[] {
  const parts = command.commands.map((part) => part.name());
  const [argument] = command.registeredArguments;
  const help: Flag = { name: '--help', help: 'display help for command', takes: undefined };
  const level: Level = {
    path,
    summary: command.description(),
    flags: [...command.options.flatMap(flagsOf), help],
    words: parts.length > 0 ? parts : (argument?.argChoices ?? offerFor(argument?.name() ?? '')),
  };
  return [level, ...command.commands.flatMap((part) => levelsOf(part, `${path} ${part.name()}`))];
}

/** A flag may have two long names. */
function flagsOf(option: Option): Flag[] {
  const takes = option.required || option.optional ? optionOffer(option) : undefined;
  const names = [option.short, option.long].filter((name) => name?.startsWith('--'));
  return names.map((name) => ({ name: name!, help: option.description, takes }));
}

function optionOffer({ flags, argChoices, description }: Option): Offer {
  return argChoices ?? choicesIn(description) ?? offerFor(/[<[]([^<[]*)[>\]]$/.exec(flags)?.[1] ?? '');
}

/** Flags that come from a schema name what they take at the end of their help: `(hard, soft, mixed; default: hard)`. */
function choicesIn(help: string): string[] | undefined {
  return /\(((?:[\w-]+, )+[\w-]+)(?:; default: [^()]*)?\)$/.exec(help)?.[1]?.split(', ');
}

/** By what help calls it: `<path>`, `[dir]`, `<run>`. */
function offerFor(name: string): Offer {
  if (/\brun\b/.test(name)) return 'runs';
  if (/\bdir\b/.test(name)) return 'folders';
  return /\b(?:path|file)\b/.test(name) ? 'files' : 'nothing';
}

/**
 * For bash, and for zsh through its bashcompinit. All words stand in the script: a key press starts no process but `ls`.
 * Only what a bash of 2007 knows, which macOS still has.
 */
function bashScript(levels: readonly Level[]): string {
  const top = levels.filter(({ path }) => !path.includes(' ')).map(({ path }) => path);
  return [
    '_skillopt() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} level="" word`,
    `  [ "\${COMP_WORDS[0]##*/}" = skillopt-sleep ] && level=sleep`,
    '  COMPREPLY=()',
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    case "$level $word" in',
    ...levels.map(
      ({ path }) => `      ${inQuotes(path.includes(' ') ? path : ` ${path}`)}) level=${inQuotes(path)} ;;`,
    ),
    '    esac',
    '  done',
    '  case "$level $prev" in',
    ...levels.flatMap(valueCases),
    '  esac',
    '  case "$level" in',
    ...levels.map((level) => `    ${inQuotes(level.path)}) ${levelReply(level)} ;;`),
    `    "") ${wordsReply([...top, '--help', '--version'])} ;;`,
    '  esac',
    '}',
    '_skillopt_runs() { (cd runs 2>/dev/null && ls -1d */ 2>/dev/null) | tr -d /; }',
    'complete -o filenames -F _skillopt skillopt skillopt-sleep',
    '',
  ].join('\n');
}

function valueCases({ path, flags }: Level): string[] {
  return flags.flatMap(({ name, takes }) =>
    takes === undefined ? [] : [`    ${inQuotes(`${path} ${name}`)}) ${reply(takes)}; return ;;`],
  );
}

/** A dash asks for options, anything else for what comes there. */
function levelReply({ flags, words }: Level): string {
  const options = wordsReply(flags.map(({ name }) => name));
  const others = words === 'nothing' ? options : reply(words);
  return `case "$cur" in -*) ${options} ;; *) ${others} ;; esac`;
}

const REPLIES = {
  runs: 'COMPREPLY=($(compgen -W "$(_skillopt_runs)" -- "$cur"))',
  files: 'COMPREPLY=($(compgen -f -- "$cur"))',
  folders: 'COMPREPLY=($(compgen -d -- "$cur"))',
  nothing: ':',
};

const reply = (offer: Offer) => (typeof offer === 'string' ? REPLIES[offer] : wordsReply(offer));

const wordsReply = (words: readonly string[]) => `COMPREPLY=($(compgen -W ${inQuotes(words.join(' '))} -- "$cur"))`;

/** Names of ours hold no quote. */
const inQuotes = (text: string) => `"${text}"`;

const zshScript = (levels: readonly Level[]): string =>
  ['#compdef skillopt skillopt-sleep', 'autoload -U +X bashcompinit && bashcompinit', bashScript(levels)].join('\n');

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap((level) => [
    `complete -c skillopt -n ${quoted(before(level.path))} -f -a ${level.path.split(' ').at(-1)} -d ${quoted(level.summary)}`,
    ...(level.words === 'nothing' || typeof level.words !== 'string'
      ? []
      : [`complete -c skillopt -n ${quoted(after(level.path))} ${OFFERS[level.words]}`]),
    ...level.flags.map((flag) => flagLine(level.path, flag)),
  ]);
  return ['complete -c skillopt -f', ...lines, 'complete -c skillopt-sleep -w "skillopt sleep"', ''].join('\n');
}

function before(path: string): string {
  const [command, part] = path.split(' ');
  return part === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${command}`;
}

const after = (path: string) =>
  path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ');

const OFFERS = {
  runs: "-f -a '(path basename runs/*/ 2>/dev/null)'",
  files: '-F',
  folders: "-f -a '(__fish_complete_directories)'",
  nothing: '-f',
};

const offerOf = (offer: Offer) => (typeof offer === 'string' ? OFFERS[offer] : `-f -a ${quoted(offer.join(' '))}`);

function flagLine(path: string, { name, help, takes }: Flag): string {
  const value = takes === undefined ? '' : ` -r ${offerOf(takes)}`;
  return `complete -c skillopt -n ${quoted(after(path))} -l ${name.slice(2)}${value} -d ${quoted(help)}`;
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

/** Completes all of these. The table cannot be imported here, since it loads this file. */
export const defineFor =
  (commands: readonly CommandEntry[]): DefineCommand =>
  (command, terminal) => {
    command
      .addArgument(new Argument('<shell>', 'whose completion is printed').choices(Object.keys(SCRIPTS)))
      .addOption(jsonOption())
      .addHelpText('after', EXAMPLES)
      .action(async (shell: Shell) => {
        const script = SCRIPTS[shell](await commandLevels(commands, terminal));
        terminal.answer({ shell, script }, script.trimEnd().split('\n'));
      });
  };

const EXAMPLES = examples([
  ['skillopt completion bash >> ~/.bashrc', 'commands, options, their values and names of runs by the tab key'],
  ['skillopt completion zsh > ~/.zsh/completions/_skillopt', 'the same for zsh'],
  ['skillopt completion fish > ~/.config/fish/completions/skillopt.fish', 'and for fish'],
]);
