import type { Flag, Level, Offer } from './levels.ts';

/** One line for each word that may be typed. */
export function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap((level) => [
    `complete -c skillopt -n ${quoted(before(level.path))} -f -a ${level.path.split(' ').at(-1)} -d ${quoted(level.summary)}`,
    ...argumentLines(level),
    ...level.flags.map((flag) => flagLine(level.path, flag)),
  ]);
  return ['complete -c skillopt -f', ...lines, 'complete -c skillopt-sleep -w "skillopt sleep"', ''].join('\n');
}

/** Where a command may be typed: after nothing, or after the command that it is a part of. */
function before(path: string): string {
  const [command, part] = path.split(' ');
  return part === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${command}`;
}

const after = (path: string) =>
  path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ');

function argumentLines({ path, words }: Level): string[] {
  if (words === 'nothing' || typeof words !== 'string') return [];
  return [`complete -c skillopt -n ${quoted(after(path))} ${OFFERS[words]}`];
}

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
