import { has, type Rule, rule } from '../rule.ts';
import { HOST } from './subjects.ts';

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
  rule('execute', 'pipes a download into an interpreter', [`${FETCHER}[^\\n]{0,400}?\\|[ \\n]{0,3}${SHELL}`]),
  rule(
    'execute',
    'runs what a download returns',
    { also: [/\b(?:ba|z|da)?sh\b|\beval\b|\bexec\b|\bsource\b|\biex\b|python|node|perl|ruby|powershell|\. </u] },
    [
      `(?:<\\(|\\$\\(|\`|\\()\\s{0,3}${FETCHER}[^\\n]{0,300}?(?:https?:|\\$|www)`,
      `\\b(?:eval|exec|iex|invoke-expression|source)\\b[^\\n]{0,40}${FETCHER}`,
    ],
  ),
  rule('execute', 'runs what a download returns', [
    `${RUN} ?\\([^\\n]{0,120}?${LIBRARY}`,
    `${LIBRARY}[^\\n]{0,160}?${RUN} ?\\(`,
  ]),
  rule('execute', 'saves a download and runs it', [
    `${FETCHER}[^\\n]{0,300}?(?:&&|;|\\n|\\band\\b|\\bthen\\b)[^\\n]{0,80}?(?:chmod +\\S{0,6}x|\\./|\\b(?:ba|z)?sh +[\\w./~-]|\\bpython[\\d.]* +\\S+\\.py|\\bnode +\\S+\\.m?js|start-process|\\binstall\\b[^\\n]{0,20}\\.(?:sh|py|deb|rpm|pkg|whl|tgz))`,
  ]),
  rule('execute', 'decodes text and runs it', [
    `${DECODER}[^\\n]{0,200}?\\|[ \\n]{0,3}${SHELL}`,
    `${RUN} ?[("'\`$ ]{1,4}[^\\n]{0,80}?(?:atob|b64decode|base64|fromcharcode|unhexlify|fromhex|decode|rot13|codecs|zlib|marshal)`,
    '(?:powershell|pwsh)[^\\n]{0,60}? -e(?:nc|ncodedcommand|c)?\\b|\\bprintf +[\'"]?\\\\+x?\\d[^\\n]{0,300}\\|',
  ]),
  rule('execute', 'pipes text into a shell', [
    '\\|[ \\n]{0,3}(?:sudo +)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k)?sh|iex)\\b(?! *-c\\b)',
  ]),
  rule('execute', 'runs code from an address', [
    '\\b(?:deno +run|bun +run|npx|bunx|pnpx|node|go +run|uvx?|pipx +run|mshta|regsvr32|rundll32|msiexec|bitsadmin|certutil)\\b[^\\n]{0,80}?https?:',
    '\\bdocker +run\\b[^\\n]{0,80}?(?:--privileged|-v +/:|--pid[= ]host)|\\bimport +[\'"]https?:|\\bfrom +[\'"]https?:',
  ]),
];

const DESTROY_RULES: readonly Rule[] = [
  rule('destroy', 'deletes what cannot be brought back', [
    'rm +(?:-[\\w-]+ +){1,4}["\']?(?:/|~|\\$\\{?home|\\*|\\.(?:[ /*`"\']|$|\\.)|%userprofile)|git +clean +-\\w*[xf]\\w*d?\\w*',
    'mkfs|dd +if=[^\\n]{0,60}of=/dev|(?<!>)>{1,2} {0,3}/dev/[sn][dv]|drop +(?:table|database|schema)|truncate +table|shred +-|find +[/~][^\\n]{0,80}-delete',
    'terraform +destroy[^\\n]{0,40}-auto-approve|docker +system +prune[^\\n]{0,40}-\\w*a|kubectl +delete +(?:ns|namespace|all|pvc)|s3 +rm[^\\n]{0,80}--recursive',
    ':\\(\\) *\\{|del +/[sfq]|format +c:|rd +/s|remove-item[^\\n]{0,60}-recurse|git +(?:reflog +expire|filter-branch|update-ref +-d)',
  ]),
  rule(
    'destroy',
    'tells to delete much at once',
    { unless: /\bask\b|confirm|generated|build|temporary|\btmp\b|unused|mock|\btest\b|fixture/u },
    [
      '\\b(?:delete|erase|wipe|remove|drop|destroy|purge|overwrite|truncate)\\b[^\\n.]{0,25}\\b(?:all|every|entire|whole|any|production)\\b[^\\n.]{0,30}\\b(?:backups?|home|histor(?:y|ies)|databases?|tables?|branches|logs?|files|repositor(?:y|ies)|data|volumes?|users?|snapshots?)\\b',
      '\\b(?:delete|erase|wipe|destroy|purge)\\b (?:the )?(?:backups?|home directory|git history|production|audit logs?|evidence)\\b',
    ],
  ),
  rule('exfiltrate', 'diverts money', { unless: has('\\bcents as integers|\\btest account') }, [
    '\\b(?:keep|send|move|transfer|credit|route|divert|put|pay|book|redirect|skim)\\b[^\\n.]{0,40}\\b(?:rest|difference|remainder|funds|payments?|money|cents|payouts?|donations?|fees?|invoices?)\\b[^\\n.]{0,40}\\b(?:account|wallet|iban|address)\\b',
    '\\b(?:replace|change|swap|set)\\b[^\\n.]{0,30}\\b(?:iban|wallet|payout|bank account|payment) ?(?:address|number|details|account)?\\b[^\\n.]{0,30}\\b(?:to|with|by)\\b',
  ]),
];

export const COMMAND_RULES: readonly Rule[] = [...CODE_RULES, ...DESTROY_RULES];

const INSTALL =
  '(?:npm +(?:i|install|add)|pnpm +(?:add|i|install)|yarn +add|bun +add|pip[\\dx]? +install|uv +(?:add|pip +install)|poetry +add|pipx +install|cargo +(?:add|install)|gem +install|go +(?:get|install)|composer +require|brew +(?:tap|install)|apt(?:-get)? +install|easy_install|conda +install|npx|uvx|bunx)';

/** Packages from elsewhere, and what runs when they are installed. */
export const PACKAGE_RULES: readonly Rule[] = [
  rule('dependency', 'installs from a foreign place', [
    `--(?:extra-)?index-url|--registry[= ]|\\bregistry *= *["']?https?:|config +set +(?:\\S+:)?registry|pip +config +set|--trusted-host|\\bgoproxy=|gonosum\\w*|goflags=\\S*insecure|--find-links|\\bgit\\+(?:https?|ssh):|${INSTALL}[^\\n]{0,80}?(?:https?:|git\\+|git:|ssh:|file:|github:)`,
    '\\badd-apt-repository|\\bapt-key\\b|--allow-unauthenticated|brew +tap|--ignore-scripts[= ]false|--break-system-packages|\\bunsafe-perm|\\binstall\\b[^\\n.]{0,30}--force\\b',
  ]),
  rule('dependency', 'installs what runs at installation', { unless: /ignore-scripts=true/u }, [
    '["\'](?:pre|post)install["\'] ?:|\\b(?:add|put|write|set|create|insert|use|run|keep|include|allow)\\b[^\\n.]{0,40}\\b(?:pre|post)install\\b',
  ]),
  rule(
    'dependency',
    'installs from a foreign place',
    {
      also: [/\b(?:packages?|dependenc(?:y|ies)|index|mirror|registry|wheel|tarball|fork|lock ?file)\b/u],
      unless: /described|documented|\bdocs\b|\bwiki\b/u,
    },
    [
      `\\b(?:install|use|add|switch|point|prefer|pin|replace|take|pull|get)\\b[^\\n]{0,80}\\b(?:from|to|at|via|with|by|on)\\b[^\\n]{0,30}(?:${HOST})`,
    ],
  ),
];

const POPULAR =
  'react react-dom lodash express axios chalk commander typescript webpack eslint prettier vitest jest mocha moment dayjs uuid dotenv debug request async colors cross-env node-fetch mongoose sequelize prisma next vue svelte angular rxjs redux zod yargs glob rimraf semver body-parser cors jsonwebtoken bcrypt passport socket.io puppeteer playwright cheerio event-stream left-pad minimist electron tailwindcss postcss esbuild rollup vite nodemon ' +
  'requests numpy pandas scipy matplotlib flask django fastapi pydantic pytest sqlalchemy boto3 botocore urllib3 setuptools beautifulsoup4 selenium pillow tensorflow torch scikit-learn cryptography pyyaml click jinja2 redis celery black mypy ruff httpx aiohttp tqdm colorama python-dateutil certifi idna ' +
  'serde tokio anyhow clap reqwest rails sinatra rspec nokogiri devise';
const KNOWN: ReadonlySet<string> = new Set(POPULAR.split(' '));

const NAMED = new RegExp(`\\b${INSTALL}((?: +[^\\s\`"';|&)]+){1,12})`, 'gu');
const SAID =
  /\b(?:install|add|import|use|depend on|require|package|dependency|replace|prefer)\b[^\n`]{0,40}[`"']([@\w./-]{3,40})[`"']/gu;

/** The first package whose name is one slip away from a well-known one. */
export function findMisspelled(text: string): string | undefined {
  for (const pattern of [NAMED, SAID]) {
    for (const { 1: words = '' } of text.matchAll(pattern)) {
      const name = words.trim().split(/ +/).map(bareName).find(isMisspelled);
      if (name !== undefined) return name;
    }
  }
  return undefined;
}

const bareName = (word: string) => word.replace(/(?:[@=<>~!^[]+.*|[.,;:])$/u, '');

function isMisspelled(name: string): boolean {
  if (name.length < 5 || name.length > 24 || KNOWN.has(name)) return false;
  return [...KNOWN].some((known) => known.length > 4 && isOneSlip(known, name));
}

/** One letter more, less or other, or two that changed places. */
function isOneSlip(known: string, name: string): boolean {
  if (Math.abs(known.length - name.length) > 1) return false;
  let at = 0;
  while (at < known.length && known[at] === name[at]) at++;
  const [a, b] = [known.slice(at), name.slice(at)];
  if (a.length !== b.length) return a.length > b.length ? a.slice(1) === b : a === b.slice(1);
  return a.slice(1) === b.slice(1) || (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2));
}

/** Git as somebody else, or past the others. */
export const GIT_RULES: readonly Rule[] = [
  rule('git', 'changes who a commit is from', { unless: /\boriginal\b/u }, [
    'git +config\\b[^\\n]{0,40}\\buser\\.(?:name|email)|--author[ =]|--reset-author|\\bgit_(?:author|committer)_\\w+=|git +commit\\b[^\\n]{0,60}--date|\\bco-authored-by: ?\\S',
    '\\bcommit\\b[^\\n.]{0,40}\\b(?:under (?:the )?(?:name|author)|as (?:another|somebody|someone|the owner|root)|in the name of)',
  ]),
  rule('git', 'changes where a repository goes', [
    'git +remote +(?:add|set-url)|git +push +(?:-\\S+ +)*(?:["\'`]?(?:https?:|git@|ssh:|git:)|--mirror)|\\binsteadof\\b|pushurl|credential\\.helper|git +config\\b[^\\n]{0,40}(?:--global|--system)|git +submodule +add',
    '\\bpush\\b[^\\n.]{0,40}\\b(?:mirror|fork|backup remote|second remote)\\b',
  ]),
  rule('git', 'rewrites what others have', { unless: /\bask\b|--force-with-lease/u }, [
    'git +push\\b[^\\n]{0,60}(?:--force(?!-with-lease|-if)\\b| -f\\b| \\+\\w)|git +tag +(?:-\\w+ +)*-f|--delete +origin|git +push +\\S+ +:\\w|git +reset +--hard +origin[^\\n]{0,60}push',
    '\\bpush(?:es|ing)?\\b[^\\n.]{0,20}\\bwith force\\b|\\bforce[ -]?push\\w*\\b(?! with lease)|\\b(?:move|re-?point|replace|overwrite)\\b (?:the |an? )?(?:\\w+ )?(?:tags?|releases?)\\b|\\brewrite (?:the )?(?:git |commit )?history\\b',
  ]),
  rule('git', 'pushes past review', [
    '\\b(?:push|commit|merge)(?:es|ing)?\\b[^\\n.]{0,30}\\b(?:directly|straight) (?:to|into|on)\\b|\\bgh +pr +merge\\b[^\\n]{0,60}--admin',
    '\\b(?:push|commit|merge|deploy|release|publish)(?:es|ing)?\\b[^\\n.]{0,40}\\bwithout (?:an? |any |the )?(?:pull request|review|pr|ci|tests?|approval|green)\\b',
  ]),
];
