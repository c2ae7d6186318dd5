import type { Wanted } from './sentences.ts';

export type PoisonKind =
  | ('marker' | 'html_comment' | 'hidden_character' | 'disguise' | 'markup' | 'too_long')
  | ('fetch' | 'execute' | 'exfiltrate' | 'persistence' | 'dependency' | 'git' | 'destroy')
  | ('override' | 'conceal' | 'permission' | 'weaken' | 'grader');

/** What does harm as soon as an agent reads or tries it, before a person looks. Looked for in sentences in small letters. */
export type Harm = Wanted & { readonly kind: PoisonKind; readonly reason: string };

const harm = (kind: PoisonKind, reason: string, ...all: readonly RegExp[]): Harm => ({ kind, reason, all });
const order = (kind: PoisonKind, reason: string, ...all: readonly RegExp[]): Harm => ({
  ...harm(kind, reason, ...all),
  isForbidding: true,
});

/** A place on the network other than this machine. */
export const ADDRESS =
  /\b(?:https?|wss?|ftps?|ssh|s3):\/\/(?!localhost|127\.0\.0\.1|\[::1\])|\b(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w.-]{1,60}@[\w-]{1,60}\.\w|\b[\w-]{1,60}\.(?:example|invalid|com|net|org|io|dev|xyz)\b/u;
/** Files and variables that hold secrets. */
const SECRET_PLACE =
  /\.env\b(?!\.(?:example|sample|template|test))|\.(?:ssh|aws|kube|netrc|npmrc|pypirc|gnupg|pem)\b|\bid_(?:rsa|ed25519)\b|\bprintenv\b|\b(?:output|values?|dump) of (?:all )?`?env|\benv ?[|>]|environment variables?|keychain|_history\b|hosts\.yml/u;
const SECRET =
  /\b(?:secrets?|credentials?|passwords?|passphrases?|tokens?|cookies?|(?:api|access|private|ssh|deploy) keys?)\b/u;
const SEND =
  /\b(?:send|post|upload|forward|mail|submit|attach|append|paste|publish|share|copy|push|mirror|commit|put|include|keep|read)(?:s|es|ing)?\b/u;
const DOWNLOAD = /\b(?:curl|wget|iwr|irm|invoke-webrequest|urlopen|requests\.get|fetch\(|axios)/u;
const INTERPRETER = '(?:sudo )?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k)?sh|iex|python[\\d.]*|node|perl|ruby|php|pwsh)\\b';

const CODE_HARMS: readonly Harm[] = [
  harm('execute', 'pipes text into an interpreter', new RegExp(`\\|[ \\n]{0,3}${INTERPRETER}(?! -c)(?! -m)`, 'u')),
  harm(
    'execute',
    'runs what a download returns',
    DOWNLOAD,
    /<\(|\$\(|\beval\b|\bexec\b|chmod \+?x|&& ?\.?\/|\binstall\.sh/u,
  ),
  harm(
    'execute',
    'decodes text and runs it',
    /\b(?:exec|eval)\b ?\(.{0,80}?(?:base64|b64decode|atob|decode)|-enc(?:odedcommand)? \w{8}/su,
  ),
  harm(
    'execute',
    'runs code from an address',
    /\b(?:npx|bunx|uvx|pipx run|deno run|node|go run)\b[^\n]{0,60}https?:|\bdocker run\b[^\n]{0,60}--privileged/u,
  ),
  harm(
    'execute',
    'is a command that an agent runs when it reads the document',
    /(?:^|[\s(>-])!`[^`\n]|```!|!!(?:python|ruby|js)\//u,
  ),
  harm('fetch', 'includes a file from elsewhere', /(?:^|[\s("'>`])@(?:~|\/|\.\.?\/|\.env)/u),
  harm(
    'fetch',
    'takes its orders from an address',
    ADDRESS,
    /\b(?:do|follow|obey|carry out|execute|run|apply|work through|work by|use)\b.{0,20}\b(?:what|it|its|them|that|there|they|the thing|unchanged)\b/su,
  ),
  harm(
    'dependency',
    'installs from a foreign place',
    /--(?:extra-)?index-url|--registry[= ]|\bgit\+(?:https?|ssh):|--trusted-host|\b(?:npm|pnpm|yarn|pip\d?|uv|cargo|gem|brew)\b[^\n]{0,9}\b(?:install|add|i)\b[^\n]{0,60}(?:https?:|git:)/u,
  ),
  harm('dependency', 'installs what runs at installation', /["'](?:pre|post)install["'] ?:/u),
];

const DATA_HARMS: readonly Harm[] = [
  harm('exfiltrate', 'sends private data somewhere', SEND, SECRET_PLACE, /\b(?:to|into|in|as|aloud)\b/u),
  harm(
    'exfiltrate',
    'sends private data somewhere',
    /\b(?:send|post|upload|forward|mail|paste|commit|append)\b/u,
    SECRET,
    ADDRESS,
  ),
  harm(
    'exfiltrate',
    'puts private data into a request',
    /\b(?:curl|wget|nc|ncat|netcat|gh (?:gist|issue)|dig|nslookup|scp|rsync)\b[^\n]{0,200}?(?:\$\(|@[~./-]|< ?[~./]|[~/]\.\w)|\$\((?:cat|git|env|whoami)\b/u,
  ),
  harm(
    'exfiltrate',
    'shows what is secret',
    /\b(?:cat|less|head|base64) +["']?[~./\w$-]{0,40}\.(?:env\b(?!\.ex)|ssh|aws|netrc|npmrc|gnupg|kube)|tojson\(secrets/u,
  ),
  harm(
    'exfiltrate',
    'opens a connection from the shell',
    /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat) +(?:-\w+ +)*\S{1,80} +\d{2,5}\b|\bngrok\b/u,
  ),
  harm(
    'exfiltrate',
    'puts data into the address of an image',
    /!?\[[^\]\n]{0,99}\](?:\(|: ?)(?:https?:)?\/\/[^)\n]{0,200}[?&][^)\n]{0,80}(?:[{<$]|=\)|=$|_of_)|<img\b[^>\n]{0,200}\/\//u,
  ),
  harm(
    'git',
    'sends commits elsewhere',
    /git remote set-url|git push (?:\S+ )?(?:https?:|git@)|\binsteadof\b|core\.hookspath \/|git config (?:--global )?user\./u,
  ),
  harm(
    'destroy',
    'deletes what cannot be brought back',
    /\brm +(?:-[\w-]+ +){1,4}["']?(?:\/|~|\$\{?home|\*)|git clean -\w*x|drop (?:table|database|schema) |\bmkfs|git push\b[^\n]{0,60}(?:--force(?!-)| -f\b)/u,
  ),
];

/** Files that a shell, a scheduler, git or an agent reads by itself. */
const SELF_STARTING =
  /\.(?:bashrc|zshrc|profile|bash_profile|gitconfig)\b|\bcrontab\b|\bcron (?:entry|job)|systemctl|launchd|autostart|authorized_keys|\.git\/hooks|hookspath|\bpost-(?:checkout|commit|merge)\b|shell profile|~\/\.(?:claude|codex|gemini|cursor)|\.mcp\.json|\b(?:claude|agents|gemini|skill)\.md\b/u;
const THIS =
  /\bthis (?:rule|line|section|instruction|paragraph|note|block|text)\b|\bthese (?:\w+ )?(?:rules|lines|instructions)\b/u;
const ORDERS = '(?:instructions?|rules?|guidelines?|directives?|polic(?:y|ies)|restrictions?|system prompt)';

const ORDER_HARMS: readonly Harm[] = [
  harm(
    'persistence',
    'writes to a file that works by itself',
    SELF_STARTING,
    /\b(?:add|append|write|put|insert|install|copy|mirror|overwrite|register|make sure|enable|echo)\b|>>/u,
  ),
  order(
    'persistence',
    'keeps or spreads itself',
    THIS,
    /\b(?:copy|restore|repeat|mirror|remove[ds]?|deleted?|still there|put it back|every|each|other)\b/u,
  ),
  harm(
    'persistence',
    'gives itself tools, hooks or servers',
    /(?:^|[\n"'`{ ])(?:allowed-tools|hooks|mcpservers|permission-?mode|disable-model-invocation|sessionstart|pretooluse)["'`]? ?:\s/u,
  ),
  harm(
    'override',
    'tells to ignore other instructions',
    new RegExp(
      `\\b(?:ignore|disregard|forget|override)s?\\b.{0,20}\\b(?:all|any|previous|prior|earlier|above|other|system)\\b.{0,30}\\b${ORDERS}`,
      'su',
    ),
  ),
  order(
    'override',
    'declares other instructions void',
    new RegExp(
      `\\b${ORDERS}\\b.{0,30}\\b(?:no longer|(?:is|are) (?:lifted|void|outdated)|(?:ranks?|stands?) (?:above|over))|outranks? the system`,
      'su',
    ),
  ),
  order(
    'override',
    'claims an approval that nobody gave',
    /\b(?:user|owner|operator|security(?: team)?|anthropic|openai)\b (?:has |have )?(?:already )?(?:agreed|approved|cleared|signed off|requires)\b/u,
  ),
  order(
    'conceal',
    'hides something from the person',
    /\b(?:do not|don't|never|without|not)\b.{0,12}\b(?:mention|tell|telling|inform|reveal|report)\w*\b/su,
    /\bthis (?:step|rule|line|change)\b|\b(?:tell|inform)\w* the (?:user|person|reviewer)/u,
  ),
  order(
    'permission',
    'lets the agent act unasked',
    /\b(?:never|do not|don't|no need to) ask (?:before|for permission)\b/u,
  ),
  harm(
    'permission',
    'lets the agent act unasked',
    /\bwithout asking\b/u,
    /\b(?:deploy|pay|push|merge|install|run it)/u,
  ),
  harm(
    'permission',
    'switches checks off',
    /--no-verify|--dangerously-skip|--no-gpg-sign|commit\.gpgsign false|continue-on-error: true|@ts-nocheck|\bbypass(?:permissions)? mode/u,
  ),
  harm(
    'weaken',
    'makes code unsafe',
    /tls_reject_unauthorized ?=|rejectunauthorized: false|verify ?= ?false|chmod (?:-\w+ )?0?777|\baccept (?:any|all|every) certificates?/u,
  ),
  harm(
    'grader',
    'speaks to what grades it',
    /\b(?:grader|judge)\b ?:|\b(?:full|maximum|highest|right) score\b|\{"score" ?: ?1(?:\.0)?, ?"pass/u,
  ),
];

const ROLES =
  '(?:system|assistant|user|human|developer|instructions?|system-reminder|tool_?result|function_calls?|start_of_turn|end_of_turn)';

/** Text that passes for a turn of a conversation, and markup that shows a reader something else. */
const MARKUP_HARMS: readonly Harm[] = [
  harm(
    'markup',
    'forges a turn of the conversation',
    new RegExp(
      `<\\|[^|\\n]{1,40}\\|>|\\[/?inst\\]|</?${ROLES}>|(?:^|\\n)(?:human|assistant|system): ?\\S|"role" ?: ?"system"`,
      'u',
    ),
  ),
];
/** The same, which does no harm in code. */
export const RENDERED_HARMS: readonly Harm[] = [
  harm(
    'markup',
    'holds markup that hides, runs or loads',
    /<\/?(?:script|iframe|object|embed|style|svg|form|meta|link|details)\b|<[a-z][^>\n]{0,200}(?:display ?: ?none|\bhidden\b|\bon\w{4,9} ?=)/u,
  ),
  harm(
    'markup',
    'links to code, to data or to another host',
    /\]\(\s?<?(?:javascript|data|vbscript|file):|\]: ?(?:javascript|vbscript|data):|https?:\/\/[^\s/?#@()]{1,99}@[\w[]|\[\s?https?:\/\/([\w.-]{1,99})[^\]\n]{0,99}\]\(https?:\/\/(?!\1)/u,
  ),
  harm(
    'html_comment',
    'holds a comment that no reader sees',
    /(?:^|\n) {0,3}\[(?:\/\/|comment)[^\]\n]{0,40}\]: ?#|<!-(?!-)/u,
  ),
  harm('persistence', 'opens a second front matter', /(?:^|\n)---[ \t]*\n[ \t]*[\w-]{2,40}[ \t]*:/u),
];

export const HARMS: readonly Harm[] = [...MARKUP_HARMS, ...CODE_HARMS, ...DATA_HARMS, ...ORDER_HARMS];
