import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readSmallText } from '../../stores/index.ts';

type Variables = Readonly<Record<string, string>>;

/** The variables in the file `.env` of a folder; none when there is no such file. */
export async function readEnvFile(directory: string): Promise<Variables> {
  const path = join(directory, '.env');
  try {
    return parseEnvFile(await readSmallText(path));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return {}; // a folder .env is someone's virtual environment
    throw new SkillError('CONFIG_INVALID', `${path} cannot be read: ${message}`, { cause });
  }
}

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/;

/** A `KEY=value` per line, with quotes, `export` and comments. Other lines are skipped. The last value of a key counts. */
function parseEnvFile(text: string): Variables {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const found = lines.map((line) => ASSIGNMENT.exec(line)).filter((match) => match !== null);
  return Object.fromEntries(found.map(([, name, value]) => [name, unquote(value ?? '')]));
}

/** A `#` starts a comment after a blank, or after the closing quote. */
function unquote(value: string): string {
  const [, quote, quoted = ''] = /^(["'])(.*?)(?<!\\)\1\s*(?:#.*)?$/.exec(value) ?? [];
  if (quote === "'") return quoted;
  if (quote === '"') return quoted.replace(/\\(["\\n])/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  return value.replace(/(^|(?<!\s)\s+)#.*$/, '');
}
