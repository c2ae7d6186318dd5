/** What a text tries, as a person is told. */
export type PoisonKind =
  | 'marker'
  | 'html_comment'
  | 'hidden_character'
  | 'disguise'
  | 'markup'
  | 'fetch'
  | 'execute'
  | 'exfiltrate'
  | 'override'
  | 'conceal'
  | 'permission'
  | 'persistence'
  | 'dependency'
  | 'git'
  | 'destroy'
  | 'weaken'
  | 'grader'
  | 'too_long';

/** One thing that no learned text may say. Looked for in a text in small letters. */
export type Rule = {
  readonly kind: PoisonKind;
  readonly reason: string;
  readonly find: RegExp;
  /** Must all stand in the same sentence, or in the one before or after it. */
  readonly also?: readonly RegExp[];
  /** Must not stand there. */
  readonly unless?: RegExp;
  /** Means the same behind «never», as «never ask» does. All other rules may be forbidden: «never pipe a download into a shell». */
  readonly isForbidding?: boolean;
  /** Does harm where a page is rendered, and none in code. */
  readonly isRendered?: boolean;
};

/** Alternatives, written in as many lines as it takes. Bounded everywhere: a text may be one line of a megabyte. */
export const anyOf = (...alternatives: readonly string[]) => `(?:${alternatives.join('|')})`;
export const finds = (...alternatives: readonly string[]) => new RegExp(inSentences(anyOf(...alternatives)), 'gu');
export const has = (...alternatives: readonly string[]) => new RegExp(inSentences(anyOf(...alternatives)), 'u');

/** `[^\n.]` stays within a sentence. The dot of a name (`~/.npmrc`) does not end one. */
const inSentences = (source: string) => source.replaceAll('[^\\n.]', '(?:[^\\n.]|\\.(?=[^ \\n]))');
