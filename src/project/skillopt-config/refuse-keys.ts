import { SkillError } from '../../core/contracts/index.ts';
import { placeIn } from '../origin.ts';
import { findEntry, hasUserInUrl, isSecretKey } from '../secrets.ts';
import { KEY_TABLE } from './key-table.ts';

const variables = new Map(KEY_TABLE.flatMap(({ key, variable }) => (variable === undefined ? [] : [[key, variable]])));

/** How keys of well-known services begin, and the variable that each usually has. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^sk-ant-[\w-]{8,}$/, 'ANTHROPIC_API_KEY'],
  [/^sk-[\w-]{8,}$/, 'OPENAI_API_KEY'],
  [/^AIza[\w-]{20,}$/, 'GEMINI_API_KEY'],
  [/^gh[pousr]_\w{20,}$/, 'GITHUB_TOKEN'],
  [/^(Bearer )?eyJ[\w-]+\.[\w-]+\.[\w-]*$/, 'API_TOKEN'],
  [/^Bearer \S{8,}$/, 'API_TOKEN'],
];

const VARIABLE = /^\$\{([A-Za-z_]\w*)\}$/;

/** The variable that `${NAME}` stands for. */
export function variableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? VARIABLE.exec(value.trim())?.[1] : undefined;
}

/** Throws when a file holds a secret, and names the variable for it. Never repeats the value. */
export async function refuseKeys(value: unknown, file: string): Promise<void> {
  const secret = findEntry(value, variableFor);
  if (secret === undefined) return;
  throw secretIn(`${await placeIn(file, [secret.path])}: ${secret.path.join('.')}`, secret.found);
}

/** The same for what `--set` says. */
export function refuseKey(name: string, value: unknown): void {
  const variable = variableFor(name.split('.').at(-1)!, value);
  if (variable !== undefined) throw secretIn(`--set: ${name}`, variable);
}

function variableFor(key: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || variableIn(value) !== undefined) return undefined;
  const shape = SHAPES.find(([pattern]) => pattern.test(value.trim()))?.[1];
  if (isSecretKey(key) || shape !== undefined || hasUserInUrl(value)) {
    return variables.get(key) ?? shape ?? key.toUpperCase().replace(/\W+/g, '_');
  }
  return undefined;
}

const secretIn = (where: string, variable: string) =>
  new SkillError('CONFIG_INVALID', `${where} looks like a secret, and secrets do not belong in a config`, {
    hint: `Take it out. In the shell: export ${variable}=… A key that is not found by itself is named as \${${variable}}.`,
  });
