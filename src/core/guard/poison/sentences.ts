/** More than this is not read, and so not trusted. It bounds the time too. */
export const MOST_CHARACTERS = 30_000;

/** One spelling for quotes, dashes and spaces, small letters, no emphasis, and no line broken by a backslash. */
export const plainOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\u2018\u2019\u02bc\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u2010-\u2012]/g, '-')
    .replace(/\r\n?/g, '\n')
    .replace(/\\\n/g, ' ')
    .replace(/\*\*|__(?=\s|$)|(?<=^|\s)__|~~/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .toLowerCase();

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' };

/** The plain text with entities and escapes (`&#65;`, `\x41`, `%41`) decoded, quoted pieces joined, and items joined to sentences. */
export const joinedOf = (plain: string): string =>
  plain
    .replace(/&([a-z]{2,4});/g, (whole, name) => ENTITIES[name] ?? whole)
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));?/g, (_, hex, decimal) => character(hex, decimal))
    .replace(/(?:\\x|\\u00|%)([\da-f]{2})/g, (_, hex) => character(hex))
    .replace(/["'`] ?\+ ?["'`]|(?<=\w)(?:""|'')(?=\w)/g, '')
    .replace(/(?<![.!?:;)`"\n])\n{1,2}[ \t]{0,20}(?:(?:[-*+>]|\d{1,3}[.)]) )?/g, ' ');

function character(hex: string | undefined, decimal = '32'): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toLowerCase() : ' ';
}

const SENTENCE_ENDS = /\n\s*\n|\n(?=[ \t]*(?:[-*+#]|\d{1,3}[.)]) )|(?<=[.!?。！？])\s+(?=\S)/u;

/** The sentences of a plain text. Items of a list end a sentence too; a broken line does not. */
export const sentencesOf = (plain: string): string[] => plain.split(SENTENCE_ENDS).filter((one) => /\S/.test(one));

const NOT =
  /\b(?:never|do not|don't|dont|must not|mustn't|should not|may not|cannot|avoid|refuse|reject|instead of|rather than|no|not|without first)\b/gu;
/** What follows a «not» that forbids no deed: «do not ask», «not only». */
const NO_DEED =
  /^\W{0,2}(?:to )?(?:ask|wait|hesitate|forget|fail|mention|tell|bother|worry|need|stop|confirm|report|show|only|let)\b/u;
const TURNS = /[;:] |,? (?:but|just|then|instead,|and then|unless|until|except|without) /gu;
const FORBIDDEN_BEHIND =
  /^[^.\n]{0,60}\b(?:(?:is|are) (?:never|not|forbidden|banned|refused)|must (?:not|never)|not allowed)\b/u;

/** What a sentence is searched for: patterns that all stand in it, in any order. */
export type Wanted = {
  readonly all: readonly RegExp[];
  /** «Never …» does not turn it round, as in «never ask» and «never mention». */
  readonly isForbidding?: boolean;
};

/** The words of a sentence that say it, unless the sentence forbids it: that is what honest rules do. */
export function findSaid({ all, isForbidding }: Wanted, sentence: string): string | undefined {
  const said = all.map((part) => part.exec(sentence));
  const isEach = said.every((one) => one && (isForbidding || !isForbidden(sentence, one.index, one[0].length)));
  return isEach ? said.map((one) => one![0]).join(' … ') : undefined;
}

/** Whether a sentence forbids what stands at a place in it. */
export function isForbidden(sentence: string, start: number, length: number): boolean {
  const before = sentence.slice(Math.max(0, start - 200), start);
  const turns = [...before.matchAll(TURNS)].map(({ index, 0: turn }) => index + turn.length);
  const clause = before.slice(Math.max(0, ...turns));
  const nots = [...clause.matchAll(NOT)].map(({ index, 0: not }) => clause.slice(index + not.length));
  return (
    nots.some((rest) => !NO_DEED.test(rest)) ||
    FORBIDDEN_BEHIND.test(sentence.slice(start + length, start + length + 120))
  );
}
