import type { RunIdentity } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';

/** What has changed since a run began, in words: what is known by a hash alone can only be said to be another. */
export function describeChanges(keys: readonly string[], before: RunIdentity, now: RunIdentity): string[] {
  const splits = keys.filter((key) => key.startsWith(ITEMS)).map((key) => key.slice(ITEMS.length));
  const tasks = `the tasks have changed (${splits.join(', ')}): their text, their files, or how they are divided`;
  const others = keys.filter((key) => !key.startsWith(ITEMS));
  return [
    ...(splits.length > 0 ? [tasks] : []),
    ...others.flatMap((key) => describeChange(key, [before[key], now[key]])),
  ];
}

const ITEMS = 'items of ';

type Sides = readonly [before: unknown, now: unknown];

function describeChange(key: string, sides: Sides): string[] {
  if (key === 'initial skill') return ['the text of the skill has changed'];
  if (key === 'env') return describeEnv(sides.map(String));
  return [isHash(sides) ? `${key} has changed` : wasAndIs(key, sides)];
}

/** By a hash on both sides, or on one and nothing on the other. */
const isHash = (sides: Sides) =>
  sides.every((side) => side === undefined || (typeof side === 'string' && /^[0-9a-f]{16,64}$/.test(side)));

const wasAndIs = (what: string, [before, now]: Sides) =>
  `${what}: was ${before ?? '(nothing)'}, is ${now ?? '(nothing)'}`;

/** Parts of an environment's version that are known by a hash, and what they are. */
const HASHED: Readonly<Record<string, string>> = {
  'files beside the skill': 'the files beside the skill',
  'skill files': 'the files that the skill refers to',
  neighbours: 'the neighbours',
};

const PART_NAMES = [...Object.keys(HASHED), 'rubric', 'limits'].join('|');

/** Its version has parts, each a name and what it is: `workspace 2 in bubblewrap, files beside the skill 0f3a…, limits {…}`. */
function describeEnv(versions: readonly string[]): string[] {
  const [before, now] = versions.map(partsOf) as [Parts, Parts];
  const names = [...new Set([...before.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    const sides = [before.get(name), now.get(name)] as const;
    if (sides[0] === sides[1]) return [];
    if (name === 'limits') return describeLimits(sides);
    return [isHash(sides) ? `${HASHED[name] ?? name} have changed` : wasAndIs(name, sides)];
  });
}

type Parts = ReadonlyMap<string, string>;

function partsOf(version: string): Parts {
  const parts = version.split(new RegExp(`,? (?=(?:${PART_NAMES}) )`));
  return new Map(
    parts.map((part) => {
      const [, name, value] = new RegExp(`^(${PART_NAMES}) (.*)$`).exec(part) ?? [];
      if (name !== undefined) return [name, value!];
      const [, env, hash] = /^(.*)@([0-9a-f]{16})$/.exec(part) ?? []; // a module's version is that of its text
      return hash === undefined ? ['env', part] : [`the lines of the environment ${env}`, hash];
    }),
  );
}

function describeLimits(sides: Sides): string[] {
  const [before, now] = sides.map((side) => (parseJson(String(side)) ?? {}) as Readonly<Record<string, unknown>>);
  const keys = [...new Set([...Object.keys(before!), ...Object.keys(now!)])];
  return keys.flatMap((key) =>
    before![key] === now![key] ? [] : [wasAndIs(`limits.${key}`, [before![key], now![key]])],
  );
}
