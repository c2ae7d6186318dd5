import type { Level, Offer } from './levels.ts';

/**
 * For bash, and for zsh through its bashcompinit. All words stand in the script: a key press starts no process but `ls`.
 * Only what a bash of 2007 knows, which macOS still has.
 */
export function bashScript(levels: readonly Level[]): string {
  const top = levels.filter(({ path }) => !path.includes(' ')).map(({ path }) => path);
  return [
    '_skillopt() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} level="" word`,
    `  [ "\${COMP_WORDS[0]##*/}" = skillopt-sleep ] && level=sleep`,
    '  COMPREPLY=()',
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    case "$level $word" in',
    ...levels.map(({ path }) => `      ${quoted(path.includes(' ') ? path : ` ${path}`)}) level=${quoted(path)} ;;`),
    '    esac',
    '  done',
    '  case "$level $prev" in',
    ...levels.flatMap((level) => valueCases(level)),
    '  esac',
    '  case "$level" in',
    ...levels.map((level) => `    ${quoted(level.path)}) ${levelReply(level)} ;;`),
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
    takes === undefined ? [] : [`    ${quoted(`${path} ${name}`)}) ${reply(takes)}; return ;;`],
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

const wordsReply = (words: readonly string[]) => `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur"))`;

/** Names of ours hold no quote. */
const quoted = (text: string) => `"${text}"`;

export const zshScript = (levels: readonly Level[]): string =>
  ['#compdef skillopt skillopt-sleep', 'autoload -U +X bashcompinit && bashcompinit', bashScript(levels)].join('\n');
