import { mayHoldAtCredential } from './credential-names.ts';
import { matchesAt, type Rule } from './rule.ts';
import { hideValues, isPlaceholder, isSecretValue, SECRET } from './secret-value.ts';

/** `Bearer …` and its like, wherever they stand. */
const SCHEME =
  /(?<![A-Za-z0-9])((?:bearer|basic|token|apikey|api-key|ssws|splunk|geniekey|bot|oauth|negotiate|ntlm|hawk|aws4-hmac-sha256|sharedkey)(?:[ \t]+|%20|\+|\\u0020)(?:token=)?["']?)([A-Za-z0-9_~+/.=%:|$!-]{6,})/gi;
const AUTHORIZATION =
  /(?<![A-Za-z0-9])(?:proxy-)?authorization\\*["'`]?[ \t]{0,8}[=:,][ \t]{0,8}\\*["'`]?(?:[A-Za-z][\w-]{0,30}[ \t]+)?/gi;

const COOKIES =
  /(?<![A-Za-z0-9-])((?:set-)?cookies?\\*["'`]?[ \t]{0,8}(?:[=:]|,(?=[ \t]*["']))[ \t]{0,8}|curl\b(?:(?!\bcurl\b)[^\n]){0,300}?[ \t](?:-b|--cookie)[ \t=]+)(\\*["'`]?)((?:\\(?!["'`])|[^\n"'`\\])+)/gi;
const CRUMB = /(?<=^|[;,\s{"'])([\w.!#$%&*+^|~-]{1,80}=)([^;,\s]{6,})/g;
const ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|priority|version|comment)=$/i;
const KNOWN_COOKIES =
  /(?<![\w.-])((?:PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,20}|ASP\.NET_SessionId|\.AspNetCore\.[\w.]{1,60}|connect\.sid|session(?:id|_id)?|sess(?:id)?|sid|csrftoken|XSRF-TOKEN|_csrf|laravel_session|remember_(?:me|token|web_\w{1,80})|_[a-z]\w{1,60}_session|__(?:Secure|Host)-[\w.-]{1,80}|(?:next-auth|authjs)\.session-token|sb-[\w-]{1,60}-auth-token|li_at|wordpress_(?:logged_in|sec)_\w{1,80}|user_session|auth_session|access_token_cookie)(?:=|\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?))([^\s;,"'\\]{16,})/g;
export const isCookie = (name: string) =>
  /^(?:session|sess(?:id)?|sid|.*[-_.](?:session|sid)|.*sess(?:ion)?id)$/i.test(name);

/** A line of a cookie file: seven columns. */
const COOKIE_FILE =
  /^([^\s#]\S{0,200}\t(?:TRUE|FALSE)\t\S{1,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,200}\t)([^\t\n]+)/gm;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SCHEME_HERE = new RegExp(SCHEME.source, 'iy');
const HEADER_HERE =
  /authorization\\*["'`]?[ \t]{0,8}[=:,]|cookies?\\*["'`]?[ \t]{0,8}(?:[=:]|,(?=[ \t]*["']))|curl\b/iy;
/** The rest of the name of a cookie, and a long value. */
const COOKIE_HERE = /[\w.-]{1,110}(?![\w.-])\\?["']?[ \t]{0,4}[=:][ \t]{0,4}\\?["']?[^\s;,"'\\]{16}/y;

export const headers: Rule = {
  may: (text) => mayHoldAtCredential(text, (at) => isHeaderAt(text, at)) || /\t(?:TRUE|FALSE)\t/.test(text),
  hide: hideHeaders,
};

function isHeaderAt(text: string, at: number): boolean {
  SCHEME_HERE.lastIndex = at;
  const value = SCHEME_HERE.exec(text)?.[2];
  return (
    (value !== undefined && isHeaderCredential(value)) ||
    matchesAt(HEADER_HERE, text, at) ||
    matchesAt(COOKIE_HERE, text, at)
  );
}

function hideHeaders(text: string): string {
  const shown = text.replace(SCHEME, (whole, scheme: string, value: string) =>
    isHeaderCredential(value) ? `${scheme}${SECRET}` : whole,
  );
  const low = shown.toLowerCase();
  const authorized = low.includes('authorization')
    ? hideValues(shown, AUTHORIZATION, () => ({ credential: 'key' }))
    : shown;
  const hideCookies = (_: string, name: string, quote: string, crumbs: string) =>
    `${name}${quote}${hideCrumbs(crumbs)}`;
  const baked = /cookie|curl/.test(low) ? authorized.replace(COOKIES, hideCookies) : authorized;
  const named = baked.replace(KNOWN_COOKIES, (whole, name: string, value: string) =>
    isKept(value) || UUID.test(value) || !/\d/.test(value) ? whole : `${name}${SECRET}`,
  );
  return /\t(?:TRUE|FALSE)\t/.test(named)
    ? named.replace(COOKIE_FILE, (_, columns: string) => `${columns}${SECRET}`)
    : named;
}

const isKept = (value: string) => isPlaceholder(value) || value.startsWith(SECRET);

/** Talk about tokens continues with words, not digits. */
const isHeaderCredential = (value: string) =>
  !isKept(value) &&
  !/^[A-Z]+[/\d.]*$/.test(value) &&
  isSecretValue(value, 'key', { isQuoted: false, isShell: true }) &&
  /\d|^[^A-Z]*[A-Z][^a-z]*[a-z][^A-Z]*[A-Z]|[=+/]$/.test(value);

const hideCrumbs = (crumbs: string) =>
  crumbs.replace(CRUMB, (whole, name: string, value: string) =>
    ATTRIBUTE.test(name) || isKept(value) || (value.length < 20 && !/\d/.test(value)) || /^[$({<%]/.test(value)
      ? whole
      : `${name}${SECRET}`,
  );

/** What stands before a password in a command or a file. A text without one of the words is not searched. */
type Lead = { readonly words: readonly string[]; readonly lead: RegExp };

/** The option `tail` of one of the commands, on its line and before the next such command. */
function option(words: readonly string[], tail: RegExp): Lead {
  const any = `(?<![\\w-])(?:${words.join('|')})(?![\\w-])`;
  return {
    words: words.map((word) => `${word} `),
    lead: new RegExp(`${any}(?:(?!${any})[^\\n|;&]){0,300}?[ \\t]${tail.source}`, 'g'),
  };
}

const LEADS: readonly Lead[] = [
  option(['sshpass', 'mongo', 'mongosh', 'mongodump', 'mongorestore', 'login'], /-p[ \t=]?(?=[^-\s])/),
  option(['mysql', 'mysqldump', 'mysqladmin', 'mariadb', 'mariadb-dump', '7z', '7za', 'unrar', 'rar'], /-p(?=[^\s-])/),
  option(['zip', 'unzip', 'sqlcmd', 'bcp'], /-P[ \t]*(?=[^-\s])/),
  option(['ldapsearch', 'ldapadd', 'ldapmodify', 'ldapwhoami', 'ldappasswd'], /-w[ \t]*(?=[^-\s])/),
  option(['redis-cli', 'valkey-cli'], /-a[ \t]+/),
  option(['plink', 'pscp', 'putty'], /-pw[ \t]+/),
  option(['ssh-keygen'], /-[NP][ \t]*/),
  option(['curl', 'wget', 'xh'], /(?<=[ \t])(?:-u|--user|-U|--proxy-user)[ \t=]{0,20}\\{0,8}["']?[^\s:"']{1,100}:/),
  option(['http', 'https', 'xh'], /(?<=[ \t])(?:-a|--auth)[ \t=]{0,20}\\{0,8}["']?[^\s:"']{1,100}:/),
  option(['smbclient'], /(?<=[ \t])-U[ \t]{0,20}\\{0,8}["']?[^\s%"']{1,100}%/),
  option(['lftp'], /(?<=[ \t])-u[ \t]{0,20}\\{0,8}["']?[^\s,"']{1,100},/),
  option(['htpasswd'], /-\w{0,8}b\w{0,8}[ \t]+\S{1,200}[ \t]+\S{1,80}[ \t]+/),
  option(['net use', 'NET USE'], /\/(?:user|USER):\S{1,100}[ \t]+/),
  { words: ['pass:'], lead: /[ \t]pass:(?=\S)/g },
  { words: ['/p:', '/password:'], lead: /[ \t]\/p(?:assword)?:(?=\S)/g },
  { words: ['vault'], lead: /\bvault[ \t]+login[ \t]+(?:token=)?(?=[^-\s])/g },
  { words: ['SecureString'], lead: /\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?/g },
  // SQL
  {
    words: ['IDENTIFIED', 'identified'],
    lead: /\bIDENTIFIED[ \t]+(?:WITH[ \t]+\w{1,40}[ \t]+)?BY[ \t]+(?:PASSWORD[ \t]+)?/gi,
  },
  {
    words: ['PASSWORD'],
    lead: /\bPASSWORD[ \t]{0,20}(?:\(|=|FOR[ \t]{1,20}\S{1,80}[ \t]{0,20}=)?[ \t]{0,20}(?=['"])/g,
  },
  // .netrc and .pgpass
  { words: ['machine'], lead: /\bmachine[ \t]+\S{1,200}\s{1,20}(?:login[ \t]+\S{1,200}\s{1,20})?password[ \t]+/g },
  {
    words: [':5432:', ':*:', ':6432:'],
    lead: /(?<=^|[\n"']|\\n)[\w.*-]{1,200}:(?:\d{3,5}|\*):[\w.*-]{1,80}:[\w.@*-]{1,80}:(?=[^\s:])/g,
  },
  // user and password as two arguments
  {
    words: ['uth', '.login(', 'redentials('],
    lead: /(?:auth[ \t]{0,4}[=:][ \t]{0,4}[([]|BasicAuth\(|\.auth\(|\.login\(|Credentials\()[ \t]*["'][^"'\n]{1,100}["'][ \t]*,[ \t]*(?=["'])/gi,
  },
  // what is piped into a command that asks for a password
  {
    words: ['echo', 'printf'],
    lead: /\b(?:echo|printf)[ \t]{1,8}(?:-n[ \t]{1,8})?(?=[^\n|]{1,100}\|[ \t]{0,8}(?:sudo[ \t]+-\w{0,4}S|(?:docker|podman|npm|helm|gh|glab|az|crane|oras|skopeo|cosign|kinit|passwd|cryptsetup|gpg)\b))/g,
  },
  {
    words: ['chpasswd'],
    lead: /\b(?:echo|printf)[ \t]{1,8}["']?[\w.-]{1,60}:(?=[^\n|]{1,100}\|[ \t]*(?:sudo[ \t]+)?chpasswd)/g,
  },
];

/** An option, a pipe, or two quoted arguments. */
const COMMAND_SIGN = /[-/](?<=[ \t].)[A-Za-z-]|\||["'][ \t]*,[ \t]*["']/;
const COMMAND_HERE =
  /vault|String(?<=SecureString)|IDENTIFIED|identified|PASSWORD|pass:|machine[ \t]+\S{1,200}\s{1,20}(?:login|password)/y;

/** Passwords without a name, in commands and files. */
export const commands: Rule = {
  may: (text) =>
    COMMAND_SIGN.test(text) ||
    /:(?:\*|5432|6432):/.test(text) ||
    mayHoldAtCredential(text, (at) => matchesAt(COMMAND_HERE, text, at)),
  hide: (text) =>
    LEADS.filter(({ words }) => words.some((word) => text.includes(word))).reduce(
      (before, { lead }) => hideValues(before, lead, () => ({ credential: 'password', isShell: true })),
      text,
    ),
};
