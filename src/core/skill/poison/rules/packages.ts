import { finds, type Rule } from '../rule.ts';
import { HOST } from './words.ts';

const INSTALL =
  '(?:npm +(?:i|install|add)|pnpm +(?:add|i|install)|yarn +add|bun +add|pip[\\dx]? +install|uv +(?:add|pip +install)|poetry +add|pipx +install|cargo +(?:add|install)|gem +install|go +(?:get|install)|composer +require|brew +(?:tap|install)|apt(?:-get)? +install|easy_install|conda +install|npx|uvx|bunx)';

/** Packages from elsewhere, and what runs when they are installed. */
export const PACKAGE_RULES: readonly Rule[] = [
  {
    kind: 'dependency',
    reason: 'installs from a foreign place',
    find: finds(
      `--(?:extra-)?index-url|--registry[= ]|\\bregistry *= *["']?https?:|config +set +(?:\\S+:)?registry|pip +config +set|--trusted-host|\\bgoproxy=|gonosum\\w*|goflags=\\S*insecure|--find-links|\\bgit\\+(?:https?|ssh):|${INSTALL}[^\\n]{0,80}?(?:https?:|git\\+|git:|ssh:|file:|github:)`,
      '\\badd-apt-repository|\\bapt-key\\b|--allow-unauthenticated|brew +tap|--ignore-scripts[= ]false|--break-system-packages|\\bunsafe-perm|\\binstall\\b[^\\n.]{0,30}--force\\b',
    ),
  },
  {
    kind: 'dependency',
    reason: 'installs what runs at installation',
    find: finds(
      '["\'](?:pre|post)install["\'] ?:|\\b(?:add|put|write|set|create|insert|use|run|keep|include|allow)\\b[^\\n.]{0,40}\\b(?:pre|post)install\\b',
    ),
    unless: /ignore-scripts=true/u,
  },
  {
    kind: 'dependency',
    reason: 'installs from a foreign place',
    find: finds(
      `\\b(?:install|use|add|switch|point|prefer|pin|replace|take|pull|get)\\b[^\\n]{0,80}\\b(?:from|to|at|via|with|by|on)\\b[^\\n]{0,30}(?:${HOST})`,
    ),
    also: [/\b(?:packages?|dependenc(?:y|ies)|index|mirror|registry|wheel|tarball|fork|lock ?file)\b/u],
    unless: /described|documented|\bdocs\b|\bwiki\b/u,
  },
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
