import { newPiecesOf } from '../../document/index.ts';
import { findPoison, plainOf } from './find-poison.ts';
import { isAboutShape, isForeign, isUnusualCommand, MARK_RULES, type MarkRule } from './rules/marks.ts';

/** More is not read, and so is marked. */
const MOST_CHARACTERS = 30_000;

/**
 * Why a person should look at a rule before it is adopted, each reason in a few words; empty if nothing stands out. A mark
 * accuses nobody: rules that name a command or a secret are often right. What is surely harmful is refused by `findPoison`.
 */
export function findMarks(rule: string): string[] {
  if (rule.length > MOST_CHARACTERS) return ['is too long to read'];
  const text = plainOf(rule);
  const poison = findPoison(rule);
  const reasons = [
    ...(poison ? [poison.reason] : []),
    ...(codesOf(text).some((code) => isCommandToRun(code, text)) ? ['runs a command'] : []),
    ...MARK_RULES.filter((one) => isFound(one, text)).map(({ reason }) => reason),
    ...(BLOB.test(rule) ? ['holds an encoded text'] : []),
    ...(text.split('\n').some((line) => isForeign(line.replace(CODE, ' '))) ? ['is not in English'] : []),
  ];
  if (reasons.length > 0) return [...new Set(reasons)];
  return isAboutShape(text) ? [] : [TELLS_HOW_TO_ACT];
}

/** The weakest mark: nothing stands out, but the rule is about more than the shape of texts and code. */
const TELLS_HOW_TO_ACT = 'tells how to act';

const isCommandToRun = ({ code, at }: Code, text: string) =>
  isUnusualCommand(code) && !isForbidden(text.slice(Math.max(0, at - 120), at));

const BLOB = /(?<![\w/.-])(?=[\w+/]{0,40}\d)(?=[\w+/]{0,40}[A-Za-z])[\w+/]{40,}={0,2}(?![\w/.-])/;
const CODE = /`[^`\n]{1,400}`/gu;
const FENCED = /(?<=^|\n)[ \t]{0,8}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n([\s\S]*?)(?:\n[ \t]{0,8}\1|$)/gu;

type Code = { readonly code: string; readonly at: number };

/** What stands in code spans, and the lines of fences. */
function codesOf(text: string): Code[] {
  const fenced = [...text.matchAll(FENCED)].flatMap(({ 2: body = '', index }) =>
    body.split('\n').map((code) => ({ code, at: index })),
  );
  const spans = [...text.matchAll(CODE)].map(({ 0: span, index }) => ({ code: span.slice(1, -1), at: index }));
  return [...fenced, ...spans].map(({ code, at }) => ({ code: code.trim().replace(/^\$ /, ''), at }));
}

function isFound({ find, isHarmlessForbidden }: MarkRule, text: string): boolean {
  if (!isHarmlessForbidden) return text.search(find) !== -1;
  return [...text.matchAll(find)].some(({ index }) => !isForbidden(text.slice(Math.max(0, index - 120), index)));
}

/** «Never commit …»: the prohibition reaches the end of its clause, and nothing between turns it round («not before …»). */
const isForbidden = (before: string) =>
  /\b(?:never|do not|don't|dont|must not|mustn't|should not|may not|avoid|no)\b(?!.*\b(?:before|until|unless|without|except|but|instead|only|just|then|so|because|when|if|and then|use|rather|leave|keep|forget|fail|hesitate|wait|ask|tell|mention)\b)[^.;:!?\n]*$/su.test(
    before,
  );

export type MarkedLine = { readonly line: string; readonly reasons: readonly string[] };

/** The rules and other passages that a block gained, as far as they are marked. */
export const findMarkedLines = (before: string, after: string): MarkedLine[] =>
  newPiecesOf(before, after)
    .map((line) => ({ line, reasons: findMarks(line) }))
    .filter(({ reasons }) => reasons.length > 0);
