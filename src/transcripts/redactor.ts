import { LETTER, redactSecrets } from '../core/guard/index.ts';
import type { Place } from './transcript-source.ts';

const USER = '[user]';
const HOST = '[host]';

export type RedactorPlace = Pick<Place, 'env' | 'home'> & { readonly host?: string };

/**
 * Makes every text of a transcript fit to be stored, shown or sent: no secret, `~` for each home, no name of a home's owner,
 * no email address of a person. A second call changes nothing.
 */
export function redactor(place: RedactorPlace): (text: string) => string {
  const home = ownHome(place.home);
  const own = ownNames(place);
  const redact = (text: string) => {
    const homes = abbreviateHomes(home ? home(text) : text);
    const names = new Map([
      ...own,
      ...homes.names.filter(isTelling).map((name) => [name.toLowerCase(), USER] as const),
    ]);
    return hideNames(hideEmails(redactSecrets(homes.text)), names);
  };
  return (text) => {
    const shown = redact(text);
    return shown !== text && GLUED_SECRET.test(shown) ? redact(shown) : shown;
  };
}

function ownHome(home: string): ((text: string) => string) | undefined {
  const parts = home.split(/[\\/]+/).filter(Boolean);
  if (parts.length === 0) return undefined;
  const slash = String.raw`(?:\\{0,4}/|\\{1,8}|%2[Ff]|%5[Cc])`;
  const path = parts
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:$/, '(?::|%3[Aa])'))
    .join(slash);
  const lead = /^[\\/]/.test(home) ? slash : '';
  const pattern = new RegExp(String.raw`(?<![\w.~@-])${lead}${path}(?![\w.-]*[\w-])`, 'g');
  const name = parts.at(-1)!.replace(/:$/, ''); // a quick test, since most texts have no path
  return (text) => (text.includes(name) ? text.replace(pattern, '~') : text);
}

function ownNames({ env, home, host }: RedactorPlace): ReadonlyMap<string, string> {
  const users = [home.split(/[\\/]+/).at(-1), env.USER, env.LOGNAME, env.USERNAME];
  const hosts = [host, env.HOSTNAME, env.COMPUTERNAME];
  const marked = (names: readonly (string | undefined)[], mark: string) =>
    names.filter((name) => name !== undefined && isTelling(name)).map((name) => [name!.toLowerCase(), mark] as const);
  return new Map([...marked(hosts, HOST), ...marked(users, USER)]);
}

/** A home that was glued to a secret begins after it now, and a name that was hidden may have been the name of a value. */
const GLUED_SECRET = /\[secret\][\\/%:=]/;

/** Short and common names are ordinary words of the text. */
const isTelling = (name: string) =>
  name.length >= 3 && !NOBODY.test(name) && !/^(?:local(?:host)?|macbook|desktop|laptop|server)$/i.test(name);

/** The separator of folders on any system, escaped any number of times, or as in an address. */
const SLASH = String.raw`(?:\\{0,4}\/{1,2}|\\{1,8}|%2[Ff]|%5[Cc])`;
const ONE_SLASH = SLASH.replace('{1,2}', '');
/** What may precede the folder of all homes. */
const ROOT = `(?:[A-Za-z](?::|%3[Aa])|${SLASH}(?:mnt|cygdrive)${SLASH}[a-z]|${SLASH}[a-z]|${SLASH}(?:var|export|private|host)|${SLASH}System${SLASH}Volumes${SLASH}Data)`;
const PATH_LETTER = String.raw`(?!%2[Ff]|%5[Cc]|\\)[^\s/"'\`<>:;,|()[\]{}*?$!&=#]`;
const NAME = String.raw`((?:${PATH_LETTER}){1,64}(?:(?: (?:${PATH_LETTER}){1,64}){1,3}(?=\\))?)`;
const HOMES = '(?:home|Users|Documents and Settings)';
/** Directly after a short option (`-I/home/…`), or after the host of an address that is not a web address. */
const GLUED = String.raw`(?=\/)(?:(?<=(?:^|\s)-[A-Za-z]{1,2})|(?<=(?:remote|file|ssh|sftp|scp|smb|rsync|docker|container):\/\/[^\s/"']{1,100}))`;

const HOME = new RegExp(
  String.raw`(?:(?<![\w.~@%\\-])(?:${ROOT})?|wsl(?:\$|\.localhost)${SLASH}[\w.-]{1,40}|${GLUED})${ONE_SLASH}${HOMES}${SLASH}${NAME}`,
  'g',
);
/** As agents name the folders of their transcripts. */
const DASHED = /(?<=[\\/\s"'`F])(?:[A-Za-z]-)?-(?:home|Users)-([\p{L}\p{N}_.]{1,64})(?=-)/gu;

/** Accounts of systems, of containers and in examples: they name no person. */
const NOBODY =
  /^(?:<.*|\$.*|%.*|\.{2,3}|…|~|x{2,}|user\d*|users?|username|user[-_]?name|you|your.*|me|my[-_]?name|name|someone|somebody|runner|runneradmin|node|bun|deno|python|ubuntu|debian|fedora|centos|alpine|arch|vscode|codespace|gitpod|coder|jovyan|app|appuser|application|service|admin|administrator|developer|dev|deploy|deployer|jenkins|circleci|travis|buildkite|builder|build|ec2-user|opc|azureuser|vagrant|pi|root|shared|public|default|default user|all users|guest|test|tester|foo|bar|postgres|mysql|redis|git|gitlab|gitlab-runner|www-data|nginx|nobody|linuxbrew|sandbox|agent|claude|codex|container(?:user|administrator)|docker|index\w*|page\w*|[\w-]*\.(?:tsx?|jsx?|vue|html?|css|md|svelte|py|rb|go|php))$/i;

const HOME_WORDS = ['home', 'Users', 'Documents and Settings'];

function abbreviateHomes(text: string) {
  if (!HOME_WORDS.some((word) => text.includes(word))) return { text, names: [] };
  const names = new Set<string>();
  const shorten = (whole: string, name: string) => {
    if (NOBODY.test(name)) return whole;
    names.add(decoded(name).replace(/(?<![.])[.]+$/, ''));
    return '~';
  };
  return { text: text.replace(HOME, shorten).replace(DASHED, shorten), names: [...names] };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const WORD = new RegExp(`[${LETTER}]{1,128}(?:[.-][${LETTER}]{1,128}){0,8}`, 'g');

function hideNames(text: string, names: ReadonlyMap<string, string>): string {
  const low = text.toLowerCase();
  if (![...names.keys()].some((name) => low.includes(name))) return text;
  const ofMany = [...names].filter(([name]) => /\s/.test(name)).slice(0, 10);
  const whole = ofMany.reduce((shown, [name, mark]) => shown.replaceAll(name, mark), text);
  return whole.replace(WORD, (word) => names.get(word.toLowerCase()) ?? hideParts(word, names));
}

const hideParts = (word: string, names: ReadonlyMap<string, string>) =>
  /[._-]/.test(word) ? word.replace(/[^._-]+/g, (part) => names.get(part.toLowerCase()) ?? part) : word;

/** From the `@` on. The part before it is read backwards: a pattern that starts there would be slow. */
const DOMAIN = new RegExp(
  String.raw`(?:[@＠﹫]|%40|\\u0040|&#64;| ?[[({](?:at|AT)[\])}] ?)((?:[${LETTER}](?:[${LETTER}-]{0,62}[${LETTER}])?(?:[.．。]| ?[[({](?:dot|DOT)[\])}] ?)){1,5}[A-Za-z\u00c0-\u1fff\u3040-\u9fff]{2,24})(?![${LETTER}]|\.[A-Za-z]|:[\w~/]|/\w)`,
  'g',
);
const LOCAL = new RegExp(`(?<![${LETTER}.%+/@-])[${LETTER}][${LETTER}.+'’-]{0,63}$`);
const ROLE =
  /^(?:git|hg|svn|noreply|no-reply|donotreply|do-not-reply|actions?|notifications?|root|admin|postmaster|support|info|hello|contact|security|help|user|username|you|your|your[._-]?(?:name|email)|name|email|me|someone|foo|bar|test|example)$/i;
const NO_DOMAIN =
  /(?:^|\.)example\.(?:com|org|net)$|\.(?:localhost|png|jpe?g|gif|svg|webp|js|mjs|ts|css|json|html?|service|socket|timer|tgz|gz|zip|md|py|rb|go|rs)$/i;

const ANY_AT = /[@＠﹫]|%40|u0040|&#64;|[[({](?:at|AT)[\])}]/;

function hideEmails(text: string): string {
  if (!ANY_AT.test(text)) return text;
  const pieces: string[] = [];
  let done = 0;
  for (const { index, 0: found, 1: domain } of text.matchAll(DOMAIN)) {
    const local = LOCAL.exec(text.slice(Math.max(done, index - 65), index))?.[0];
    if (local === undefined || ROLE.test(local) || NO_DOMAIN.test(domain!)) continue;
    pieces.push(text.slice(done, index - local.length), '[email]');
    done = index + found.length;
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}
