import { z } from 'zod';
import { whyTooMuch } from '../contracts/index.ts';
import { isObject, jsonCandidates, memoize, parseJson } from '../text/index.ts';

export type JsonSchema = { readonly [key: string]: unknown };

/** A JSON schema as a validator. Throws for what would not be checked: an answer must not pass for that reason. */
export function compileSchema(schema: unknown): z.ZodType {
  if (!isObject(schema)) throw new Error(`a JSON schema is an object, got ${JSON.stringify(schema)}`);
  const problem = whyTooMuch(schema);
  if (problem !== undefined) throw new Error(`the schema is ${problem}`);
  return z.fromJSONSchema(prepare(schema) as Parameters<typeof z.fromJSONSchema>[0]);
}

const compiled = memoize(compileSchema, { maxEntries: 200 });

export function whyUnfit(value: unknown, schema: JsonSchema): string | undefined {
  const { error } = compiled(schema).safeParse(value);
  const [issue] = error?.issues ?? [];
  return issue && `${issue.path.length === 0 ? 'it' : issue.path.join('.')}: ${issue.message}`;
}

export function jsonInReply(text: string): { readonly value: unknown } | undefined {
  const values = jsonCandidates(text).map(parseJson);
  const found = values.find((value) => value !== undefined);
  return found === undefined ? undefined : { value: found };
}

const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties'],
  array: 'items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains'.split(' '),
  string: ['minLength', 'maxLength', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  null: [],
};
const TYPED = Object.values(KEYWORDS).flat();

/** The schema in a form that zod checks: zod ignores a keyword without its type. */
function prepare(schema: JsonSchema): JsonSchema {
  refuse(schema);
  const { default: _, ...rest } = schema; // a value that is missing is missing
  const inner = withRequired(prepareInner(rest));
  const typed = Object.keys(inner).filter((key) => TYPED.includes(key));
  return inner.type !== undefined || typed.length === 0 ? inner : forEachType(inner, typed);
}

function refuse(schema: JsonSchema): void {
  const pattern = ['pattern', 'patternProperties'].find((key) => key in schema);
  if (pattern !== undefined) throw new Error(`"${pattern}" is not supported: matching it could take forever`);
  const values = [...(Array.isArray(schema.enum) ? schema.enum : []), ...('const' in schema ? [schema.const] : [])];
  if (values.some((value) => typeof value === 'object' && value !== null)) {
    throw new Error('objects and lists in "enum" or "const" are not supported');
  }
}

const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', '$defs', 'definitions'];
const SINGLE = ['items', 'additionalProperties', 'contains', 'propertyNames', 'additionalItems'];

function prepareInner(schema: JsonSchema): JsonSchema {
  const prepareAny = (value: unknown) => (isObject(value) ? prepare(value) : value);
  const entries = Object.entries(schema).map(([key, value]) => {
    if (LISTS.includes(key) && Array.isArray(value)) return [key, value.map(prepareAny)];
    if (MAPS.includes(key) && isObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, prepareAny(inner)]))];
    }
    return [key, SINGLE.includes(key) ? prepareAny(value) : value];
  });
  return Object.fromEntries(entries);
}

function withRequired(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.required)) return schema;
  const names = schema.required.filter((name) => typeof name === 'string');
  const anything = Object.fromEntries(names.map((name) => [name, {}]));
  return { ...schema, properties: { ...anything, ...(isObject(schema.properties) ? schema.properties : {}) } };
}

/** Without a type, a keyword holds for values of its type only. */
function forEachType(schema: JsonSchema, typed: readonly string[]): JsonSchema {
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !typed.includes(key)));
  const anyOf = Object.entries(KEYWORDS).map(([type, keywords]) => {
    const own = keywords.filter((key) => key in schema).map((key) => [key, schema[key]]);
    return { type, ...Object.fromEntries(own) };
  });
  return Object.keys(rest).length === 0 ? { anyOf } : { ...rest, allOf: [...((rest.allOf as []) ?? []), { anyOf }] };
}
