import { newPiecesOf } from '../../document/index.ts';
import { hasUnusualCommand } from './commands.ts';
import { findPoison } from './find-poison.ts';
import { isForeign, isPlainAdvice } from './plain-advice.ts';
import { findSaid, MOST_CHARACTERS, plainOf, sentencesOf } from './sentences.ts';
import { ASKS, SIGNS } from './signs.ts';

/**
 * Why a person should look at a rule before it is adopted, each reason in a few words; empty if nothing stands out. A mark
 * accuses nobody: rules that name a command or a secret are often right. What is surely harmful is refused by `findPoison`.
 */
export function findMarks(rule: string): string[] {
  if (rule.length > MOST_CHARACTERS) return ['is too long to read'];
  const sentences = sentencesOf(plainOf(rule));
  const reasons = [
    ...[findPoison(rule)?.reason ?? []].flat(),
    ...(BLOB.test(rule) ? ['holds an encoded text'] : []),
    ...sentences.flatMap(signsOf),
    ...(sentences.some(hasUnusualCommand) ? ['runs a command'] : []),
    ...(sentences.some(isForeign) ? ['is not in English'] : []),
  ];
  if (reasons.length > 0) return [...new Set(reasons)];
  return sentences.every(isPlainAdvice) ? [] : [TELLS_HOW_TO_ACT];
}

const signsOf = (sentence: string) =>
  SIGNS.filter((sign) => (sign.isForbidding || !ASKS.test(sentence)) && findSaid(sign, sentence) !== undefined).map(
    ({ reason }) => reason,
  );

/** The weakest mark: nothing stands out, but the rule is not plainly about the form of texts and code either. */
const TELLS_HOW_TO_ACT = 'tells how to act';

const BLOB = /(?<![\w/.-])(?=[\w+/]{0,40}\d)(?=[\w+/]{0,40}[A-Za-z])[\w+/]{28,}={0,2}(?![\w/-]|\.\w)/;

export type MarkedLine = { readonly line: string; readonly reasons: readonly string[] };

/** The rules and other passages that a block gained, as far as they are marked. */
export const findMarkedLines = (before: string, after: string): MarkedLine[] =>
  newPiecesOf(before, after)
    .map((line) => ({ line, reasons: findMarks(line) }))
    .filter(({ reasons }) => reasons.length > 0);
