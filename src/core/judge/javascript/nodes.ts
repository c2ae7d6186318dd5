import { searchPattern } from '../regex/python-regex.ts';

export type Scope = { readonly values: ReadonlyMap<string, unknown>; spend(steps: number): void };
export type Node = { readonly run: (scope: Scope) => unknown; readonly isYesOrNo?: boolean };
/** What an engine would throw, too: the check fails, also one that is negated. */
export class Threw extends Error {}
export class TooMuch extends Error {}
export class Pattern {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

const TEXT_METHODS =
  'includes startsWith endsWith indexOf lastIndexOf toLowerCase toUpperCase trim trimStart trimEnd slice substring charAt at'.split(
    ' ',
  );
const LIST_METHODS = ['includes', 'indexOf', 'lastIndexOf', 'slice', 'at'];
const WALKS = ['some', 'every', 'filter', 'map'];
export const METHODS = [...TEXT_METHODS, ...LIST_METHODS, ...WALKS, 'test', 'split', 'match'];
const COMPARE: Readonly<Record<string, (a: never, b: never) => boolean>> = {
  '===': (a, b) => a === b,
  '!==': (a, b) => a !== b,
  // biome-ignore lint/suspicious/noDoubleEquals: it is what the code says
  '==': (a, b) => a == b,
  // biome-ignore lint/suspicious/noDoubleEquals: it is what the code says
  '!=': (a, b) => a != b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
};
const COUNT: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};
export const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['===', '!==', '==', '!='],
  ['<=', '>=', '<', '>'],
  ['+', '-'],
  ['*', '/', '%'],
];
export const FUNCTIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  'JSON.parse': parseStrictly,
  'Object.keys': (value) => (value == null ? toThrow() : Object.keys(value)),
  'Array.isArray': (value) => Array.isArray(value),
  'Math.abs': (value) => Math.abs(numberOf(value)),
  'Math.round': (value) => Math.round(numberOf(value)),
  'Math.floor': (value) => Math.floor(numberOf(value)),
  'Math.ceil': (value) => Math.ceil(numberOf(value)),
  Boolean: (value) => Boolean(value),
  Number: (value) => numberOf(value),
  parseInt: (value) => Number.parseInt(String(plain(value)), 10),
  parseFloat: (value) => Number.parseFloat(String(plain(value))),
};
export const YES_OR_NO = ['includes', 'startsWith', 'endsWith', 'test', 'some', 'every', 'Array.isArray', 'Boolean'];
export const SPACES: Readonly<Record<string, RegExp>> = {
  '/\\s+/': /\s+/,
  '/\\s/': /\s/,
  '/\\n/': /\n/,
  '/\\n+/': /\n+/,
  '/\\r?\\n/': /\r?\n/,
};

function toThrow(): never {
  throw new Threw();
}
function parseStrictly(value: unknown): unknown {
  try {
    return JSON.parse(String(plain(value)));
  } catch {
    return toThrow();
  }
}
/** Objects in sums and numbers become texts by rules that nobody means. */
const plain = (value: unknown) => (typeof value === 'object' && value !== null ? toThrow() : value);
export const numberOf = (value: unknown) => Number(plain(value));

export const constant = (value: unknown): Node => ({ run: () => value });
export const listOf = (nodes: readonly Node[]): Node => ({ run: (scope) => nodes.map((node) => node.run(scope)) });

/** A value, paid for by its length. */
export function spent<Value>({ spend }: Scope, value: Value): Value {
  spend(typeof value === 'string' || Array.isArray(value) ? value.length : 0);
  return value;
}

export function joined(sign: string, left: Node, right: Node): Node {
  if (sign === '&&' || sign === '||') {
    const isYesOrNo = left.isYesOrNo === true && right.isYesOrNo === true;
    if (sign === '&&') return { isYesOrNo, run: (scope) => left.run(scope) && right.run(scope) };
    return { isYesOrNo, run: (scope) => left.run(scope) || right.run(scope) };
  }
  const compare = COMPARE[sign];
  if (compare) return { isYesOrNo: true, run: (scope) => compare(left.run(scope) as never, right.run(scope) as never) };
  return {
    run(scope) {
      const [a, b] = [plain(left.run(scope)), plain(right.run(scope))];
      return spent(scope, COUNT[sign]!(a as number, b as number));
    },
  };
}

export function property(of: Node, key: Node, isOptional: boolean): Node {
  return {
    run(scope) {
      const [target, name] = [of.run(scope), String(plain(key.run(scope)))];
      if (target == null) return isOptional ? undefined : toThrow();
      if (typeof target === 'string') return name === 'length' ? target.length : target[Number(name)];
      return Object.hasOwn(target, name) ? (target as Record<string, unknown>)[name] : undefined;
    },
  };
}

type Callback = (value: unknown) => unknown;

export function callMethod(name: string, target: unknown, given: readonly unknown[], scope: Scope): unknown {
  const [first] = given;
  if (name === 'test') return target instanceof Pattern ? search(target, String(first)) : toThrow();
  if (WALKS.includes(name)) {
    if (!Array.isArray(target) || typeof first !== 'function') return toThrow();
    const walk = (value: unknown) => spent(scope, (first as Callback)(value));
    return (target as unknown as Record<string, (walk: Callback) => unknown>)[name]!(walk);
  }
  if (Array.isArray(target)) return LIST_METHODS.includes(name) ? call(target, name, given) : toThrow();
  if (typeof target !== 'string') return toThrow();
  if (name === 'match') return first instanceof Pattern && search(first, target) ? [] : null;
  if (name === 'split') {
    const by = first instanceof Pattern ? (first as Pattern & { split?: RegExp }).split : first;
    return by === undefined && first !== undefined ? toThrow() : target.split(by as string);
  }
  return TEXT_METHODS.includes(name) && !given.some((one) => one instanceof Pattern)
    ? call(target, name, given)
    : toThrow();
}

const call = (target: object | string, name: string, given: readonly unknown[]) =>
  (target as Record<string, (...given: unknown[]) => unknown>)[name]!(...given);

function search({ source }: Pattern, text: string): boolean {
  const found = searchPattern(source, text);
  if (found === undefined) throw new TooMuch();
  return found;
}
