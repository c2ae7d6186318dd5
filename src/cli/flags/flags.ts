import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { unwrap } from '../../core/contracts/index.ts';
import { expectedBy } from '../../core/text/index.ts';
import { kebabCase } from './in-flags.ts';

type Shape = Readonly<Record<string, z.ZodType>>;
type FlagOptions = {
  /** The title in help; default: that of the other options. */
  readonly group?: string;
  /** Placeholders for what a value is, where the type does not say it. */
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly aliases?: Readonly<Record<string, string>>;
};

/** One flag per key of a schema: `batchSize` is `--batch-size <n>`, its help is the key's description. */
export function flagsFrom(
  shape: Shape,
  { group = 'Options:', placeholders = {}, aliases = {} }: FlagOptions = {},
): Option[] {
  const options = Object.entries(shape).flatMap(([key, schema]) => {
    const { inner, fallback } = unwrap(schema);
    if (inner instanceof z.ZodBoolean) return switches(key, schema.description ?? '', fallback === true);
    const alias = aliases[key] === undefined ? '' : `${aliases[key]}, `;
    const placeholder = placeholders[key] ?? placeholderFor(inner);
    const help = `${schema.description ?? ''}${note(inner, fallback)}`.trim();
    const option = new Option(`${alias}--${kebabCase(key)} <${placeholder}>`, help);
    return [option.argParser((text) => readValue(text, schema, inner))];
  });
  return options.map((option) => option.helpGroup(group));
}

function placeholderFor(inner: z.ZodType): string {
  if (inner instanceof z.ZodNumber) return 'n';
  if (inner instanceof z.ZodRecord) return 'json';
  return inner instanceof z.ZodArray ? 'a,b,…' : 'text';
}

/** Both ways, since a file may have said the contrary; help shows the one that changes the default. */
function switches(key: string, help: string, isOn: boolean): Option[] {
  const on = new Option(`--${kebabCase(key)}`, help);
  const off = new Option(`--no-${kebabCase(key)}`, `Turns off: ${help}`);
  return isOn ? [on.hideHelp(), off] : [on, off.hideHelp()];
}

/** ` (hard, soft, mixed; default: hard)` */
function note(inner: z.ZodType, fallback: unknown): string {
  const choices = inner instanceof z.ZodEnum ? [inner.options.join(', ')] : [];
  const notes = [...choices, ...(isNothing(fallback) ? [] : [`default: ${fallback}`])];
  return notes.length > 0 ? ` (${notes.join('; ')})` : '';
}

/** No default, or an empty list or object. */
const isNothing = (fallback: unknown) =>
  fallback === undefined || (typeof fallback === 'object' && Object.keys(fallback ?? {}).length === 0);

/** Checked here too, so that the message names the flag and not the key. */
function readValue(text: string, schema: z.ZodType, inner: z.ZodType): unknown {
  const value = toValue(text, inner);
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected a number.');
  const result = schema.safeParse(value);
  if (result.success) return value;
  const expected = result.error.issues.map(expectedBy).join('; ');
  throw new InvalidArgumentError(`${expected.replace(/^expected/, 'Expected')}.`);
}

function toValue(text: string, inner: z.ZodType): unknown {
  if (inner instanceof z.ZodNumber && text.trim() !== '') return Number(text);
  if (inner instanceof z.ZodRecord) return parseJson(text);
  return inner instanceof z.ZodArray ? text.split(',').map((part) => part.trim()) : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Expected JSON.');
  }
}

export function setOption(): Option {
  return new Option('--set <key=value>', "a setting in SkillOpt's words, such as train.batch_size=20; again for more")
    .default([], 'none')
    .argParser((text: string, before: readonly string[]) => [...before, text]);
}

export const formatOption = (forms: readonly string[]): Option =>
  new Option('--format <form>', 'format of the answer').choices(forms).default('text');

const numberReader = (what: string, isGood: (number: number) => boolean) => (text: string) => {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (isGood(number)) return number;
  throw new InvalidArgumentError(`Expected ${what}.`);
};

export const positiveNumber = numberReader('a number above 0', (n) => n > 0 && Number.isFinite(n));
export const readCount = numberReader(
  'a whole number from 1 to 9007199254740991',
  (n) => Number.isSafeInteger(n) && n >= 1,
);
/** One pass says nothing about noise. */
export const readPasses = numberReader('a whole number, 2 or more', (n) => Number.isInteger(n) && n >= 2);
/** A number from 1 that counts things, such as nights. */
export const readOrdinal =
  (what: string) =>
  (text: string): number => {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Expected ${what}.`);
  };
export const readShare = numberReader('a number from 0 to 1, such as 0.8', (n) => n >= 0 && n <= 1);

export const configOption = (): Option =>
  new Option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)');
export const jsonOption = (): Option => new Option('--json', 'one JSON object on stdout');
export const quietOption = (): Option => new Option('--quiet', 'no progress, only warnings and the result');
export const rootOption = (): Option => new Option('--root <dir>', 'folder of runs').default('runs');
