import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** What we do with an input, and what SkillOpt-Sleep does. Where the two differ: the subject in the list of differences. */
export type Fact = readonly [what: string, here: () => unknown, reference: unknown, differs?: string];

const LIST = readFileSync(new URL('../../../docs/sleep-differences.md', import.meta.url), 'utf8');
const SUBJECTS = new Set(Array.from(LIST.matchAll(/^\| ([^|]+) \|/gm), ([, subject]) => subject!));

/** Each fact is the same here, or it is on the list. A difference that is gone must leave the list too. */
export const holdFacts = (title: string, facts: readonly Fact[]) =>
  describe(title, () => {
    for (const [what, here, reference, differs] of facts)
      it(what, async () => {
        if (differs === undefined) return expect(await here()).toEqual(reference);
        expect([...SUBJECTS]).toContain(differs);
        expect(await here()).not.toEqual(reference);
      });
  });
