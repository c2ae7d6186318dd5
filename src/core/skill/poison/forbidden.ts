/** Words that turn an order round, in the languages that are looked through. */
const NOT =
  /\b(?:never|do not|don't|dont|must not|mustn't|should not|shouldn't|may not|cannot|can't|won't|avoid|refuse|reject|forbid|forbidden|prohibit\w*|instead of|rather than|no|not|nobody|warn|beware|flag|without first|nie|niemals|nicht|kein\w*|jamais|ne|évite[rz]?|nunca|jamás|evita|evite|não|nao)\b|не |никогда|нельзя|不要|不得|禁止|切勿|请勿|避免|لا |asla|절대/gu;
/** A «not» of these is none: «do not ask», «do not hesitate to run», «not only». */
const NO_NOT =
  /^\W{0,2}(?:to )?(?:ask|wait|hesitate|forget|fail|mention|tell|bother|worry|need|stop|confirm|report|show|log|question|explain|only|matter|inform|say|notify|refuse|warn|prompt|pause|think|let)\b/u;
const ENDS =
  /[.!?;。！？\n](?=\s|$|[\p{Script=Han}])|\n|,? (?:but|just|then|simply|instead,|and then|afterwards|however) /gu;
const FORBIDS_AFTER =
  /^[^.\n]{0,60}\b(?:(?:is|are) (?:never|not|forbidden|banned|prohibited|refused)|must (?:not|never)|not allowed|(?:do|does) not)\b/u;

/** Whether the sentence round a place forbids what stands there. */
export function isForbidden(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 200), from);
  const clause = before.slice(lastEnd(before));
  const hasNot = [...clause.matchAll(NOT)].some(
    ({ index, 0: word }) => !NO_NOT.test(clause.slice(index + word.length)),
  );
  return hasNot || FORBIDS_AFTER.test(text.slice(to, to + 120));
}

const lastEnd = (text: string) =>
  [...text.matchAll(ENDS)].reduce((end, { index, 0: sign }) => Math.max(end, index + sign.length), 0);
