import { existsSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';
import { SkillError, whyTooMuch } from '../core/contracts/index.ts';
import { readSmallText } from '../stores/index.ts';
import { importModule } from './env/import-module.ts';
import type { ProjectInput } from './project.ts';

export const CONFIG_NAMES = [
  'skillopt.config.yaml',
  'skillopt.config.json',
  'skillopt.config.mjs',
  'skillopt.config.ts',
] as const;

/** The project file of a folder, or `undefined`. Several are an error. */
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
  /** SkillOpt reads YAML of version 1.1, in which yes and on are true. */
  readonly isSkillOpt?: boolean;
  /** Refuses a file that is code: nobody has asked for it to be run. */
  readonly isDataOnly?: boolean | undefined;
};

function readerOf(extension: string): ((path: string, options: ReadOptions) => Promise<unknown>) | undefined {
  if (/^\.ya?ml$/.test(extension)) return readYaml;
  if (extension === '.json') return readJson;
  return /^\.(mjs|js|ts|mts)$/.test(extension) ? readModule : undefined;
}

/** The keys and values of a project file, not yet checked by the schema or for secrets. */
export async function readConfigFile(path: string, options: ReadOptions = {}): Promise<ProjectInput> {
  const read = readerOf(extname(path));
  if (options.isDataOnly && read === readModule) {
    const hint = 'Write it as skillopt.config.yaml, or type the command in a terminal.';
    throw new SkillError('CONFIG_INVALID', `${path} is code, and code of a project is not run here`, { hint });
  }
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

/** Other encodings than UTF-8 have NUL characters between the letters. */
async function readText(path: string): Promise<string> {
  const text = await readSmallText(path);
  if (text.includes('\0')) throw new Error('it holds NUL characters: save it as UTF-8 text');
  return text.replace(/^\uFEFF/, '');
}

async function readYaml(path: string, { isSkillOpt = false }: ReadOptions): Promise<unknown> {
  const { Parser, parse } = await import('yaml'); // commands that read no project do not load it
  const text = await readText(path);
  // Building values recurses, and a deep text can abort the process. Tokens are safe, and three of them make a level.
  for (const token of new Parser().parse(text))
    if (whyTooMuch(token, { maxDepth: 310, maxValues: 1_000_000 }) !== undefined) throw new Error(TOO_DEEP);
  return parse(text, { merge: true, logLevel: 'error', ...(isSkillOpt ? YAML_1_1 : {}) }) as unknown;
}

/** Without base-60 numbers and dates: 2:1:7 is a ratio, and 2024-12-01 is a version. */
const YAML_1_1: ParseOptions & DocumentOptions & SchemaOptions = {
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
    const offset = /\bline\b/.test(message) ? undefined : /at position (\d+)/.exec(message)?.[1];
    const line = offset === undefined ? '' : ` (line ${text.slice(0, Number(offset)).split('\n').length})`;
    throw new Error(`${message}${line}`, { cause: error });
  }
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
