import type { z } from 'zod';
import type { ChecksJudge } from '../../../core/judge/index.ts';
import { isObject } from '../../../core/text/index.ts';
import { NotCarried, toCheck, type Assertion as Written } from '../../../envs/index.ts';
import type { Assertion } from '../../workspace/assertion.ts';

type ChatCheck = z.input<typeof ChecksJudge>['checks'][number];

/** A check about an answer, or about what an agent did besides. */
export type WorkCheck = {
  readonly type: string;
  readonly value?: unknown;
  readonly not?: boolean | undefined;
  readonly weight?: number | undefined;
  readonly threshold?: number | undefined;
  readonly checks?: readonly WorkCheck[];
};

/** What a check comes to for an agent. */
export type Statement = { readonly assertion: Assertion } | { readonly rubric: string };

/** How checks are read here: as for a chat, and two that need what an agent did. */
export const carryForWork = {
  check(written: Written): WorkCheck {
    const { type, value, threshold, weight } = written;
    const name = String(type).replace(/^not-/, '');
    if (name !== 'skill-used' && name !== 'cost') return toCheck(written) as ChatCheck as WorkCheck;
    const own = { type: name, value: name === 'cost' ? threshold : value };
    return { ...own, not: name !== type, ...(typeof weight === 'number' ? { weight } : {}) };
  },
  set: (set: object): WorkCheck => set as WorkCheck,
};

/** Throws `NotCarried` for what no assertion says. */
export function statementsOf(check: WorkCheck): readonly Statement[] {
  if (check.type !== 'set') {
    const made = Object.hasOwn(MAKERS, check.type) ? MAKERS[check.type]!(check) : undefined;
    if (made === undefined) throw new NotCarried('there is no assertion about an agent that says it');
    return made;
  }
  if (check.threshold !== undefined) throw new NotCarried('a part of its checks is enough, and here all must hold');
  return (check.checks ?? []).flatMap(statementsOf);
}

const said = (assertion: Assertion): readonly Statement[] => [{ assertion }];
const escaped = (text: unknown) => String(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const anyOf = (texts: unknown) => `(?:${(texts as unknown[]).map(escaped).join('|')})`;

const matching = (pattern: string, { not }: WorkCheck) =>
  said({ type: not ? 'output_not_matches' : 'output_matches', value: pattern });
const holding = (value: unknown, { not }: WorkCheck) =>
  said({ type: not ? 'output_not_contains' : 'output_contains', value: String(value) });

/** Each of several, which cannot be turned round: one that is missing is enough. */
function each(check: WorkCheck, one: (value: unknown, check: WorkCheck) => readonly Statement[]) {
  const texts = check.value as unknown[];
  if (check.not && texts.length > 1) throw new NotCarried('that not all of several are there is no assertion');
  return texts.flatMap((text) => one(text, check));
}

const MAKERS: Readonly<Record<string, (check: WorkCheck) => readonly Statement[]>> = {
  contains: (check) => matching(escaped(check.value), check),
  icontains: (check) => holding(check.value, check),
  'contains-any': (check) => matching(anyOf(check.value), check),
  'icontains-any': (check) => matching(`(?i)${anyOf(check.value)}`, check),
  'contains-all': (check) => each(check, (text) => matching(escaped(text), check)),
  'icontains-all': (check) => each(check, holding),
  'starts-with': (check) => matching(`\\A${escaped(check.value)}`, check),
  regex: (check) => matching(String(check.value), check),
  equals(check) {
    if (typeof check.value === 'object') throw new NotCarried('last words are text, and it wants a value in JSON');
    return matching(`\\A\\s*${escaped(check.value)}\\s*\\Z`, check);
  },
  rubric({ value, not }) {
    if (not) throw new NotCarried('a statement that must not hold; write it the other way round');
    return [{ rubric: String(value) }];
  },
  cost({ value, not }) {
    if (typeof value !== 'number') throw new NotCarried('without a threshold it records, and judges nothing');
    if (not) throw new NotCarried('that it costs more than something is no assertion');
    return said({ type: 'max_cost_usd', value });
  },
  'skill-used': (check) => skillStatements(check),
};

function skillStatements({ value, not = false }: WorkCheck): readonly Statement[] {
  const used = (name: string, isUsed: boolean) => said({ type: isUsed ? 'skill_used' : 'skill_not_used', value: name });
  if (typeof value === 'string') return used(value, !not);
  if (Array.isArray(value)) return each({ type: 'skill-used', value, not }, (name) => used(String(name), !not));
  const { pattern, min = 1, max, ...rest } = isObject(value) ? value : {};
  const isName = typeof pattern === 'string' && /^[\w-]+$/.test(pattern) && Object.keys(rest).length === 0;
  if (isName && max === undefined && min === 1) return used(pattern, !not);
  if (isName && max === 0) return used(pattern, not);
  throw new NotCarried('how often a skill is used is not counted, and a pattern of names is not read');
}
