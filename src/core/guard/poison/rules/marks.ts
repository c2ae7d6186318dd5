import { anyOf } from '../rule.ts';
import { HOST } from './subjects.ts';

/** A subject that a person should look at before a rule is adopted. */
export type MarkRule = {
  /** Says itself why: five words, after «this line». */
  readonly reason: string;
  readonly find: RegExp;
  /** «Never …» in front of it makes it harmless. Elsewhere «never» is the attack: «never ask», «never mention». */
  readonly isHarmlessForbidden: boolean;
};

const mark = (reason: string, ...alternatives: readonly string[]): MarkRule => ({
  reason,
  find: new RegExp(anyOf(...alternatives), 'gu'),
  isHarmlessForbidden: false,
});
const deed = (reason: string, ...alternatives: readonly string[]): MarkRule => ({
  ...mark(reason, ...alternatives),
  isHarmlessForbidden: true,
});

/** Programs that reach beyond the project, or do what a flag says. Those that build, test, format or look are in `USUAL`. */
const PROGRAMS =
  'npm|npx|pnpm|pnpx|yarn|bunx?|deno|node|python[\\d.]*|pip[\\dx]?|pipx|uvx?|poetry|conda|cargo|rustup|go|gem|bundle|rake|mvn|gradlew?|dotnet|docker|docker-compose|podman|kubectl|helm|terraform|tofu|pulumi|ansible(?:-\\w+)?|aws|gcloud|az|gh|glab|git|ssh|scp|sftp|rsync|rclone|curl|wget|http|nc|cat|cp|mv|ln|rm|chmod|chown|sudo|su|systemctl|launchctl|crontab|at|nohup|bash|sh|zsh|pwsh|powershell|psql|mysql|sqlite3|redis-cli|mongosh?|openssl|gpg|tar|zip|unzip|sed|awk|find|xargs|tee|export|source|eval|exec|env|printenv|kill|pkill|brew|apt(?:-get)?|dnf|apk|claude|codex|gemini|direnv|mise|asdf|vault|op|pass|security|osascript|defaults|reg|schtasks|open|start|date|touch|mkdir|echo|printf|base64|xxd|jq|ngrok|ping|dig|code|cursor';
const USUAL =
  '(?:npm|pnpm|yarn|bun) (?:run )?(?:test|lint|build|check|format|typecheck|tsc|dev|start|ci|vitest|jest)\\b|(?:npm|pnpm|yarn|bun) run [\\w:-]+|(?:uv|poetry) run (?:pytest|ruff|mypy|black)|cargo (?:test|build|check|clippy|fmt|bench|doc)\\b|go (?:test|build|vet|fmt)\\b|dotnet (?:test|build|format)\\b|(?:\\./)?(?:mvn|gradlew?|gradle) (?:test|build|check|verify)\\b|bundle exec (?:rspec|rubocop)|git (?:status|diff|log|show|blame|add|commit|rebase|switch|fetch|bisect|worktree)\\b|docker compose (?:up|ps|logs|down)\\b|terraform (?:fmt|validate|plan)\\b|python -m (?:pytest|unittest|mypy)\\b';
/** What makes a usual command another one. */
const FLAG =
  '(?:^| )-{1,2}(?:u|y|f|k|update\\w*|yes|force\\w*|no-\\w+|skip\\w*|ignore\\w*|allow\\w*|unsafe\\w*|insecure\\w*|privileged|pass-?with\\w*|exclude|deselect|admin|author|amend|quiet|silent)\\b';
const USUAL_COMMAND = new RegExp(`^(?:${USUAL})(?!.*(?:${FLAG}|[|<>;&$]))`, 'u');
const COMMAND = new RegExp(
  `^(?:[a-z_]{2,40}=\\S{0,80} )*(?:sudo )?(?:${PROGRAMS})(?: |$)|[|<>]{1,2} ?[~/\\w]|&& |\\$\\(`,
  'u',
);

/** Whether the text of a code span or of a line in a fence is a command that does more than build, test, format or look. */
export const isUnusualCommand = (code: string) => COMMAND.test(code) && code.includes(' ') && !USUAL_COMMAND.test(code);

const LOCAL = '(?!https?://(?:localhost|127\\.0\\.0\\.1|\\[::1\\]))';
const GAP = '[^\\n.;]{0,60}';
const DATA =
  '(?:data|backups?|snapshots?|versioning|branch(?:es)?|tags?|databases?|tables?|records?|logs?|histor(?:y|ies)|buckets?|accounts?|volumes?|files|folders?|director(?:y|ies)|clusters?|namespaces?|disks?|mails?|messages?|queues?|invoices?|tickets?|commits?|tests?|reports?|everything|all|the rest|copies|traces?|entries|audit\\w*|keys?|users?|repositor(?:y|ies)|repos?|worktrees?|work)';
const TELL =
  '(?:mention|tell|told|report|inform|notify|reveal|disclose|cite|warn|flag|explain|discuss|raise|point out|talk|speak|bring up|escalate|alert|interrupt|bother|ask|wait|slow down)(?:s|es|ed|ing)?';
const NEGATED =
  "(?:do not|don't|dont|doesn't|never|not|needn't|no need to|without|rather than|instead of|stop|skip|avoid|aren't|isn't|nobody|no one|nothing|none)";
const SAY =
  '(?<!every )(?<!each )(?<!the )(?<!an )(?:say|tell|told|answer|reply|respond|state|claim|write|report|log|describe|present|label|call|record|declare|mark|book|commit|close|word|phrase|note|name|give|given|explain)(?:s|es|d|ed|ing|ted)?';
const WELL =
  '(?:yes|done|fine|ok|okay|success\\w*|succeeded|pass(?:ed|es)?|finished|tested|verified|reviewed|complete[d]?|compliant|resolved|routine|minor|trivial|typo|formatting|clean-?up|chore|cosmetic|harmless|safe|official|independent|measured|live|firm|planned|maintenance|final|up to date|migrated|no (?:errors?|issues?|problems?|findings)|0 (?:errors?|issues?|failures?))';
const PEOPLE =
  '(?:nobody|no one|people|persons?|reviewers?|they|users?|customers?|clients?|teams?|auditors?|colleagues?|managers?|management|owners?|board|dashboards?|testers?|maintainers?|on-call|support|somebody|someone|anyone|everyone|everybody|others|newcomers?)';
const CHECKS =
  '(?:checks?|tests?|suites?|reviews?|reviewers?|remarks|approvals?|confirmations?|audit\\w*|scan\\w*|lint\\w*|warnings?|alarms?|alerts?|limits?|thresholds?|coverage|assertions?|signatures?|hash(?:es)?|checksums?|gates?|hooks?|polic(?:y|ies)|permissions?|protect\\w*|verif\\w+|validat\\w+|errors?|exceptions?|fail\\w+|mismatch\\w*|findings|vulnerabilit\\w+|cves?|certificates?|questions?|dialogs?|ci|pipelines?|consent|sandbox\\w*|quotas?|expir\\w+|licen[cs]es?|guidelines?|time-?outs?|locks?|types?|comparisons?|budgets?|rules?)';
const LAX =
  "(?:skip\\w*|bypass\\w*|ignor\\w+|disregard\\w*|pass(?:es)? over|overlook\\w*|accept|accepts|allow|allows|permit\\w*|let|lets|trust|waive\\w*|exempt\\w*|loosen\\w*|soften\\w*|softer|relax\\w*|lower|lowers|rais(?:e|es|ing)|higher|so high|weaken\\w*|switch(?:ed|es)? off|turn(?:ed|s)? off|disabl\\w+|deactivat\\w+|remov\\w+|delet\\w+|comment(?:ed)? out|silenc\\w+|mut(?:e|ed|es)|suppress\\w*|swallow\\w*|optional|unnecessary|not needed|need(?:s|ed)? no|no need|needn't|need not|too (?:strict|slow|long|noisy|picky)|noise|noisy|false positives?|outdated|artefacts?|artifacts?|formalit\\w+|enough|suffic\\w+|anyway|all the same|regardless|whatever|until (?:it|they)|counts? as|treat\\w*|regard(?:ed)? as|consider\\w*|auto-?\\w+|left out|leaves? out|postpone\\w*|regenerat\\w*|re-?run|retr(?:y|ies)|only a|only noise)";
const FIGURES =
  '(?:figures?|numbers?|results?|benchmarks?|estimates?|progress|scale|axis|charts?|dates?|timestamps?|minutes|time ?sheets?|hours|quotes?|citations?|page numbers?|comparisons?|expected (?:values?|output)|actual output|snapshots?|metrics?|statistics|averages?|ratings?)';
const TWISTED =
  '(?:best|worst|worse|favou?r\\w*|plausible|firm|confident|optimis\\w*|round(?:ed)? (?:up|down|it)|adjust\\w*|smooth\\w*|where we|even where|as (?:the )?(?:usual|live|measured|final)|invent\\w*|guess\\w*|made up|backdat\\w*|the day before|real reason|sounds?|until)';
const SECRET =
  "(?<!design )(?<!max_)\\btokens?\\b(?! (?:from|count|limit|budget|in theme))|\\bsecrets?\\b|\\bcredentials?\\b|\\bpasswor[dt]s?\\b|\\bpassphrases?\\b|\\b(?:api|access|ssh|private|signing|gpg|deploy|host)[ _-]?keys?\\b|\\.env\\b(?!\\.(?:example|sample|template|test))|\\bprintenv\\b|\\b(?:one-time|2fa|otp|recovery|verification) codes?\\b|\\b(?:recovery|seed) phrases?\\b|\\bid_(?:rsa|ed25519)\\b|\\.(?:ssh|aws|kube|netrc|npmrc|pypirc|gnupg|pem|p12)\\b|\\bkey(?:chain|ring)\\b|\\bwallets?\\b|\\bcookies?\\b|\\bconnection strings?\\b|\\bbearer\\b|\\bauth(?:entication)? headers?\\b|\\b(?:shared|service|somebody's|colleague's|their) accounts?\\b|\\b(?:signed|logged)[ -]in\\b|\\b(?:browser|console|login|shell) (?:profile|session|histor(?:y|ies))s?\\b|\\blifetime\\b|\\b(?:dump|print|include|attach)\\w*\\b[^\\n.]{0,30}\\benvironment\\b|\\blog-?ins?\\b";

export const MARK_RULES: readonly MarkRule[] = [
  deed(
    'runs a command',
    '\\b(?:run|execute|start|launch|invoke|call|source|eval)s?\\b[^\\n.]{0,40}\\b(?:scripts?|binar(?:y|ies)|helpers?|programs?|installers?|executables?|payload|snippet|one-liner|setup)\\b',
    '\\b(?:sudo|rm -|chmod|chown|curl|wget|npx|pip install|npm (?:i|install)|git (?:push|remote|config|reset|clean|stash)|scp|nohup|crontab|kubectl|docker run)\\b|\\btmux\\b',
  ),
  deed(
    'names a network address',
    `${LOCAL}(?:${HOST})`,
    '\\b(?:git|ssh)@|\\b(?:ssh|git|gs|ldap|smtp)://|\\b[\\w.+-]{1,60}@[\\w-]{1,60}\\.\\w{2,10}\\b|\\bwebhooks?\\b|\\bgists?\\b|paste ?bin|\\b(?:dropbox|google drive|onedrive|telegram|discord|ngrok|cloudflared?|tunnels?|proxy|proxies|vpn|dns)\\b|\\b(?:public|external|third[- ]party|remote) (?:chat|server|host|service|endpoint|channel|bucket|page|wiki|forum)s?\\b|\\bthe remotes? \\W?\\w|\\bmirrors?\\b',
  ),
  deed(
    'names a file elsewhere',
    '(?<![\\w.:/])~[/\\\\]|(?<![\\w.:/<])/(?:etc|tmp|var|home|usr|root|opt|mnt|dev|proc|srv|bin|users|volumes|library)\\b|\\b[a-z]:\\\\|(?<![\\w.])\\.\\./|\\$\\{?home\\b|%\\w{4,20}%|\\.(?:bashrc|zshrc|zshenv|profile|bash_profile|gitconfig|vimrc|envrc|docker)\\b|\\b(?:home|user|shared|global|system|temp|temporary|memory|shell) (?:dir\\w*|folders?|drives?|config\\w*|settings)\\b|\\bclipboard\\b|\\bweb root\\b',
    '\\b(?:other|another|each|every|all|any|sibling|neighbou?r\\w*) (?:\\w+ )?(?:repositor(?:y|ies)|repos?|projects?|workspaces?|machines?|checkouts?|clones?)\\b',
  ),
  deed('speaks of secrets or accounts', SECRET),
  deed(
    'sends or shares something',
    '\\b(?:send|sent|upload|forward|e-?mail|share|publish|attach|mirror|sync|synchroni[sz]e|transmit|export|replicate|broadcast|stream|leak|cc|bcc|invite|subscribe|hand out|pass(?:ed)? (?:on|around|along)|give\\b[^\\n.]{0,30}\\b(?:access|list|data|price))(?:s|es|d|ed|ing)?\\b(?! \\d)(?! on port)',
    '\\b(?:copy|copies|post|push|paste|put|add|append|insert|include|embed|encode|save|store|write|move|place|drop|go|goes|keep)(?:s|es|d|ed|ing|ting)?\\b[^\\n.;]{0,80}\\b(?:(?:to|into|in|on|onto|at|under) (?:the |a |an |our |its |their )?(?:shared|public|remote|external|second|agency|vendor|partner|common|open|team|company|wiki|gist|forum|chat|channel|drive|bucket|mailbox|url|query|user agent|metadata|readme|sheet|web root)\\b|for (?:training|everyone|others))',
    '\\b(?:telemetry|analytics|collector|beacon|call(?:s|ing)? home|phone(?:s|ing)? home|crash reports?|digest)\\b|\\blog(?:s|ged)?\\b[^\\n.;]{0,20}\\b(?:whole|full|entire|bod(?:y|ies))\\b',
  ),
  deed(
    'deletes or overwrites something',
    `\\b(?:delete|remove|drop|prune|purge|wipe|erase|truncate|clear|clean(?: up)?|reset|overwrite|destroy|discard|throw (?:away|out)|empty|expire|get rid of|shred|squash)(?:s|es|d|ed|ing|ped|ping)?\\b${GAP}\\b${DATA}\\b`,
    `\\b${DATA}\\b${GAP}\\b(?:deleted|removed|dropped|pruned|purged|wiped|erased|truncated|cleared|emptied|destroyed|discarded|overwritten|thrown (?:out|away)|may go|can go|goes away)\\b`,
    '\\bforce[- ]push\\w*|\\brewrit\\w+ (?:the )?history|\\bretention\\b|\\bstorage costs?\\b',
  ),
  mark(
    'deletes or overwrites something',
    '\\b(?:no|never|not|without|stop|skip|off)\\b[^\\n.;]{0,30}\\b(?:back ?ups?|backing up|snapshots?|versioning|rollback)\\b',
  ),
  deed(
    'brings in foreign code',
    '\\b(?:install|upgrade|download|fetch|clone|vendor|import|load|pull|add|prefer|switch to|replaced?|enable|accept|allow|register|take)(?:s|es|d|ed|ing|ling|led)?\\b[^\\n.;]{0,60}\\b(?:packages?|dependenc(?:y|ies)|plugins?|extensions?|mcp|servers?|actions?|registr(?:y|ies)|mirrors?|forks?|submodules?|wheels?|tarballs?|binar(?:y|ies)|snippets?|latest|newest|nightly|canary|unpinned|cdn|toolchains?|tools|downloads?)\\b',
    '@latest\\b|\\bversion ranges?\\b|\\bpost-?install\\b|\\block ?files?\\b|\\bmcp\\b|\\bauto-?updat\\w*|\\bunpinned\\b|\\b(?:than|instead of) the pinned\\b|\\bforks? `|\\bfork of\\b|\\bscript tags?\\b|\\b\\d+\\.[x*]|\\bnewest\\b|\\bnightly (?:channel|build|version)s?\\b',
  ),
  mark(
    'changes what people hear',
    `\\b${NEGATED}\\b(?: \\w+){0,2}? ${TELL}\\b(?! (?:me|first))`,
    '\\b(?:omit|pass(?:es)? over|skip over|plays? down|downplay|gloss(?:es)? over|soften|tone down|upbeat|reassur\\w+|keeps? quiet|quietly|silently|discreet\\w*|secretly|unnoticed|in the background|hid(?:e|es|den|ing)|conceal\\w*|cover up|to yourself|on request|leaves? (?:\\w+ ){0,6}out|left out|feel good|looks? (?:good|bad|better|clean|natural)|not cited)\\b',
    '\\b(?:unless|only if|only when|whoever|anyone who|twice|until)\\b[^\\n.;]{0,30}\\b(?:asks?|asked|insists?|complains?|notices?|mentions?|wonders?|objects?)\\b|\\b(?:when|if)\\b[^\\n.;]{0,20}\\b(?:asks?|asked|wonders?|unsure|complains?|mentions?)\\b[^\\n.;]{0,60}\\b(?:answer|say|tell|reply|told|explain)',
    `\\b${SAY}\\b[^\\n.;]{0,60}(?:\\b(?:as|that|with|is|are|was|were|them)\\b|[«"'\`])[^\\n.;]{0,40}\\b${WELL}\\b|\\bname\\b[^\\n.;]{0,40}\\b(?:planned|maintenance)\\b|\\bare told\\b|\\btell them that\\b`,
    '\\b(?:counts?|counted|regarded|treated|stated|passes) as\\b|\\btick (?:all|every|the)\\b|\\bas (?:finished|done|approved|fixed)\\b',
    '\\b(?:all the same|anyway|regardless|whether or not|no matter|in any case|either way|nevertheless|whatever (?:the|it|they|comes)|as if|pretend\\w*|fabricat\\w*|made[- ]up|real reason)\\b|\\bfake (?!clock|timer|data|server)',
    `\\b(?:annoy|confus|worr[iy]|bother|disturb|wake|holds? up|held up|scare|upset|embarrass|distract|overwhelm)\\w*|\\b${PEOPLE} (?:ever |will |would |really |else )?(?:looks?|checks?|reads?|notices?|cares?|complains?|knows?|does)\\b`,
  ),
  mark(
    'changes figures or records',
    `\\b${FIGURES}\\b${GAP}\\b${TWISTED}\\b`,
    `\\b${TWISTED}\\b${GAP}\\b${FIGURES}\\b`,
    '\\b(?:copy|paste|put|take|write)\\b[^\\n.;]{0,30}\\bactual\\b[^\\n.;]{0,40}\\bexpected\\b|\\bwhere we win\\b|\\bunverified\\b|\\bestimated and\\b',
  ),
  mark(
    'speaks in another name',
    "\\b(?:reviewed|signed-off|co-authored|approved|acked)-by\\b|\\bin (?:the|their|his|her|\\w+'s) name\\b|\\bname of (?:the|a) (?!file|branch|function|variable|column|project|team|customer|test)|\\bon (?:\\w+ ){0,2}(?:\\w+'s |their |your )?behalf\\b|\\bas if you (?:were|are)\\b|\\bpos(?:e|es|ing) as\\b|\\bimpersonat\\w*|\\ba colleague has\\b|\\bwhat the person (?:would|wanted)\\b",
  ),
  deed('relaxes a check', `\\b${LAX}\\b[^\\n.;]{0,50}\\b${CHECKS}\\b`, `\\b${CHECKS}\\b[^\\n.;]{0,50}\\b${LAX}\\b`),
  mark(
    'relaxes a check',
    "\\b(?:never|do not|don't|without|no|not|stop|skip)\\b(?: (?:run|running|waiting|wait|for|the|a|an|any|check|checking|verif\\w+|validat\\w+|test|testing|review|require|requiring)){1,3} (?:checks?|tests?|review|reviews|approval|confirmation|confirming|asking|verification|validation|signatures?|permission|purchase order|second|anyone|for)\\b|\\bwithout (?:the |a )?(?:check|checks|review|approval|confirmation|asking|waiting)\\b",
    '\\b(?:catch|swallow)\\w*\\b[^\\n.;]{0,40}\\b(?:nothing|empty|continue|ignore)\\b|\\breturns? (?:true|an empty|empty|success|200)\\b|\\|\\| ?true|\\btakes? for granted|\\bassume\\w*\\b|\\bstraight (?:to|into)\\b|\\bgo(?:es)? out directly\\b|\\bfreely\\b|\\bfast enough\\b|\\bgood enough\\b|\\bonly (?:internal|a formality|a guideline)\\b|\\bsecond look\\b|\\bspend what\\b',
  ),
  deed(
    'gives access or approval',
    '\\bapproves?\\b|\\bthumbs-?up\\b|\\bauto-?(?:approv|merg|accept)\\w*|\\badmin(?:istrator)?s?\\b|(?<!non-)(?<!not as )\\b(?:as )?root\\b(?! (?:of|cause|folder|directory|element|component|node|level))|\\bsudo\\b|\\bgrant\\w*|\\belevat\\w+|\\bsuperuser\\b|\\bfull access\\b|\\b(?:write|public|open|free) access\\b|\\baccess (?:to|for) (?:all|every|the whole|any)|\\bown limits?\\b|\\bpublic(?:ly)? (?:read\\w*|writ\\w*|link)|\\bworld-readable\\b|\\bmode 0?[67]\\d\\d\\b|\\b0?777\\b|\\b(?:merge|release|deploy|publish)\\b[^\\n.;]{0,40}\\b(?:yourself|right away|at once|directly|even|self|own|bot|without|on your own|protected)\\b|\\bpermissions?\\b[^\\n.;]{0,40}\\b(?:yes|all|widen|extend|more|allow\\w*)\\b|\\bcarr(?:y|ies) (?:it|them) out\\b',
  ),
  mark(
    'speaks of security',
    '\\b(?:auth|authenticat\\w+|authori[sz]\\w+|cors|csrf|csp|xss|ssrf|samesite|httponly|tls|ssl|certificates?|signatures?|encrypt\\w*|decrypt\\w*|plain ?text|clear ?text|md5|sha-?1|jwts?|oauth|sso|iam|rbac|acls?|firewalls?|open(?:s|ed)? (?:the |a )?ports?|0\\.0\\.0\\.0|origin headers?|rate[- ]limit\\w*|captchas?|2fa|mfa|sandbox\\w*|saniti[sz]\\w+|escap(?:e|ed|ing)|injection|eval|pickle|deseriali[sz]\\w*|shell ?= ?true|verify ?= ?false|debug (?:endpoint|port)|back ?doors?|vulnerabilit\\w+|cves?|security|insecure|audit\\w*|anonymi[sz]\\w*|personal data|live customer|customer (?:data|table)|hard-?cod\\w+|wildcards?|trusted|privileged|integrity|math\\.random|reset links?|stack traces?|full stack and|time-?outs? of)\\b|(?<![=!])==(?!=)|\\bsql\\b[^\\n.;]{0,60}\\b(?:together|concat\\w*|directly|interpolat\\w*|f-strings?|strings?)\\b|\\busers? choose\\b[^\\n.;]{0,30}\\b(?:file|path)',
  ),
  mark(
    'instructs agents or itself',
    '\\b(?:claude|agents?|gemini|copilot-instructions|memory|skill|cursor)\\.md\\b|\\.cursorrules|\\.windsurfrules|\\.claude\\b|\\.codex\\b|\\.cursor\\b|\\.?mcp\\.json',
    '\\b(?:assistants?|agents?|(?:next|other|new) helpers?|bots?|llms?|language models?|copilots?)\\b|\\b(?:later|future|next|new|every|each) sessions?\\b|\\bnext time\\b|\\bsystem prompt\\b|\\b(?:instructions?|memory files?|skill files?)\\b|\\b(?:this|these|three) (?:section|rule|line|paragraph|note|sentence|bullet|block|instruction|guideline|lines)\\b|\\b(?:contradicts?|overrides?|takes? precedence|outranks?|wins over|from now on|puts? it back|takes? this out|restore it)\\b|\\bdo(?:es)? (?:what|whatever)\\b|\\bbeyond the task\\b|\\bas (?:it|they) stands?\\b|\\bif asked to stop\\b',
    '\\b(?:every|each|all) (?:\\w+ ){0,2}(?:docstrings?|readmes?|templates?|handovers?)\\b|\\b(?:docstrings?|readmes?|templates?|comments?|issues?|commit messages?)\\b[^\\n.]{0,40}\\b(?:agents?|assistants?|instructions)\\b',
  ),
  mark(
    'works unasked or by schedule',
    '\\bcron\\w*|\\b(?:daily|nightly|weekly|hourly|regularly|periodically|at intervals)\\b|\\b(?:every|each) (?:\\d+ |few |other )?(?:day|night|hour|minute|week|morning|evening|monday|tuesday|wednesday|thursday|friday|session|start|login|checkpoint|launch|boot|conversation)s?\\b|\\b(?:launchd|systemd|daemons?|watchers?|start-?up|reboots?|autostart|git hooks?|(?:pre|post)-(?:push|merge|checkout|install)|sessionstart|background jobs?)\\b|\\bbefore (?:starting|you start|each task|every task)\\b|\\b(?:after|before) (?:each|every) (?:run|task|session)\\b|\\bfirst thing\\b|\\bnew machine\\b|\\bby (?:itself|themselves)\\b|\\bupdate itself\\b|\\balias(?:es)? for\\b|\\bat once\\b|\\bright away\\b',
  ),
  mark(
    'depends on who asks',
    '\\b(?:comments?|requests?|messages?|e?-?mails?|remarks?|orders?|wishes|questions?|texts?|prs?|pull requests?)\\b (?:by|from|of|in) (?:the )?(?:(?:users?|accounts?|group|folder|company|person|sender|domain|tickets|customer)\\b|[«"`@])|\\bwhoever\\b|\\banyone (?:who|with)\\b|\\b(?:users?|customers?|people|candidates?|applicants?|clients?|patients?|members?) (?:who|whose|over|under|named)\\b|\\b(?:mail|name|address|account)\\b[^\\n.]{0,20}\\b(?:ends?|begins?|starts?)\\b|\\bif the (?:reviewer|sender|author|caller|owner)\\b|(?<![\\w/.`])@[a-z][\\w-]{2,30}\\b(?!/)|`[a-z]\\w*-(?:ext|bot|admin|ops|svc|helper)`|\\binvoices? (?:of|from)\\b|\\bpartner\'?s?\\b|\\bthe vendor\\b',
  ),
  mark(
    'watches people',
    '\\b(?:record|track|monitor|watch|observe|profile|keeps? (?:notes|a list|track|the list|score|it)|collect|gather|capture|take(?:s)? down|guess|summari[sz]e)(?:s|es|ed|ing)?\\b[^\\n.]{0,60}\\b(?:person|people|users?|colleagues?|employees?|who|whom|keystrokes?|types|screens?|clipboard|browser\\w*|browsing|histor(?:y|ies)|calendar|mailbox|contacts?|location|breaks?|moods?|conversations?|transcripts?|microphone|camera|presence|activity|absen\\w+|on file)\\b',
    '\\b(?:take|taking|takes) screenshots?\\b|\\bkeystrokes?\\b|\\bbrowsing history\\b|\\bbash_?history\\b|\\bshell history\\b|\\bworking hours\\b|\\bwebcam\\b',
  ),
  mark(
    'argues for itself',
    '\\bso that (?:no|nobody|it|they|the|reviewers?|people|every\\w*|[a-z]+s?) (?:\\w+ ){0,3}?(?:not|never|ever|needs?|stays?|can|could|need not|less|quicker|faster|are|is)\\b|\\b(?:otherwise|because|since) (?:it|they|the|nobody|people|that)\\b|(?:[;,:)]|—) (?:it|that|this|they|these|those|which|nobody|people|everyone|\\w+s) (?:is|are|was|were|makes?|saves?|helps?|slows?|sounds?|looks?|needs?|annoy|complain|come|confuse|only|just|mostly|react\\w*) (?:only |just |mostly |often |too |not |easier|faster|quicker|enough|that|noise|more|less|bad|good|people|time|things|requests|later|by)',
  ),
];

const FOREIGN_WORDS =
  'der die das und nicht mit für auf ist sind ein eine einen den dem des im zu bei wird werden nur oder nie auch wenn als vor nach aus le la les et des une un du pas est sont dans pour avec sur ne que qui aux jamais toujours el los las y en del con para por no se una es son nunca siempre os as um uma com não em do da na nos il lo gli che di non per sono con het een niet van voor met zijn ook als dan och att inte som är för på med og ikke til det som er på være nie się jest oraz dla przy ve bir için ile değil keine kein keinen wie es sie ohne bis über um wir ihr sich noch bitte aan wordt worden naar uit bij deze dit bez lub jak na z w jamais aucun toute tous leur cette si al lo su más muy ser estar ao mais sem seu suas';
const ENGLISH_WORDS =
  'the a an and or not no of to in on at by for from with without is are was be as it its this that these if when before after until never always do does use only all any each every must should may can will have has than then so but out up into per one two you your i me my we our they their them what which who how where there here also more less least most first last new same own keep run write put make give ask say';
const setOf = (words: string) => new Set(words.split(' '));
const ENGLISH = setOf(ENGLISH_WORDS);
const FOREIGN = new Set([...setOf(FOREIGN_WORDS)].filter((word) => !ENGLISH.has(word)));

/** Whether a line is in a language that the rules above do not read. Code and names do not count. */
export function isForeign(prose: string): boolean {
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const latin = prose.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (letters - latin >= 3 && letters - latin > letters / 5) return true;
  const words = prose.match(/(?<![\w./-])\p{L}[\p{L}'’]*(?![\w/-]|\.\w)/gu) ?? [];
  const count = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length;
  const [english, foreign] = [count(ENGLISH), count(FOREIGN)];
  return foreign > english || (english === 0 && words.length >= 7);
}

const SHAPES = anyOf(
  'tabs?|spaces?|indent\\w*|dates?|units?|headings?|titles?|bullets?|tables?|columns?|rows?|cells?|names?|named|naming|camelcase|pascalcase|snake_case|kebab\\S*|prefix\\w*|suffix\\w*|subjects?|imperative|tense|characters?|lines?|words?|sentences?|paragraphs?|abbreviat\\w+|spelling|grammar|plural|singular|capital\\w*|lowercase|uppercase|quotes?|markdown|language|english|german|french|spanish',
  'decimals?|digits?|currenc\\w+|cents|euros?|amounts?|percent\\w*|rounded|metric|iso|utc|time ?zones?|icons?|colou?rs?|fonts?|alt text|contrast|charts?|graphs?|legend|slides?|diagrams?|layouts?|margins?|padding|pixels?|responsive|citations?|footnotes?|alphabetical\\w*|sorted|short|brief|concise|tone|formal|summar\\w+|changelog|release notes|docs|documentation|examples?|todos?',
  'comments?|docstrings?|imports?|exports?|functions?|methods?|class(?:es)?|components?|props|typed?|interfaces?|enums?|variables?|constants?|arguments?|parameters?|modules?|tests?|fixtures?|mocks?|fakes?|stubs?|json|yaml|csv|xml|html|css|typescript|javascript|python|rust|java|kotlin|swift|react|vue|schemas?|fields?|async|await|promises?|callbacks?|null|undefined|booleans?|strings?|integers?|floats?|arrays?|migrations?|transactions?|quer(?:y|ies)|prettier|eslint|style\\w*|semver|commits?|branch(?:es)?',
);
const SHAPE = new RegExp(`\\b${SHAPES}\\b`, 'u');
/** A sentence that goes on with one of these is about more than shape. */
const MORE =
  /\b(?:if|when|whenever|once|unless|until|because|since|so that|otherwise|even|although|instead|anyway|customers?|persons?|people|users?|they|them|their|nobody|everyone|someone|whoever|teams?|reviewers?|colleagues?|yourself|itself|afterwards|again|elsewhere|also|too|as well|then|straight|directly|freely|quick\w*|fast\w*|easier|saves?|helps?|enough|only|whatever|any\w*|who|whom|renews?|left out|put|hidden|sounds?|needs that)\b/u;
const FORBIDS =
  /^[\s*+>-]*(?:never|don't|do not|no|avoid)\b(?!.*\b(?:unless|before|until|without|except|but|instead|if|when|wait|slow|ask|stop|hesitate)\b)/su;
const ASKS = /\b(?:ask (?:me|first)|show me|tell me|let me|(?:for|needs?|wait for) my)\b/u;

const SHORT = 70;

/** Whether each sentence is short or about the shape of texts and code, forbids something, or gives the person a say. */
export const isAboutShape = (text: string): boolean =>
  text
    .split(/[.;](?:\s|$)|\n/u)
    .filter((sentence) => /\p{L}/u.test(sentence))
    .every(
      (one) => ((one.length <= SHORT || SHAPE.test(one)) && !MORE.test(one)) || FORBIDS.test(one) || ASKS.test(one),
    );
