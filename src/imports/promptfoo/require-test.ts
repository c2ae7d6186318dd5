import { isObject } from '../../core/text/index.ts';
import { NotCarried } from '../left-out.ts';
import type { Assertion } from './assertion.ts';

type Carried = { readonly checks: readonly unknown[]; readonly numbers: readonly string[] };
type Held = {
  readonly assertions: readonly unknown[];
  /** The assertions before it hold by default for each test. */
  readonly ownFrom: number;
};

/** Throws where nothing is left by which a test could fail, other than what holds for each test. */
export function requireOwn({ checks, numbers }: Carried, { assertions, ownFrom }: Held): void {
  if (checks.length === 0) throw new NotCarried('none of its checks is carried');
  const counts = checks.map((check) => isObject(check) && check.weight !== 0);
  if (!counts.includes(true)) throw new NotCarried('its checks have a weight of 0, so any answer passes');
  const hasOwn = numbers.some((number, index) => Number(number) >= ownFrom && counts[index]);
  if (ownFrom < assertions.length && !hasOwn) throw new NotCarried('of its own checks none is carried');
}

const EXPRESSION = /\{\{-?\s*([A-Za-z_$][\w$]*)/g;

/** The variables of a template that are empty. Throws for one that is missing: the model would be asked about nothing. */
export function emptyVariables(template: string, vars: Assertion): string[] {
  const names = Array.from(template.matchAll(EXPRESSION), ([, name]) => name!);
  const used = [...new Set(names)].filter((name) => name !== 'env' && name !== 'process'); // said elsewhere
  const missing = used.find((name) => vars[name] == null);
  if (missing !== undefined) throw new NotCarried(`its prompt has {{${missing}}}, and no variable fills it`);
  return used.filter((name) => vars[name] === '');
}
