import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { SkillError, whyTooMuch } from '../core/contracts/index.ts';
import { importModule } from './env/import-module.ts';
import type { ProjectInput } from './project.ts';

export const CONFIG_NAMES = [
  'skillopt.config.yaml',
  'skillopt.config.json',
  'skillopt.config.mjs',
  'skillopt.config.ts',
] as const;

/** The project file of a folder, or `undefined`. Two of them are an error: neither takes precedence. */
export function findConfigFile(directory: string): string | undefined {
  const found = CONFIG_NAMES.filter((name) => existsSync(join(directory, name)));
  if (found.length > 1) {
    throw new SkillError('CONFIG_INVALID', `expected one project file in ${directory}, got ${found.join(' and ')}`, {
      hint: `Delete all but one, or choose with --config ${found[0]}.`,
    });
  }
  return found[0] === undefined ? undefined : resolve(directory, found[0]);
}

type ReadOptions = {
  /** Reads YAML as SkillOpt does: version 1.1, in which yes and on are true. */
  readonly isSkillOpt?: boolean;
};

const readers: Readonly<Record<string, (path: string, options: ReadOptions) => Promise<unknown>>> = {
  '.yaml': readYaml,
  '.yml': readYaml,
  '.json': readJson,
  '.mjs': readModule,
  '.js': readModule,
  '.ts': readModule,
  '.mts': readModule,
};

/** The keys and values of a project file. They are not checked yet: neither by the schema nor for secrets. */
export async function readConfigFile(path: string, options: ReadOptions = {}): Promise<ProjectInput> {
  const read = readers[extname(path)];
  if (!read) throw invalid(path, `expected .yaml, .json, .mjs or .ts, got "${extname(path)}"`);
  if (!existsSync(path)) {
    throw new SkillError('CONFIG_INVALID', `${path} does not exist`, { hint: 'Write one with: skillopt init' });
  }
  const value = (await read(path, options).catch((error: unknown) => Promise.reject(unreadable(path, error)))) ?? {};
  if (typeof value !== 'object') throw invalid(path, `expected keys and values, got ${JSON.stringify(value)}`);
  if (Array.isArray(value)) throw invalid(path, 'expected keys and values, got a list');
  const problem = whyTooMuch(value);
  if (problem !== undefined) throw invalid(path, `expected settings, got ${problem}`);
  return value as ProjectInput;
}

/** As UTF-8; other encodings have NUL characters between the letters. */
async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.includes('\0')) throw new Error('it holds NUL characters: save it as UTF-8 text');
  return text.replace(/^\uFEFF/, '');
}

async function readYaml(path: string, { isSkillOpt = false }: ReadOptions): Promise<unknown> {
  const [{ parse, Parser }, text] = await Promise.all([import('yaml'), readText(path)]);
  // Values are built by recursion, which on a deep text can abort the process. Tokens are not; three make a level.
  for (const token of new Parser().parse(text))
    if (whyTooMuch(token, { maxDepth: 310, maxValues: 1_000_000 }) !== undefined) throw new Error(TOO_DEEP);
  return parse(text, { merge: true, logLevel: 'error', ...(isSkillOpt ? YAML_1_1 : {}) }) as unknown;
}

/** Without numbers to the base of 60 and dates: 2:1:7 is a ratio, and 2024-12-01 is a version. */
const YAML_1_1: import('yaml').ParseOptions & import('yaml').DocumentOptions & import('yaml').SchemaOptions = {
  version: '1.1',
  customTags: (tags) =>
    tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && !tag.tag.endsWith(':timestamp'))),
};

async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${message}${/\bline\b/.test(message) ? '' : lineOf(text, message)}`, { cause: error });
  }
}

/** The engine gives an offset for most errors, but not for all. */
function lineOf(text: string, message: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  return offset === undefined ? '' : ` (line ${text.slice(0, Number(offset)).split('\n').length})`;
}

async function readModule(path: string): Promise<unknown> {
  const module = await importModule(path);
  if (module.default === undefined) throw new Error('it has no default export');
  return module.default;
}

const TOO_DEEP = 'it is nested more than 100 levels deep, or in a circle';

const invalid = (path: string, message: string) =>
  new SkillError('CONFIG_INVALID', `${basename(path)}: ${message}`, {
    hint: 'For a working example: skillopt init DIR',
  });

function unreadable(path: string, cause: unknown): SkillError {
  const words = cause instanceof Error ? cause.message.trim() : String(cause);
  const message = words.replace(/^Excessive alias count.*/, 'it has too many aliases');
  return new SkillError('CONFIG_INVALID', `${basename(path)} cannot be read: ${message}`, {
    cause,
    hint: 'Fix it. For a working example: skillopt init DIR',
  });
}
