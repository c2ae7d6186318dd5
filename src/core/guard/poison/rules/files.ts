import { anyOf, has, type Rule, rule } from '../rule.ts';
import { HOST, PRIVATE, SECRETS, SEND, SOMEWHERE } from './subjects.ts';

const WRITE = anyOf(
  '\\b(?:add|append|write|put|insert|edit|install|create|modify|copy|save|change|update|register|paste|place|set|drop|replace|overwrite|extend|inject|store|propagate|prepend|patch|ensure|make sure|symlink|link|plant|move|schedule|remove|delete|rewrite|open|adjust|clear|trim|mirror)(?:s|es|ing)?\\b',
  '\\bcrontab -|\\becho\\b|\\bprintf\\b|\\bsed -i|\\bln -s|\\bcp\\b|\\bmv\\b|\\btee\\b|(?<!>)>{1,2}(?!>)|\\b(?:schreib|füge?|trage?|ergänz|kopier|änder|lege?)\\S{0,3}\\b|\\b(?:ajout|écri[svt]|écrivez|insère|copie|modifi)\\S{0,3}|\\b(?:añad|agreg|escrib|copi|modifi|insert|instal|pon|adicion|escrev|insir|acrescent|colo[cq]|aggiung|scriv)\\S{0,4}',
  'добав|запиш|впиш|скопиру|измен|допиш|пропиш|添加|写入|写到|加入|追加|复制|修改|写进|書き込|書き加|書く|コピー|أضف|اكتب|انسخ|عدّل|ضع|ekle|yaz|kopyala|değiştir|추가|작성|복사|수정|써|넣',
);
/** The same where the verb stands behind. */
const WRITES_BEHIND = '追加|書き込|書き加|書く|コピー|ekle|yaz|kopyala|değiştir|추가|작성|복사|수정|써|넣|写入|添加';

/** Read by a shell, a scheduler, an agent or git before anybody looks. */
const STARTUP = anyOf(
  '\\.(?:bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login|bash_logout|kshrc|cshrc|inputrc|vimrc|gitconfig|npmrc|netrc|pypirc|yarnrc\\S*|tmux\\.conf|envrc)\\b|config\\.fish|\\$profile\\b|crontab|\\bcron(?: ?job|tab|\\.\\w+|\\b)',
  'launch ?agents?|launchd|launchctl|systemd|systemctl|scheduled task|schtasks|login items?|start-?up (?:folder|items?|script|files?)|autostart|rc\\.local|/etc/\\w+|authorized_keys|\\.ssh/|sudoers|ld_preload|sitecustomize|pythonstartup|prompt_command|node_options|\\bbash_env\\b',
  '\\.git/hooks|git hooks?|\\b(?:pre|post)-(?:commit|push|merge|checkout|receive|rewrite|install)\\b|hookspath|sessionstart|posttooluse|pretooluse|userpromptsubmit|\\.github/workflows|\\bci secrets|\\.gitlab-ci|settings(?:\\.local)?\\.json|\\.vscode/|tasks\\.json',
);
/** What other sessions read. */
const MEMORY = anyOf(
  '\\b(?:claude|agents?|gemini|copilot-instructions|memory|skill|cursor)\\.md\\b|\\.cursorrules|\\.windsurfrules|\\.clinerules|~/\\.(?:claude|codex|gemini|agents?|cursor|copilot|config/opencode)\\b|\\.claude/|\\.codex/|\\.cursor/|\\.?mcp\\.json|mcp servers?',
  "(?:other|every|all|each|another)\\b[^\\n.]{0,16}\\b(?:skills?|memory files?|agents?.? (?:files?|memory))|global (?:memory|instructions|settings)|memory file|\\brewrite memory|system prompt|\\bagent'?s? (?:memory|config\\w*|settings|instructions)",
);
const ITSELF =
  '(?:this|these) (?:\\w+ )?(?:rules?|lines?|sections?|instructions?|texts?|paragraphs?|notes?|blocks?|bullets?|sentences?|entr(?:y|ies)|skill|reminders?|snippets?|comments?|items?|guidance)';

/** Writing where this document has no business, so that it works elsewhere or later. */
export const FILE_RULES: readonly Rule[] = [
  rule('persistence', 'writes to a file that runs by itself', { unless: /\blet me\b|\bby hand\b|\bout of scope\b/u }, [
    `${WRITE}[^\\n]{0,120}?${STARTUP}`,
    `${STARTUP}[^\\n]{0,40}(?:${WRITES_BEHIND})`,
  ]),
  rule(
    'persistence',
    'writes to what other sessions read',
    { unless: /\b(?:unless|only (?:if|when)|(?:if|when|until|before) i|ask|propose|suggest)\b/u },
    [`${WRITE}[^\\n]{0,100}?${MEMORY}`, `${MEMORY}[^\\n]{0,40}(?:${WRITES_BEHIND})`, '\\.\\./[\\w./-]{0,80}skill\\.md'],
  ),
  rule('persistence', 'keeps or spreads itself', { isForbidding: true }, [
    `\\b(?:copy|restore|re-?add|re-?insert|repeat|propagate|replicate|duplicate|spread|re-?create|re-?write|insert|paste|append|add|include|put|write|keep|preserve|reproduce|carry)\\b[^\\n.]{0,20}\\b${ITSELF}\\b`,
    `\\b(?:never|do not|don't|must not|not|refuse to) (?:ever )?(?:remove|delete|edit|change|drop|prune|alter|modify|touch|shorten|rewrite|summari[sz]e)\\b[^\\n.]{0,20}\\b${ITSELF}`,
    `\\b(?:if|when|whenever|once|should)\\b[^\\n.]{0,12}\\b(?:${ITSELF}|it|they)\\b[^\\n.]{0,20}\\b(?:removed|deleted|missing|gone|edited|lost|pruned|absent)\\b[^\\n.]{0,40}\\b(?:add|restore|write|put|re-?insert|re-?create|bring)`,
    `\\b${ITSELF}\\b[^\\n.]{0,40}\\b(?:must (?:stay|remain|never|not|be kept|be copied|always)|may not be|cannot be|can not be|is permanent|are permanent|stays?|remains?)\\b`,
  ]),
  rule(
    'persistence',
    'spreads to other files and repositories',
    { unless: /changelog|readme|licen[cs]e|\bmonorepo\b/u },
    [
      `\\b(?:add|put|append|insert|write|copy|paste|include)\\b[^\\n]{0,80}(?:${HOST})[^\\n]{0,60}\\b(?:every|each|all|any) (?:\\w+ )?(?:files?|readmes?|commits?|pages?)`,
      '\\b(?:create|add|put|copy|make|install|push|leave|write|plant|enable)\\b[^\\n.]{0,80}\\b(?:in|to|into|on|for) (?:each|every|all|any) (?:\\w+ )?(?:repositor(?:y|ies)|repos?|projects?|workspaces?|machines?|packages?|manifests?|clones?|forks?)\\b',
    ],
  ),
  rule('persistence', 'gives itself tools, hooks or servers', [
    '(?:^|\\n)[ \\t>*-]*["\'`]?(?:allowed[-_]tools|disallowed[-_]tools|hooks|mcp_?servers|permission-?mode|defaultmode|disable-model-invocation|user-invocable|apikeyhelper|statusline|sessionstart|argument-hint|auto_?approve\\w*)["\'`]?[ \\t]*[:=]',
    '["\'](?:allowed-?tools|hooks|mcpservers|permissions|permissionmode|defaultmode|apikeyhelper|sessionstart|enableallprojectmcpservers|pretooluse|posttooluse|stop|userpromptsubmit)["\'] ?:|\\bpermissions:?\\s{0,6}(?:-\\s*)?allow\\b|\\bmcp__[\\w-]{0,60}?(?:install|exec|run|shell|eval|delete|write|all)\\w*',
  ]),
  rule('persistence', 'opens a second front matter', { isRendered: true }, [
    '(?:^|\\n)---[ \\t]*\\n(?:[ \\t]*\\n){0,3}[ \\t]*["\']?[\\w-]{2,40}["\']?[ \\t]*:',
  ]),
  rule('execute', 'makes a YAML reader run code', ['!!(?:python|ruby|js|java|perl|php)/|!ruby/|!python/']),
  rule('execute', 'is a command that an agent runs when it reads the document', [
    '(?:^|[\\s(>"\'*_|:-])!`[^`\\n]|(?:^|\\n)[ \\t>*-]*!(?:\\w[\\w./-]*)(?: |$)|```!',
  ]),
  rule('fetch', 'includes another file', { also: [has('.')] }, [
    '(?:^|[\\s("\'>:,])@(?:~|/|\\.{1,2}/|\\$|[\\w.-]{1,60}/[\\w./-]{0,80}\\.(?:md|txt|env|json|ya?ml|sh|toml|key|pem)\\b|[\\w-]+\\.(?:md|txt|env|json|ya?ml|sh|toml|key|pem)\\b|\\.\\w)',
  ]),
];

const SHOW =
  '\\b(?:cat|print|show|read|echo|type|display|less|head|tail|paste|put|append|include|write|dump|commit|log|output|list|repeat|quote|copy|reveal|send|post|add|give|name|spell out|bat)(?:s|es|ing)?\\b';

export const SECRET_RULES: readonly Rule[] = [
  rule(
    'exfiltrate',
    'sends private data somewhere',
    { also: [has(SECRETS), has(SOMEWHERE)], unless: /authori[sz]ation|bearer|\bheaders?\b/u },
    [SEND],
  ),
  rule(
    'exfiltrate',
    'reports to a foreign address',
    {
      also: [/\b(?:each|every|all|always|after|before|when|whenever|once|first)\b/u],
      unless: /authori[sz]ation|bearer|\bheaders?\b|\bsecurity@|vulnerabilit/u,
    },
    [
      `\\b(?:send|post|report|forward|upload|submit|notify|ping|call home|phone home|announce|transmit|mail)\\b[^\\n.]{0,80}\\b(?:to|at|with) [\`<"']?(?:${HOST})`,
    ],
  ),
  rule('exfiltrate', 'sends something to a bare address', [
    '\\b(?:send|post|report|forward|upload|submit|transmit|copy|push|write|stream)\\b[^\\n.]{0,80}\\bto [`"\']?(?:\\w+://)?(?!127\\.|10\\.|192\\.168\\.)\\d{1,3}(?:\\.\\d{1,3}){3}\\b',
  ]),
  rule('exfiltrate', 'shows what is secret', [
    `${SHOW}[^\\n.]{0,40}\\b(?:values?|contents?|in full|full|unmasked|whole|lines?|aloud|plain)\\b[^\\n.]{0,30}(?:${SECRETS})`,
    `${SHOW}[^\\n.]{0,40}(?:${SECRETS})[^\\n.]{0,40}\\b(?:in full|unmasked|aloud|in (?:the|each|every|your) (?:answer|repl(?:y|ies)|output|chat|summary|response|comment|log)s?)\\b`,
    '\\b(?:cat|less|head|tail|type|bat|more|strings|xxd|base64|cp|grep \\S+) +(?:-\\S+ +)*["\']?(?:~|\\$home|/home/\\w+|/root|\\.\\.?)?/?(?:[\\w./-]*/)?(?:\\.env\\b(?!\\.(?:example|sample|template|dist|test))|\\.ssh/|\\.aws/|\\.netrc|\\.npmrc|\\.pypirc|\\.gnupg|\\.kube/|\\.config/(?:gh|gcloud)|id_(?:rsa|ed25519|ecdsa)|\\.\\w+_history|shadow\\b)',
    '\\b(?:output|result|values?|dump) of [`"\']?(?:printenv|env|set|export)\\b|\\b(?:printenv|env) ?>|tojson\\(secrets|\\$\\{\\{ ?secrets[^\\n}]{0,60}\\}\\}[^\\n]{0,40}\\|',
  ]),
  rule(
    'exfiltrate',
    'puts private data into a request',
    { unless: /-h +["']?(?:authorization|x-api-key|private-token)[^\n]{0,80}\$/u },
    [
      '\\b(?:curl|wget|http|xh|invoke-webrequest|invoke-restmethod|iwr|irm|nc|ncat|netcat|socat|telnet)\\b(?!:)[^\\n]{0,300}?(?:\\$\\(|`[a-z]+ [~./$]|<\\(|@[~./$]| -t +[~./]|\\$\\{?\\w*(?:key|token|secret|pass|home|user)|< *[~./])',
    ],
  ),
  rule('exfiltrate', 'pipes private data out', [
    `(?:\\b(?:env|printenv|set)\\b|${PRIVATE})[^\\n]{0,200}?\\|[^\\n]{0,120}?\\b(?:curl|wget|nc|ncat|netcat|socat|telnet|mail|sendmail|ssh|xargs|http|gh)\\b`,
  ]),
  rule('exfiltrate', 'opens a connection from the shell', [
    '/dev/(?:tcp|udp)/|\\b(?:nc|ncat|netcat) +(?:-\\w+ +)*\\S+ +\\d{2,5}\\b|\\bbash +-i\\b|\\bsocat +\\S*exec|\\bssh +-\\w*r\\w* +\\d|\\bngrok\\b|\\bcloudflared? +tunnel',
    '\\bleave\\b[^\\n.]{0,20}\\bport\\b[^\\n.]{0,20}\\bopen\\b|\\bopen\\b[^\\n.]{0,20}\\b(?:reverse )?(?:shell|tunnel)\\b|\\blisten on 0\\.0\\.0\\.0',
  ]),
  rule('exfiltrate', 'hides data in a name that is looked up', [
    '\\b(?:dig|nslookup|host(?= +["\'$`{<-])|ping|resolve-dnsname)\\b[^\\n]{0,80}(?:\\$|`[a-z]|\\{|<[a-z])',
  ]),
  rule('exfiltrate', 'copies private files to another machine', { also: [has(SECRETS, '_history|~/')] }, [
    '\\b(?:scp|rsync|rclone|sftp|gsutil +cp|aws +s3 +(?:cp|sync)|az +storage)\\b[^\\n]{0,200}',
  ]),
  rule('exfiltrate', 'puts data into the address of an image or link', [
    '\\[[^\\]\\n]{0,200}\\](?:\\(|: ?)\\s{0,3}<?(?:https?:)?//[^)\\n]{0,300}[?&#/=][^)\\n]{0,200}(?:\\{|\\$|<[a-z]|%7b|\\[|\\.\\.\\.|…|base64|_here\\b|_of_|content|answer|urlencod|encoded)',
    '!\\[[^\\]\\n]{0,200}\\]\\(\\s{0,3}<?(?:https?:)?//[^)\\n]{0,300}[?&](?:data|d|q|c|s|env|ctx|summary|token|key|secret|conversation|session|leak|exfil)=',
  ]),
  rule('exfiltrate', 'loads an image from elsewhere', [
    '<(?:img|image|video|audio|source|input|link)\\b[^>\\n]{0,300}(?:src|href|srcset|poster)\\s{0,3}=\\s{0,3}["\']?(?:https?:)?//',
  ]),
  rule(
    'exfiltrate',
    'puts data into the address of an image or link',
    { also: [/https?:/u, /base64|url-?encod|query|parameter|\?\w+=|append/u, has(PRIVATE)] },
    ['\\b(?:image|pixel|badge|picture|logo|banner|link|url|query)\\b'],
  ),
];

const ROLES =
  '(?:system|assistant|user|human|developer|instructions?|system[-_ ]?(?:prompt|reminder|message|instructions?)|tool[-_]?(?:results?|use|calls?|response|output)|function[-_]?(?:results?|calls?)|antml:\\w+|command-(?:name|message|args)|local-command-\\w+|task|important|admin|thinking|override)';

/** Text that passes for a turn of a conversation, and markup that shows a reader something else. */
export const MARKUP_RULES: readonly Rule[] = [
  rule('markup', 'forges a turn of the conversation', [
    `<\\|[^|\\n]{1,40}\\|>|\\[/?inst\\]|<</?sys>>|<｜|</?${ROLES}(?: [^>\\n]{0,80})?>|\\[/?(?:system|assistant|admin|developer)(?: [^\\]\\n]{0,40})?\\]|<(?:start|end)_of_turn>|</?s>|\\bbegin_of_text|\\bend_?of_?(?:text|turn|prompt|system|instructions)\\b|["']?\\brole["']? ?: ?["']?(?:system|developer)\\b`,
    '(?:^|\\n)[ \\t>*#_-]{0,8}(?:human|assistant|system|user|developer|ai)[*_]{0,2}: ?[*_]{0,2}(?:\\S|\\n)|(?:^|\\n)#{1,6} *(?:system|new system|instruction|response|human|assistant|system prompt)s?:? *(?:\\n|$)',
  ]),
  rule('markup', 'hides markup from a reader', [
    '<[a-z][^>\\n]{0,300}(?:display *: *none|visibility *: *hidden|font-size *: *0|opacity *: *0(?!\\.[1-9])|color *: *(?:white|#fff|transparent)|(?:width|height) *[:=] *["\']?0|(?:left|top|text-indent) *: *-\\d{3}|\\bhidden\\b|aria-hidden)',
  ]),
  rule('markup', 'holds markup that runs or loads', { isRendered: true }, [
    '</?(?:script|iframe|object|embed|style|svg|math|link|meta|base|form|template|noscript|applet|frame|portal)\\b|<[a-z][^>\\n]{0,300}\\bon(?:error|load|click|mouse\\w+|focus|toggle)\\s{0,3}=|<!\\[cdata|<!doctype|<!entity|<\\?(?:php|xml)',
  ]),
  rule('html_comment', 'holds a comment that no reader sees', { isRendered: true }, [
    '(?:^|\\n) {0,3}\\[(?:/{2}|comment|_|#|\\^?hidden)[^\\]\\n]{0,40}\\]: *(?:#|<>)|<!-(?!-)',
  ]),
  rule('markup', 'links to code or to data', [
    '\\]\\(\\s{0,3}<?(?:javascript|data|vbscript|file|blob|about|ms-\\w+|vscode|cursor|jar):|\\]: *<?(?:javascript|data|vbscript|file):|(?:href|src|action)\\s{0,3}=\\s{0,3}["\']?(?:javascript|data|vbscript):|<(?:javascript|data|vbscript):',
  ]),
  rule('markup', 'hides the host of an address', [
    'https?://[^\\s/?#@()<>"\'`]{1,200}@[\\w.[]|https?://[^\\s/]{0,80}xn--|https?://(?:0x[\\da-f]+|\\d{8,10})(?:[/:\\s]|$)',
  ]),
];

const LINK =
  /\[\s*(?:https?:\/\/)?((?:[\w-]{1,60}\.){1,6}[a-z]{2,20})[^\]\n]{0,200}\]\(\s*<?https?:\/\/([^/\s)>]{1,200})/gu;

/** The first link whose text is an address at another host than it leads to. */
export function findFalseLink(text: string): string | undefined {
  for (const [link, shown = '', real = ''] of text.matchAll(LINK)) {
    if (/\.(?:md|ts|js|py|json|txt|ya?ml|html?|go|rs|sh)$/.test(shown)) continue; // the name of a file
    if (!real.replace(/:\d+$/, '').endsWith(shown.replace(/^www\./, ''))) return link;
  }
  return undefined;
}
