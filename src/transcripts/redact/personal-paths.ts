/** Between two folders: of any system, escaped any number of times, or as in an address. */
const SLASH = String.raw`(?:\\{0,4}\/{1,2}|\\{1,8}|%2[Ff]|%5[Cc])`;
const ONE_SLASH = SLASH.replace('{1,2}', '');
/** What may stand before the folder of all homes. */
const ROOT = `(?:[A-Za-z](?::|%3[Aa])|${SLASH}(?:mnt|cygdrive)${SLASH}[a-z]|${SLASH}[a-z]|${SLASH}(?:var|export|private|host)|${SLASH}System${SLASH}Volumes${SLASH}Data)`;
const LETTER = String.raw`(?!%2[Ff]|%5[Cc]|\\)[^\s/"'\`<>:;,|()[\]{}*?$!&=#]`;
const NAME = String.raw`((?:${LETTER}){1,64}(?:(?: (?:${LETTER}){1,64}){1,3}(?=\\))?)`;
const HOMES = '(?:home|Users|Documents and Settings)';

/** Behind a short option (`-I/home/…`) and behind the host of an address that is none of the web. */
const GLUED = String.raw`(?=\/)(?:(?<=(?:^|\s)-[A-Za-z]{1,2})|(?<=(?:remote|file|ssh|sftp|scp|smb|rsync|docker|container):\/\/[^\s/"']{1,100}))`;

const HOME = new RegExp(
  String.raw`(?:(?<![\w.~@%\\-])(?:${ROOT})?|wsl(?:\$|\.localhost)${SLASH}[\w.-]{1,40}|${GLUED})${ONE_SLASH}${HOMES}${SLASH}${NAME}`,
  'g',
);
/** As agents name the folders of their transcripts. */
const DASHED = /(?<=[\\/\s"'`F])((?:[A-Za-z]-)?-(?:home|Users)-)([\p{L}\p{N}_.]{1,64})(?=-)/gu;

/** Accounts that are nobody's name: of systems, of containers, and in examples. */
const NOBODY =
  /^(?:<.*|\$.*|%.*|\.{2,3}|…|~|x{2,}|user\d*|users?|username|user[-_]?name|you|your.*|me|my[-_]?name|name|someone|somebody|runner|runneradmin|node|bun|deno|python|ubuntu|debian|fedora|centos|alpine|arch|vscode|codespace|gitpod|coder|jovyan|app|appuser|application|service|admin|administrator|developer|dev|deploy|deployer|jenkins|circleci|travis|buildkite|builder|build|ec2-user|opc|azureuser|vagrant|pi|root|shared|public|default|default user|all users|guest|test|tester|foo|bar|postgres|mysql|redis|git|gitlab|gitlab-runner|www-data|nginx|nobody|linuxbrew|sandbox|agent|claude|codex|container(?:user|administrator)|docker|index\w*|page\w*|[\w-]*\.(?:tsx?|jsx?|vue|html?|css|md|svelte|py|rb|go|php))$/i;

export const isNobody = (name: string) => NOBODY.test(name);

/** The text with `~` for every home in it, and the names of those whose homes they are. */
export function abbreviateHomes(text: string): { readonly text: string; readonly names: readonly string[] } {
  const names = new Set<string>();
  const learn = (name: string) => names.add(decoded(name).replace(/(?<![.])[.]+$/, ''));
  const shown = text
    .replace(HOME, (whole, name: string) => {
      if (isNobody(name)) return whole;
      learn(name);
      return '~';
    })
    .replace(DASHED, (whole, _lead: string, name: string) => {
      if (isNobody(name)) return whole;
      learn(name);
      return '~';
    });
  return { text: shown, names: [...names] };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
