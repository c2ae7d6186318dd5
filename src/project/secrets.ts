import { SkillError } from '../core/contracts/index.ts';
import { holdsKnownKey } from '../core/guard/index.ts';
import { placeIn } from './origin.ts';

/** Throws if a project file holds a secret. The message never has the value, since messages end up in logs. */
export async function refuseSecrets(value: unknown, file: string): Promise<void> {
  const found = findEntry(value, problemOf);
  if (found === undefined) return;
  const { path, finding } = found;
  const prefixes = path.map((_, index) => path.slice(0, path.length - index)); // entries of a list have no line of their own
  const message = `${await placeIn(file, prefixes)}: ${path.join('.')} ${finding.what}`;
  throw new SkillError('CONFIG_INVALID', message, { hint: finding.hint });
}

function problemOf(key: string, entry: unknown) {
  if (SECRET_KEY.test(key) && holdsValue(entry)) return SECRET;
  if (key === 'apiKeyEnv' && !(typeof entry === 'string' && VARIABLE_NAME.test(entry))) return NO_VARIABLE;
  if (typeof entry !== 'string') return undefined;
  if (hasKeyInUrl(entry)) return IN_ADDRESS;
  return holdsKnownKey(entry) ? KNOWN : undefined;
}

const SECRET_KEY =
  /^(.*api[-_]?key|.*secret|.*password|((access|auth|bearer|refresh)[-_]?)?token|authorization|headers)$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const SECRET = {
  what: 'looks like a secret, and this file must not hold secrets',
  hint: 'Put the key into an environment variable and name the variable: apiKeyEnv: MY_API_KEY',
};

const IN_ADDRESS = {
  what: 'looks like a secret, since its address has one in it, and this file must not hold secrets',
  hint: 'Take the user, the password or the key out of the address. Name the variable of the key beside it: apiKeyEnv: MY_API_KEY',
};

const KNOWN = {
  what: 'looks like a secret, since it has the form of a key, and this file must not hold secrets',
  hint: 'Take it out, and if anybody else has seen the file, revoke the key. For a model, name the variable of the key: apiKeyEnv: MY_API_KEY. For code of your own, read the variable there: process.env.MY_API_KEY',
};

const NO_VARIABLE = {
  what: 'must be the name of an environment variable',
  hint: 'For example apiKeyEnv: MY_API_KEY, and in the shell: export MY_API_KEY=…',
};

/** A number, such as a token limit, is not a secret. */
const holdsValue = (entry: unknown) =>
  (typeof entry === 'string' && entry !== '') || (typeof entry === 'object' && entry !== null);

/** A user, or a query with a secret by its name. Other schemes than HTTP may have a user, as in ssh://git@host. */
const hasKeyInUrl = (text: string): boolean =>
  /https?:\/\/[^/\s@]+@|[a-z]:\/\/[^/\s:@]*:[^/\s@${<]+@/i.test(text) ||
  (/:\/\//.test(text) &&
    [...text.matchAll(/[?&]([\w.-]+)=(?![${<])[^&#\s]/g)].some(([, name]) => SECRET_KEY.test(name!)));

/** The variable for each key's secret, by the name of the key. */
type VariableNames = ReadonlyMap<string, string>;

/** The same for a SkillOpt config, where `${NAME}` may stand for a secret. The hint names the variable. */
export async function refuseNamedSecrets(value: unknown, file: string, variables: VariableNames): Promise<void> {
  const found = findEntry(value, (key, entry) => variableFor(key, entry, variables));
  if (found === undefined) return;
  throw secretIn(`${await placeIn(file, [found.path])}: ${found.path.join('.')}`, found.finding);
}

export function refuseNamedSecret(name: string, value: unknown, variables: VariableNames): void {
  const variable = variableFor(name.split('.').at(-1)!, value, variables);
  if (variable !== undefined) throw secretIn(`--set: ${name}`, variable);
}

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^sk-ant-[\w-]{8,}$/, 'ANTHROPIC_API_KEY'],
  [/^sk-[\w-]{8,}$/, 'OPENAI_API_KEY'],
  [/^AIza[\w-]{20,}$/, 'GEMINI_API_KEY'],
  [/^gh[pousr]_\w{20,}$/, 'GITHUB_TOKEN'],
  [/^(Bearer )?eyJ[\w-]+\.[\w-]+\.[\w-]*$/, 'API_TOKEN'],
  [/^Bearer \S{8,}$/, 'API_TOKEN'],
];

function variableFor(key: string, value: unknown, variables: VariableNames): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || variableIn(value) !== undefined) return undefined;
  const shape = SHAPES.find(([pattern]) => pattern.test(value.trim()))?.[1];
  if (!SECRET_KEY.test(key) && shape === undefined && !hasKeyInUrl(value) && !holdsKnownKey(value)) return undefined;
  return variables.get(key) ?? shape ?? key.toUpperCase().replace(/\W+/g, '_');
}

export function variableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\$\{([A-Za-z_]\w*)\}$/.exec(value.trim())?.[1] : undefined;
}

const secretIn = (where: string, variable: string) =>
  new SkillError('CONFIG_INVALID', `${where} looks like a secret, and a config must not hold secrets`, {
    hint: `Remove it. In the shell: export ${variable}=… If the key is not found then, write \${${variable}} in its place.`,
  });

function findEntry<Finding>(
  value: unknown,
  look: (key: string, entry: unknown) => Finding | undefined,
  path: readonly string[] = [],
): { readonly path: readonly string[]; readonly finding: Finding } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    const here = [...path, key];
    const finding = look(key, entry);
    const seen = finding === undefined ? findEntry(entry, look, here) : { path: here, finding };
    if (seen !== undefined) return seen;
  }
  return undefined;
}
