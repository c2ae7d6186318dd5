import { newPiecesOf } from '../../document/index.ts';
import { hasUnusualCommand } from './commands.ts';
import { findPoison } from './find-poison.ts';
import { isForeign } from './language.ts';
import { findSaid, MOST_CHARACTERS, plainOf, sentencesOf } from './sentences.ts';
import { ASKS, SIGNS } from './signs.ts';

/**
 * Why a person should look at a rule before it is adopted, each reason in a few words. A mark accuses nobody: rules that name a
 * command or a secret are often right. What is surely harmful is refused by `findPoison`. No rule is without a mark: a bad one
 * that avoids every word that is known here looks like a good one.
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
  return reasons.length > 0 ? [...new Set(reasons)] : [NEW];
}

const signsOf = (sentence: string) =>
  SIGNS.filter((sign) => (sign.isForbidding || !ASKS.test(sentence)) && findSaid(sign, sentence) !== undefined).map(
    ({ reason }) => reason,
  );

const NEW = 'is new, and nothing in it stands out';

const BLOB = /(?<![\w/.-])(?=[\w+/]{0,40}\d)(?=[\w+/]{0,40}[A-Za-z])[\w+/]{28,}={0,2}(?![\w/-]|\.\w)/;

export type MarkedLine = {
  readonly line: string;
  readonly reasons: readonly string[];
  /** Whether something stands out: a person must agree to it before it is adopted. */
  readonly isStriking: boolean;
};

/** The rules and other passages that a block gained, each with its marks. */
export const findMarkedLines = (before: string, after: string): MarkedLine[] =>
  newPiecesOf(before, after).map((line) => {
    const reasons = findMarks(line);
    return { line, reasons, isStriking: reasons[0] !== NEW };
  });
