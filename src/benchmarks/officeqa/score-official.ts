import { includesText, strip } from '../../core/text/index.ts';
import { type Figure, figuresIn, inOneLine, isYear, LINE_END, wordsBesideFigures } from './figures.ts';
import { listIn, splitsInto } from './list-answers.ts';

/** A direct answer is short. */
const MOST_CHARS = 250;
const MARKUP = /<[^>]*>/;

/**
 * The rule of the benchmark's own `reward.py` (June 2026). An answer in words must equal the right one. An answer in numbers must
 * hold as many numbers as the right one, and years that only say when do not count. Each number must be near its counterpart,
 * units must not contradict, and the words must agree. Lists in brackets keep their order.
 */
export function scoreOfficial(reply: string, gold: string, tolerance: number): 0 | 1 {
  const answer = strip(finalAnswer(reply));
  return isDirect(answer) && isRight(answer, gold, tolerance) ? 1 : 0;
}

/** What stands in the last `<FINAL_ANSWER>` tags, the tags of the benchmark itself, or else all of it. */
function finalAnswer(reply: string): string {
  let found: string | undefined;
  let start: number | undefined;
  for (const tag of reply.matchAll(/<(\/?)final_answer>/gi)) {
    if (tag[1] === '') start ??= tag.index + tag[0].length;
    else if (start !== undefined) {
      found = reply.slice(start, tag.index);
      start = undefined;
    }
  }
  return found ?? reply;
}

function isDirect(answer: string): boolean {
  if (answer === '' || answer.length > 2 * MOST_CHARS || [...answer].length > MOST_CHARS) return false;
  const lines = answer.split(LINE_END).filter((line) => strip(line) !== '');
  return lines.length === 1 && !answer.toLowerCase().includes('unable to determine');
}

function isRight(answer: string, gold: string, tolerance: number): boolean {
  const wanted = figuresIn(gold);
  const given = figuresIn(answer);
  if (wanted.length === 0) return given.length === 0 && plainWords(answer) === plainWords(gold);
  if (MARKUP.test(answer)) return false;
  const counted = yearsCount(wanted, gold) ? given : given.filter(({ value }) => !isYear(value));
  const list = listIn(gold);
  if (list !== undefined) return isSameList(list, { answer, counted, tolerance });
  return (
    counted.length === wanted.length &&
    wanted.every((figure) => counted.some((other) => isNear(figure, other, tolerance))) &&
    wordsAgree(answer, gold)
  );
}

/** Whether a year in an answer counts as a number. Otherwise it only says when. */
const yearsCount = (wanted: readonly Figure[], gold: string): boolean =>
  wanted.some(({ value }) => isYear(value)) || (wanted.length === 1 && wordsBesideFigures(gold) !== undefined);

type ListAnswer = { readonly answer: string; readonly counted: readonly Figure[]; readonly tolerance: number };

function isSameList(list: readonly Figure[], { answer, counted, tolerance }: ListAnswer): boolean {
  const accepts = list.map((figure) => (value: number) => isNear(figure, { value, unit: undefined }, tolerance));
  if (splitsInto(answer, accepts)) return true;
  return counted.length === list.length && list.every((figure, index) => isNear(figure, counted[index]!, tolerance));
}

/** Numbers are compared as they are written: 543 million is near 543, and not near 543,000,000. */
function isNear(wanted: Figure, given: Figure, tolerance: number): boolean {
  const contradicts = wanted.unit !== undefined && given.unit !== undefined && wanted.unit !== given.unit;
  if (contradicts) return false;
  if (wanted.value === 0) return given.value === 0;
  return Math.abs(wanted.value - given.value) / Math.abs(wanted.value) <= tolerance;
}

function wordsAgree(answer: string, gold: string): boolean {
  const wanted = wordsBesideFigures(gold);
  if (wanted === undefined) return true;
  const given = wordsBesideFigures(answer);
  return given !== undefined && (includesText(given, wanted) || includesText(wanted, given));
}

/** Without quotation marks around it and without what stands in brackets, such as the short form of a name. */
function plainWords(text: string): string {
  const bare = strip(text)
    .toLowerCase()
    .replace(/^"+|"+$/g, '')
    .replace(/^'+|'+$/g, '');
  return inOneLine(bare.replace(/\([^)]*\)/g, ''));
}
