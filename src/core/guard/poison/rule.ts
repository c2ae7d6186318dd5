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

/** Whether a match counts, by what stands around it. `breaks` divide the text into sentences, or into items. */
export function applies(
  { also = [], unless, isForbidding }: Rule,
  text: string,
  match: RegExpExecArray,
  breaks: RegExp,
) {
  const passage = passageAround(text, match, breaks);
  if (!also.every((pattern) => pattern.test(passage)) || unless?.test(passage)) return false;
  return isForbidding === true || !isForbidden(text, match.index, match.index + match[0].length);
}

const REACH = 300;
export const SENTENCES = /\n\s*\n|(?<=[.!?。！？])\s+(?=\S)/u;
export const ITEMS = /\n\s*\n|\n(?=[ \t]*(?:[-*+#]|\d{1,3}[.)]) )|(?<=[.!?。！？])[^\S\n]+(?=\S)/u;

/** The sentence of a match with its neighbours, within the same item. */
function passageAround(text: string, { index, 0: match }: RegExpExecArray, breaks: RegExp): string {
  const count = breaks === ITEMS ? 1 : 2;
  const end = index + match.length;
  const before = text.slice(Math.max(0, index - REACH), index).split(breaks);
  const after = text.slice(end, end + REACH).split(breaks);
  return `${before.slice(-count).join(' ')}${match.slice(0, REACH)}${after.slice(0, count).join(' ')}`;
}

/** Words that forbid, in the languages of the rules. */
const NOT =
  /\b(?:never|do not|don't|dont|must not|mustn't|should not|shouldn't|may not|cannot|can't|won't|avoid|refuse|reject|forbid|forbidden|prohibit\w*|instead of|rather than|no|not|nobody|warn|beware|flag|without first|nie|niemals|nicht|kein\w*|jamais|ne|évite[rz]?|nunca|jamás|evita|evite|não|nao)\b|не |никогда|нельзя|不要|不得|禁止|切勿|请勿|避免|لا |asla|절대/gu;
/** What follows a «not» that forbids nothing: «do not ask», «do not hesitate to run», «not only». */
const NO_NOT =
  /^\W{0,2}(?:to )?(?:ask|wait|hesitate|forget|fail|mention|tell|bother|worry|need|stop|confirm|report|show|log|question|explain|only|matter|inform|say|notify|refuse|warn|prompt|pause|think|let)\b/u;
const ENDS =
  /[.!?;。！？\n](?=\s|$|[\p{Script=Han}])|\n|,? (?:but|just|then|simply|instead,|and then|afterwards|however) /gu;
const FORBIDS_AFTER =
  /^[^.\n]{0,60}\b(?:(?:is|are) (?:never|not|forbidden|banned|prohibited|refused)|must (?:not|never)|not allowed|(?:do|does) not)\b/u;

function isForbidden(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 200), from);
  const ends = [...before.matchAll(ENDS)].map(({ index, 0: sign }) => index + sign.length);
  const clause = before.slice(Math.max(0, ...ends));
  const hasNot = [...clause.matchAll(NOT)].some(
    ({ index, 0: word }) => !NO_NOT.test(clause.slice(index + word.length)),
  );
  return hasNot || FORBIDS_AFTER.test(text.slice(to, to + 120));
}
