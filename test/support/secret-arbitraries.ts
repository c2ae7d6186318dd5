import fc from 'fast-check';

const CHARS = {
  lower: 'abcdefghijklmnopqrstuvwxyz',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  digit: '0123456789',
  hex: '0123456789abcdef',
};
const LETTERS_AND_DIGITS = CHARS.lower + CHARS.upper + CHARS.digit;

const of = (chars: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...chars), minLength: length, maxLength: length });
/** Of letters and digits, with at least one of each kind, as dice nearly always make it. */
const mixed = (length: number, more = '') => of(LETTERS_AND_DIGITS + more, length).map((text) => `a7${text.slice(3)}K`);
const after = (prefix: string, rest: fc.Arbitrary<string>) => rest.map((text) => `${prefix}${text}`);

/** Keys that are known by their form: they may stand anywhere. Put together here, so that no file holds a whole one. */
export const KNOWN_KEYS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  openai: after(['sk', 'proj', ''].join('-'), mixed(48)),
  anthropic: after(['sk', 'ant', 'api03', ''].join('-'), mixed(90)),
  google: after('AI' + 'za', mixed(35)),
  aws: after('AK' + 'IA', of(CHARS.upper + CHARS.digit, 16)),
  github: after('gh' + 'p_', mixed(36)),
  githubFineGrained: after('github' + '_pat_', mixed(60)),
  gitlab: after('gl' + 'pat-', mixed(20)),
  slack: after('xo' + 'xb-', mixed(40)),
  stripe: after('sk' + '_live_', mixed(24)),
  sendgrid: fc.tuple(mixed(22), mixed(43)).map(([one, two]) => ['SG', one, two].join('.')),
  huggingface: after('hf' + '_', mixed(34)),
  npm: after('np' + 'm_', mixed(36)),
  pypi: after('py' + 'pi-', mixed(80)),
  jwt: fc.tuple(mixed(30), mixed(40), mixed(43)).map((parts) => `ey${'J'}${parts[0]}.ey${'J'}${parts[1]}.${parts[2]}`),
  twilio: after('S' + 'K', of(CHARS.hex, 32)),
  digitalOcean: after('do' + 'p_v1_', of(CHARS.hex, 64)),
  vault: after('hv' + 's.', mixed(28)),
};

/** What a person or a generator chooses: only its surroundings tell that it is a password. */
export const PASSWORD = fc
  .tuple(
    of(LETTERS_AND_DIGITS, 5),
    fc.constantFrom('', '-', '.', '!', '#', '%', '&', '+', '~'),
    of(LETTERS_AND_DIGITS, 6),
  )
  .map(([one, sign, two]) => `q${one}${sign}7${two}Z`);

/** Where any secret may stand. */
export const AROUND: Readonly<Record<string, (secret: string) => string>> = {
  alone: (secret) => secret,
  sentence: (secret) => `please use ${secret}, and try again.`,
  quoted: (secret) => `const client = connect("${secret}");`,
  markdown: (secret) => `- the key: \`${secret}\` (staging)`,
  json: (secret) => JSON.stringify({ value: secret, ok: true }),
  jsonTwice: (secret) => JSON.stringify(JSON.stringify({ text: `a\n${secret}\nb` })),
  yaml: (secret) => `services:\n  app:\n    value: ${secret}\n    replicas: 2\n`,
  shell: (secret) => `run --with ${secret} --verbose`,
  url: (secret) => `https://api.acme.example/v1/items?auth=${secret}&page=2`,
  diff: (secret) => `-old\n+${secret}\n unchanged`,
  lineNumber: (secret) => `   12\t${secret}\n   13\tnext`,
  coloured: (secret) => `\x1b[32m${secret}\x1b[0m`,
  xml: (secret) => `<entry id="1">${secret}</entry>`,
  python: (secret) => `client = Client(\n    '${secret}',\n)`,
};

/** Where a password says that it is one. */
export const NAMED: Readonly<Record<string, (secret: string) => string>> = {
  env: (secret) => `DB_PASSWORD=${secret}\nDEBUG=1`,
  exported: (secret) => `export API_TOKEN='${secret}'`,
  json: (secret) => JSON.stringify({ user: 'me', password: secret }),
  jsonTwice: (secret) => JSON.stringify(JSON.stringify({ clientSecret: secret, n: 1 })),
  yaml: (secret) => `db:\n  password: ${secret}\n  port: 5432`,
  yamlQuoted: (secret) => `secret: "${secret}" # of staging`,
  typescript: (secret) => `const apiKey = '${secret}';`,
  python: (secret) => `login(user="me", password="${secret}")`,
  flag: (secret) => `tool login --user me --password ${secret} --yes`,
  flagEquals: (secret) => `tool --api-key=${secret} run`,
  url: (secret) => `postgres://me:${encodeURIComponent(secret)}@db.acme.example:5432/app`,
  connection: (secret) => `Server=db;User Id=sa;Password=${secret};Encrypt=true`,
  header: (secret) => `curl -H "Authorization: Bearer ${secret}" https://api.acme.example`,
  apiKeyHeader: (secret) => `X-Api-Key: ${secret}`,
  xml: (secret) => `<password>${secret}</password>`,
  table: (secret) => `| user | password |\n|---|---|\n| me | ${secret} |`,
  kubernetes: (secret) => `- name: DB_PASSWORD\n  value: ${secret}`,
  sentence: (secret) => `the password is ${secret}`,
  german: (secret) => `Das Passwort lautet ${secret}`,
  properties: (secret) => `spring.datasource.password=${secret}`,
};
