import type { JSONSchema7 } from '@ai-sdk/provider';
import { z } from 'zod';
import { toCamelCase, toSnakeCase } from '../../core/text/index.ts';

/** What shape is made of. */
const SHAPE = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf'];

/** Left out of what is sent, since providers disagree on them. The reader of the reply checks them all the same. */
const CHECKS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const TEXT_CHECKS = ['minLength', 'maxLength', 'pattern', 'format', 'minItems', 'maxItems'];

const KEYWORDS = new Set([...SHAPE, ...CHECKS, ...TEXT_CHECKS, 'description', 'title', 'default', '$schema']);

const known = new WeakMap<z.ZodType, JSONSchema7 | undefined>();

/**
 * The JSON Schema of what a model should write for `schema`, for providers that hold it to one: every property is
 * there, none is added, and names are in snake_case as in the prompts. Undefined when that cannot be said: open
 * objects, unions other than with null, properties that may be absent but not null.
 */
export function strictSchema(schema: z.ZodType): JSONSchema7 | undefined {
  if (!known.has(schema)) known.set(schema, convert(schema));
  return known.get(schema);
}

function convert(schema: z.ZodType): JSONSchema7 | undefined {
  try {
    const root = toStrict(z.toJSONSchema(schema, { io: 'input' }) as JSONSchema7);
    return root.type === 'object' ? root : undefined;
  } catch {
    return undefined; // refused below, or by zod: a date, a function
  }
}

function toStrict(node: JSONSchema7): JSONSchema7 {
  insist(Object.keys(node).every((keyword) => KEYWORDS.has(keyword)));
  const { type, enum: values, const: value, description } = node;
  insist(type !== undefined || node.anyOf !== undefined || values !== undefined || value !== undefined);
  return {
    ...(type === undefined ? {} : { type: singleType(type) }),
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: values }),
    ...(value === undefined ? {} : { const: value }),
    ...(node.anyOf === undefined ? {} : { anyOf: orNull(node.anyOf as JSONSchema7[]) }),
    ...(type === 'array' ? { items: toStrict(node.items as JSONSchema7) } : {}),
    ...(type === 'object' ? toClosedObject(node) : {}),
  };
}

/** One type, or one and null. */
function singleType(type: NonNullable<JSONSchema7['type']>): NonNullable<JSONSchema7['type']> {
  insist([type].flat().filter((name) => name !== 'null').length <= 1);
  return type;
}

function orNull(branches: readonly JSONSchema7[]): JSONSchema7[] {
  insist(branches.filter(({ type }) => type !== 'null').length === 1);
  return branches.map(toStrict);
}

function toClosedObject({ properties = {}, required = [], additionalProperties = false }: JSONSchema7): JSONSchema7 {
  insist(additionalProperties === false);
  const entries = Object.entries(properties).map(([key, property]) => {
    const strict = toStrict(property as JSONSchema7);
    insist(required.includes(key) || allowsNull(strict));
    return [wireName(key), strict] as const;
  });
  const names = entries.map(([name]) => name);
  return { properties: Object.fromEntries(entries), required: names, additionalProperties: false };
}

function allowsNull({ type = [], anyOf = [] }: JSONSchema7): boolean {
  return [type].flat().includes('null') || (anyOf as JSONSchema7[]).some(allowsNull);
}

/** A name that the way back would spell otherwise cannot be sent. */
function wireName(key: string): string {
  const [name = key] = Object.keys(toSnakeCase({ [key]: null }) as object);
  insist(Object.keys(toCamelCase({ [name]: null }) as object)[0] === key);
  return name;
}

function insist(isExpressible: boolean): void {
  if (!isExpressible) throw new Error('not expressible');
}
