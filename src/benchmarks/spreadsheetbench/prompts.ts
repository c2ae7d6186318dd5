import type { Language } from './code.ts';
import type { SpreadsheetItem } from './item.ts';

/** The end of what code printed says most about its failure. */
const MOST_FEEDBACK = 3_000;

const TITLES: Readonly<Record<Language, string>> = { python: 'Python', javascript: 'JavaScript' };

const HOW: Readonly<Record<Language, string>> = {
  python: `The package openpyxl is there; other packages may be missing. Two variables are set before your code
starts, and you must not set them: INPUT_PATH is the workbook to read, and OUTPUT_PATH is where the changed workbook goes.`,
  javascript: `It runs as an ES module in Node. The package SheetJS is there: import * as XLSX from 'xlsx'. Two globals are set before
your code starts, and you must not declare them: INPUT_PATH is the workbook to read, and OUTPUT_PATH is where the changed workbook
goes (.xlsx).`,
};

/** The same for all items: the task in general, and where the code runs. */
export const rulesFor = (language: Language): string => `You change Excel workbooks by writing ${TITLES[language]} code.
You get what a person wants done, where the result is looked for, and the first rows of each sheet. Answer with one complete
script in a fenced block that begins with ${FENCES[language]}. ${HOW[language]}
The script runs once without a network, and on other workbooks of the same form too: work out sizes and places from the
workbook, since it may hold more rows than you were shown. Leave all other cells as they are.`;

const FENCES: Readonly<Record<Language, string>> = { python: '```python', javascript: '```javascript' };

export function questionOf(item: SpreadsheetItem, preview: string): string {
  const { instruction, taskType, answerPosition, answerSheet } = item;
  const place = answerSheet && !answerPosition.includes('!') ? `${answerSheet}!${answerPosition}` : answerPosition;
  return [
    `# Wanted\n\n${instruction}`,
    ...(taskType === undefined ? [] : [`Kind of task: ${taskType}`]),
    ...(place === '' ? [] : [`The result is looked for at: ${place}`]),
    `# The workbook\n\n${preview}`,
  ].join('\n\n');
}

export const noCodeWords = (language: Language): string =>
  `There is no code in this answer. Write the complete script in one block that begins with ${FENCES[language]}.`;

export const failureWords = (problem: string, language: Language): string =>
  `The script failed:\n\n${problem.slice(-MOST_FEEDBACK).toWellFormed()}\n\nCorrect it. Write the complete script again, in one block that begins with ${FENCES[language]}.`;

/** All that the target reads besides the skill and the item. */
export const allWords = (language: Language): string =>
  [rulesFor(language), noCodeWords(language), failureWords('', language)].join('\n\n');
