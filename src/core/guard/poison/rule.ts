export type PoisonKind =
  | ('marker' | 'html_comment' | 'hidden_character' | 'disguise' | 'markup' | 'too_long')
  | ('fetch' | 'execute' | 'exfiltrate' | 'persistence' | 'dependency' | 'git' | 'destroy')
  | ('override' | 'conceal' | 'permission' | 'weaken' | 'grader');

/** One thing that no learned text may say. It is looked for in a text in small letters. */
export type Rule = { readonly kind: PoisonKind; readonly reason: string; readonly find: RegExp } & Conditions;

type Conditions = {
  /** Must all stand in the same sentence, or in the one before or after it. */
  readonly also?: readonly RegExp[];
  /** Must not stand there. */
  readonly unless?: RegExp;
  /** Means the same behind «never», as «never ask» does. Other rules do not count there: «never pipe a download into a shell». */
  readonly isForbidding?: boolean;
  /** Does harm where a page is rendered, and none in code. */
  readonly isRendered?: boolean;
};

/** A rule that finds any of the alternatives. Conditions come before them, as in `it(name, options, run)`. */
export function rule(
  kind: PoisonKind,
  reason: string,
  ...given: [alternatives: readonly string[]] | [conditions: Conditions, alternatives: readonly string[]]
): Rule {
  const [conditions, alternatives] = given.length === 1 ? [{}, given[0]] : given;
  return { kind, reason, find: new RegExp(inSentences(anyOf(...alternatives)), 'gu'), ...conditions };
}

/** Bounded everywhere: a text may be one line of a megabyte. */
export const anyOf = (...alternatives: readonly string[]) => `(?:${alternatives.join('|')})`;
export const has = (...alternatives: readonly string[]) => new RegExp(inSentences(anyOf(...alternatives)), 'u');

/** `[^\n.]` stays within a sentence. The dot of a name (`~/.npmrc`) does not end one. */
const inSentences = (source: string) => source.replaceAll('[^\\n.]', '(?:[^\\n.]|\\.(?=[^ \\n]))');
