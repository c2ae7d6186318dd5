import { strip } from '../../core/text/index.ts';
import { parseJsonLiteral, parseLiteral } from './python-literal.ts';
import { type Literal, str, toLiteral } from './python-value.ts';

const LISTS_ANSWERS = ['answers', 'ground_truth', 'answer'];
const HOLDS_ANSWER = ['text', 'answer', 'value'];

/**
 * The right answers in a value of any form that data of DocVQA comes in: a list, an object that holds one, a list of objects, a
 * number, or a text that is such a list in JSON or Python. Nothing at all is one empty answer.
 */
export const goldTexts = (value: unknown): string[] => textsIn(toLiteral(value ?? ''));

function textsIn(value: Literal): string[] {
  if (value.kind === 'text') return textsInText(strip(value.text));
  if (value.kind === 'dict') {
    const answers = entryOf(value, LISTS_ANSWERS);
    return answers === undefined ? [str(value)] : textsIn(answers);
  }
  if (value.kind === 'written') return [value.text === 'None' ? '' : value.text];
  const texts = value.entries.flatMap((entry) => {
    const answer = entry.kind === 'dict' ? entryOf(entry, HOLDS_ANSWER) : undefined;
    return answer === undefined ? [str(entry)] : textsIn(answer);
  });
  return texts.length === 0 ? [''] : texts;
}

function textsInText(text: string): string[] {
  const parsed = /^[[{]/.test(text) ? (parseJsonLiteral(text) ?? parseLiteral(text)) : undefined;
  return parsed === undefined ? [text] : textsIn(parsed);
}

function entryOf({ entries }: Extract<Literal, { kind: 'dict' }>, names: readonly string[]): Literal | undefined {
  for (const name of names) {
    const found = entries.find(([key]) => key.kind === 'text' && key.text === name);
    if (found) return found[1];
  }
  return undefined;
}

/** The right answers in a cell of a CSV: what Python reads there, or the cell as it is. */
export function answersInCell(cell: string): string[] {
  const text = strip(cell);
  const value = parseLiteral(text);
  if (value === undefined) return filled([text]);
  return filled(value.kind === 'list' ? value.entries.map(str) : [str(value)]);
}

/** Blank answers are left out. */
export const filled = (answers: readonly string[]): string[] => answers.map(strip).filter(Boolean);
