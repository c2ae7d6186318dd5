import { finds, has, type Rule } from '../rule.ts';

const FETCHER =
  '\\b(?:curl|wget|aria2c|httpie|lynx|iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile|fetch)\\b';
const LIBRARY = '(?:urlopen|urllib|requests\\.get|httpx\\.get|fetch\\(|https?\\.get|axios|urlretrieve|net::http|lwp)';
const SHELL =
  '(?:sudo +(?:-\\w+ +)*)?(?:/(?:usr/)?bin/)?(?:env +)?(?:(?:ba|z|da|k|fi|tc|c|a)?sh|python[\\d.]*|node|deno|bun|perl|ruby|php|lua|iex|invoke-expression|pwsh|powershell|source|osascript|xargs +(?:-\\S+ +)*(?:ba|z)?sh)\\b';
const DECODER =
  '(?:base(?:64|32|58) +(?:-d|-{1,2}decode)|xxd +-r|openssl +(?:enc|base64) +-d|gunzip|uudecode|\\brev\\b|\\btr +[\'"\\[]?a-z)';
const RUN =
  '\\b(?:eval|exec|execsync|function|iex|invoke-expression|os\\.system|system|spawn|subprocess[.\\w]*|child_process[.\\w()\'"]*)\\b';

/** Commands that bring foreign code to run. */
const CODE_RULES: readonly Rule[] = [
  {
    kind: 'execute',
    reason: 'pipes a download into an interpreter',
    find: finds(`${FETCHER}[^\\n]{0,400}?\\|[ \\n]{0,3}${SHELL}`),
  },
  {
    kind: 'execute',
    reason: 'runs what a download returns',
    find: finds(
      `(?:<\\(|\\$\\(|\`|\\()\\s{0,3}${FETCHER}[^\\n]{0,300}?(?:https?:|\\$|www)`,
      `\\b(?:eval|exec|iex|invoke-expression|source)\\b[^\\n]{0,40}${FETCHER}`,
    ),
    also: [/\b(?:ba|z|da)?sh\b|\beval\b|\bexec\b|\bsource\b|\biex\b|python|node|perl|ruby|powershell|\. </u],
  },
  {
    kind: 'execute',
    reason: 'runs what a download returns',
    find: finds(`${RUN} ?\\([^\\n]{0,120}?${LIBRARY}`, `${LIBRARY}[^\\n]{0,160}?${RUN} ?\\(`),
  },
  {
    kind: 'execute',
    reason: 'saves a download and runs it',
    find: finds(
      `${FETCHER}[^\\n]{0,300}?(?:&&|;|\\n|\\band\\b|\\bthen\\b)[^\\n]{0,80}?(?:chmod +\\S{0,6}x|\\./|\\b(?:ba|z)?sh +[\\w./~-]|\\bpython[\\d.]* +\\S+\\.py|\\bnode +\\S+\\.m?js|start-process|\\binstall\\b[^\\n]{0,20}\\.(?:sh|py|deb|rpm|pkg|whl|tgz))`,
    ),
  },
  {
    kind: 'execute',
    reason: 'decodes text and runs it',
    find: finds(
      `${DECODER}[^\\n]{0,200}?\\|[ \\n]{0,3}${SHELL}`,
      `${RUN} ?[("'\`$ ]{1,4}[^\\n]{0,80}?(?:atob|b64decode|base64|fromcharcode|unhexlify|fromhex|decode|rot13|codecs|zlib|marshal)`,
      '(?:powershell|pwsh)[^\\n]{0,60}? -e(?:nc|ncodedcommand|c)?\\b|\\bprintf +[\'"]?\\\\+x?\\d[^\\n]{0,300}\\|',
    ),
  },
  {
    kind: 'execute',
    reason: 'pipes text into a shell',
    find: finds('\\|[ \\n]{0,3}(?:sudo +)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k)?sh|iex)\\b(?! *-c\\b)'),
  },
  {
    kind: 'execute',
    reason: 'runs code from an address',
    find: finds(
      '\\b(?:deno +run|bun +run|npx|bunx|pnpx|node|go +run|uvx?|pipx +run|mshta|regsvr32|rundll32|msiexec|bitsadmin|certutil)\\b[^\\n]{0,80}?https?:',
      '\\bdocker +run\\b[^\\n]{0,80}?(?:--privileged|-v +/:|--pid[= ]host)|\\bimport +[\'"]https?:|\\bfrom +[\'"]https?:',
    ),
  },
];

/** Commands and orders that destroy. */
const DESTROY_RULES: readonly Rule[] = [
  {
    kind: 'destroy',
    reason: 'deletes what cannot be brought back',
    find: finds(
      'rm +(?:-[\\w-]+ +){1,4}["\']?(?:/|~|\\$\\{?home|\\*|\\.(?:[ /*`"\']|$|\\.)|%userprofile)|git +clean +-\\w*[xf]\\w*d?\\w*',
      'mkfs|dd +if=[^\\n]{0,60}of=/dev|(?<!>)>{1,2} {0,3}/dev/[sn][dv]|drop +(?:table|database|schema)|truncate +table|shred +-|find +[/~][^\\n]{0,80}-delete',
      'terraform +destroy[^\\n]{0,40}-auto-approve|docker +system +prune[^\\n]{0,40}-\\w*a|kubectl +delete +(?:ns|namespace|all|pvc)|s3 +rm[^\\n]{0,80}--recursive',
      ':\\(\\) *\\{|del +/[sfq]|format +c:|rd +/s|remove-item[^\\n]{0,60}-recurse|git +(?:reflog +expire|filter-branch|update-ref +-d)',
    ),
  },
  {
    kind: 'destroy',
    reason: 'tells to delete much at once',
    find: finds(
      '\\b(?:delete|erase|wipe|remove|drop|destroy|purge|overwrite|truncate)\\b[^\\n.]{0,25}\\b(?:all|every|entire|whole|any|production)\\b[^\\n.]{0,30}\\b(?:backups?|home|histor(?:y|ies)|databases?|tables?|branches|logs?|files|repositor(?:y|ies)|data|volumes?|users?|snapshots?)\\b',
      '\\b(?:delete|erase|wipe|destroy|purge)\\b (?:the )?(?:backups?|home directory|git history|production|audit logs?|evidence)\\b',
    ),
    unless: /\bask\b|confirm|generated|build|temporary|\btmp\b|unused|mock|\btest\b|fixture/u,
  },
  {
    kind: 'exfiltrate',
    reason: 'diverts money',
    find: finds(
      '\\b(?:keep|send|move|transfer|credit|route|divert|put|pay|book|redirect|skim)\\b[^\\n.]{0,40}\\b(?:rest|difference|remainder|funds|payments?|money|cents|payouts?|donations?|fees?|invoices?)\\b[^\\n.]{0,40}\\b(?:account|wallet|iban|address)\\b',
      '\\b(?:replace|change|swap|set)\\b[^\\n.]{0,30}\\b(?:iban|wallet|payout|bank account|payment) ?(?:address|number|details|account)?\\b[^\\n.]{0,30}\\b(?:to|with|by)\\b',
    ),
    unless: has('\\bcents as integers|\\btest account'),
  },
];

export const COMMAND_RULES: readonly Rule[] = [...CODE_RULES, ...DESTROY_RULES];
