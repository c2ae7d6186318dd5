const CYRILLIC = 'аеорсухіјѕԁһԛԝвкмнтзгпьлАВЕКМНОРСТУХІЈЅ';
const GREEK = 'αεικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const DISGUISED = new RegExp(`^[${CYRILLIC}${GREEK}]+$`, 'u');
const WORD = /[\p{L}\p{M}\d]+/gu;

/** Letters that look like Latin ones: mathematical, in circles or squares. Fewer than five may be a formula. */
const DRAWN = /(?:[\u{1d400}-\u{1d7cb}\u24b6-\u24e9\u{1f130}-\u{1f189}\ua730-\ua7ff\u1d00-\u1d2b][ -]?){5,}/u;
const WIDE = /(?:[\uff21-\uff3a\uff41-\uff5a]\u3000?){5,}/u;
const SPACED = /(?<![\p{L}\d])\p{L}(?:([ ._*-])\p{L}(?=\1|$|\s|[.,;:!?])[ ]{0,3}){7,}/u;

/** The first passage that is spelled with letters that look like others. */
export function findDisguise(text: string): string | undefined {
  const drawn = DRAWN.exec(text) ?? WIDE.exec(text) ?? SPACED.exec(text);
  return drawn?.[0] ?? findMixedWord(text);
}

/** The first word of two scripts that look alike, or wholly of such letters among Latin words. */
function findMixedWord(text: string): string | undefined {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(text)) return undefined;
  const words = text.match(WORD) ?? [];
  const isForeign = words.some((word) => isForeignWord(word) && !DISGUISED.test(word));
  return words.find((word) => isMixed(word) || (!isForeign && word.length > 1 && DISGUISED.test(word)));
}

const hasLatin = (word: string) => /\p{Script=Latin}/u.test(word);
const isForeignWord = (word: string) => /[\p{Script=Cyrillic}\p{Script=Greek}]{2}/u.test(word) && !hasLatin(word);

/** «Δt» and «µs» are units: one Greek letter at the beginning of a short word. */
function isMixed(word: string): boolean {
  if (!hasLatin(word)) return false;
  if (/[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word)) return true;
  return /\p{Script=Greek}/u.test(word) && !/^[\p{Script=Greek}µ]\p{Script=Latin}{1,3}\d*$/u.test(word);
}
