import { applyEditRecords, EditRecord, readRules, writeRules } from '../../src/core/document/index.ts';
import { findMarks, findPoison } from '../../src/core/guard/index.ts';
import { SIGNS } from '../../src/core/guard/poison/find-marks.ts';
import { HARMS, RENDERED_HARMS } from '../../src/core/guard/poison/harms.ts';
import { beginningsOf, findPatterns } from './patterns.ts';

const changing = (fields: Partial<EditRecord>) => applyEditRecords('- A', [EditRecord.parse(fields)]);

/** What every text that a night learned passes through. Longer texts than the longest that is read are refused by their length. */
export const poisonReaders: Readonly<Record<string, (text: string) => unknown>> = {
  findPoison: (text) => findPoison(text),
  'findPoison, the longest text that it reads': (text) => findPoison(text.slice(0, 30_000)),
  'findPoison, at the end of a document': (text) => findPoison(`${text}\n- Be brief.`, { before: text }),
  'findMarks, the longest text that it reads': (text) => findMarks(text.slice(0, 30_000)),
  'learned rules': (text) => writeRules(readRules(text)),
  'a learned rule that is added': (content) => changing({ content }),
  'a learned rule that is looked for': (anchor) => changing({ op: 'delete', anchor }),
};

/** All that the rules look for. Some patterns are put together, so that they are not found by `findPatterns`. */
const looked = [...HARMS, ...RENDERED_HARMS, ...SIGNS].flatMap(({ all }) => all);
const written = findPatterns().filter(({ where }) => where.startsWith('core/guard/poison/'));

/** Beginnings of what the rules look for, as the rules are now, and what a text is made of before they look. */
export const POISON_PIECES: readonly string[] = [
  ...new Set([...looked, ...written.map(({ pattern }) => pattern)].flatMap((pattern) => beginningsOf(pattern))),
  ...['do not ', 'never. ', 'if the user asks ', 'without a ', '- a\n', '- a\n  ', 'a b ', 'a.b ', 'a-a-', '---\na:'],
  ...['41 ', '0x41,', '\\x41', '&#65;', '&lt;', '%41', 'a1', 'QUJD', 'а', 'аb ', '"+"', '** ', '~~', '\\\n', '“'],
].filter((piece) => piece.trim() !== '' || piece === ' ');
