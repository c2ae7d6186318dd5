import { z } from 'zod';
import { configShape, innerType } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { projectKeys } from '../project.ts';
import { castText, SWITCH_WORDS, type Words } from './value-aliases.ts';

/** A value that a key cannot have. Whoever knows the files says in which line it stands. */
export class BadValue extends Error {
  /** `section.key`, as the file has it. */
  readonly key: string;
  readonly hint: string;

  constructor(key: string, message: string, hint: string) {
    super(message);
    this.key = key;
    this.hint = hint;
  }
}

/** Our word for one of theirs. */
export function readWord(key: string, words: Words, value: unknown): string {
  const word = plainWord(value);
  if (Object.hasOwn(words, word)) return words[word]!;
  const names = Object.keys(words);
  const message = `expected one of ${names.join(', ')}, got ${JSON.stringify(value)}${suggestion(word, names)}`;
  throw new BadValue(key, message, `Here they mean ${[...new Set(Object.values(words))].join(', ')}.`);
}

export function readNumber(key: string, value: unknown): number {
  const number = asNumber(value);
  if (typeof number === 'number') return number;
  throw new BadValue(key, `expected a number, got ${JSON.stringify(value)}`, 'Write a number, or leave the key out.');
}

/** For a key of ours, by its type: files also write numbers and switches as text. What fits no type the schema refuses. */
export function readFor(to: string, value: unknown): unknown {
  const type = types.get(to);
  if (type instanceof z.ZodNumber) return asNumber(value);
  if (type instanceof z.ZodBoolean) return SWITCH_WORDS[plainWord(value)] ?? value;
  if (type instanceof z.ZodEnum) return type.options.includes(plainWord(value)) ? plainWord(value) : value;
  return type instanceof z.ZodString && typeof value === 'number' ? String(value) : value;
}

const types = new Map(
  Object.entries({ ...configShape, ...projectKeys }).map(([key, schema]) => [key, innerType(schema)]),
);

/** Case, spaces around and `-` for `_` do not count. */
export const plainWord = (value: unknown): string => String(value).trim().toLowerCase().replaceAll('-', '_');

const asNumber = (value: unknown): unknown => (typeof value === 'string' ? castText(value.trim()) : value);
