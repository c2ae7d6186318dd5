import { anyOf, finds, has, type Rule } from '../rule.ts';
import { HOST } from './words.ts';

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
  {
    kind: 'persistence',
    reason: 'writes to a file that runs by itself',
    find: finds(`${WRITE}[^\\n]{0,120}?${STARTUP}`, `${STARTUP}[^\\n]{0,40}(?:${WRITES_BEHIND})`),
    unless: /\blet me\b|\bby hand\b|\bout of scope\b/u,
  },
  {
    kind: 'persistence',
    reason: 'writes to what other sessions read',
    find: finds(
      `${WRITE}[^\\n]{0,100}?${MEMORY}`,
      `${MEMORY}[^\\n]{0,40}(?:${WRITES_BEHIND})`,
      '\\.\\./[\\w./-]{0,80}skill\\.md',
    ),
  },
  {
    kind: 'persistence',
    reason: 'keeps or spreads itself',
    find: finds(
      `\\b(?:copy|restore|re-?add|re-?insert|repeat|propagate|replicate|duplicate|spread|re-?create|re-?write|insert|paste|append|add|include|put|write|keep|preserve|reproduce|carry)\\b[^\\n.]{0,20}\\b${ITSELF}\\b`,
      `\\b(?:never|do not|don't|must not|not|refuse to) (?:ever )?(?:remove|delete|edit|change|drop|prune|alter|modify|touch|shorten|rewrite|summari[sz]e)\\b[^\\n.]{0,20}\\b${ITSELF}`,
      `\\b(?:if|when|whenever|once|should)\\b[^\\n.]{0,12}\\b(?:${ITSELF}|it|they)\\b[^\\n.]{0,20}\\b(?:removed|deleted|missing|gone|edited|lost|pruned|absent)\\b[^\\n.]{0,40}\\b(?:add|restore|write|put|re-?insert|re-?create|bring)`,
      `\\b${ITSELF}\\b[^\\n.]{0,40}\\b(?:must (?:stay|remain|never|not|be kept|be copied|always)|may not be|cannot be|can not be|is permanent|are permanent|stays?|remains?)\\b`,
    ),
    isForbidding: true,
  },
  {
    kind: 'persistence',
    reason: 'spreads to other files and repositories',
    find: finds(
      `\\b(?:add|put|append|insert|write|copy|paste|include)\\b[^\\n]{0,80}(?:${HOST})[^\\n]{0,60}\\b(?:every|each|all|any) (?:\\w+ )?(?:files?|readmes?|commits?|pages?)`,
      '\\b(?:create|add|put|copy|make|install|push|leave|write|plant|enable)\\b[^\\n.]{0,80}\\b(?:in|to|into|on|for) (?:each|every|all|any) (?:\\w+ )?(?:repositor(?:y|ies)|repos?|projects?|workspaces?|machines?|packages?|manifests?|clones?|forks?)\\b',
    ),
    unless: /changelog|readme|licen[cs]e|\bmonorepo\b/u,
  },
  {
    kind: 'persistence',
    reason: 'gives itself tools, hooks or servers',
    find: finds(
      '(?:^|\\n)[ \\t>*-]*["\'`]?(?:allowed[-_]tools|disallowed[-_]tools|hooks|mcp_?servers|permission-?mode|defaultmode|disable-model-invocation|user-invocable|apikeyhelper|statusline|sessionstart|argument-hint|auto_?approve\\w*)["\'`]?[ \\t]*[:=]',
      '["\'](?:allowed-?tools|hooks|mcpservers|permissions|permissionmode|defaultmode|apikeyhelper|sessionstart|enableallprojectmcpservers|pretooluse|posttooluse|stop|userpromptsubmit)["\'] ?:|\\bpermissions:?\\s{0,6}(?:-\\s*)?allow\\b|\\bmcp__[\\w-]{0,60}?(?:install|exec|run|shell|eval|delete|write|all)\\w*',
    ),
  },
  {
    kind: 'persistence',
    reason: 'opens a second front matter',
    find: finds('(?:^|\\n)---[ \\t]*\\n(?:[ \\t]*\\n){0,3}[ \\t]*["\']?[\\w-]{2,40}["\']?[ \\t]*:'),
    isRendered: true,
  },
  {
    kind: 'execute',
    reason: 'makes a YAML reader run code',
    find: finds('!!(?:python|ruby|js|java|perl|php)/|!ruby/|!python/'),
  },
  {
    kind: 'execute',
    reason: 'is a command that an agent runs when it reads the document',
    find: finds('(?:^|[\\s(>"\'*_|:-])!`[^`\\n]|(?:^|\\n)[ \\t>*-]*!(?:\\w[\\w./-]*)(?: |$)|```!'),
  },
  {
    kind: 'fetch',
    reason: 'includes another file',
    find: finds(
      '(?:^|[\\s("\'>:,])@(?:~|/|\\.{1,2}/|\\$|[\\w.-]{1,60}/[\\w./-]{0,80}\\.(?:md|txt|env|json|ya?ml|sh|toml|key|pem)\\b|[\\w-]+\\.(?:md|txt|env|json|ya?ml|sh|toml|key|pem)\\b|\\.\\w)',
    ),
    also: [has('.')],
  },
];
