import { hideValues } from './read-value.ts';

/** How a password follows on a command or on a word of a file. A text without one of the words is not looked at further. */
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

/** Hides passwords that are typed into a command, or listed in a file, without a name. For `text` and what is left of it. */
export function commandHider(text: string): (text: string) => string {
  const leads = LEADS.filter(({ words }) => words.some((word) => text.includes(word)));
  return (shown) =>
    leads.reduce(
      (before, { lead }) => hideValues(before, lead, () => ({ credential: 'password', isShell: true })),
      shown,
    );
}
