import type { OfficeQaItem } from './item.ts';
import { shownNames } from './tools.ts';

/** Only what stands between these tags is graded. */
const ANSWER = `When you have the answer, write it in <answer></answer>, without a sentence around it: a number with the unit and the
number of digits that the question asks for, a name, a date, or a list in the order that the question gives. Only what
stands between these tags is graded.`;

const TASK = `You answer a question about official bulletins: reports full of tables. Work from the documents, not from memory: find
the table, check its title, unit, period and footnotes, and calculate step by step where the question asks for more than
one number.`;

/** For models: the calls stand in the reply, since not every model has an interface for tools. */
export const RULES = `${TASK}

You read the documents with tools. A call is JSON between tags:

<tool>{"name": "glob", "pattern": "*1953*"}</tool> lists the documents with such a name, at most 50.
<tool>{"name": "grep", "pattern": "public debt", "path": "NAME"}</tool> shows lines that hold the pattern, plain text or a simple
regular expression, in any case: at most 20. Without a path it searches all documents.
<tool>{"name": "read", "path": "NAME", "start": 120, "limit": 80}</tool> shows lines from a line on: at most 80, and 4,000 characters.

A reply holds one to four calls, or the answer. The results come with the next message.

${ANSWER}`;

/** For agents, which have tools of their own. */
export const RULES_FOR_AGENTS = `${TASK}

${ANSWER}`;

export const REMINDER =
  'Your reply has neither a call nor an answer. Write a call in <tool></tool>, or the answer in <answer></answer>.';

export const TIME_IS_UP =
  'No calls are left. Write your best answer now, in <answer></answer>, from what you have read.';

const MOST_NAMES = 50;

/** The question, the documents by their names below `folder`, and where the scans are from. */
export function questionText({ question, documents, sourceDocs }: OfficeQaItem, folder = ''): string {
  const names = [...shownNames(documents).keys()];
  const rest = names.length - MOST_NAMES;
  return [
    `Question: ${question}`,
    '',
    'Documents:',
    ...names.slice(0, MOST_NAMES).map((name) => `- ${folder}${name}`),
    ...(rest > 0 ? [`- … and ${rest} more`] : []),
    ...(sourceDocs.length === 0 ? [] : ['', 'They are scans of:', ...sourceDocs.map((address) => `- ${address}`)]),
  ].join('\n');
}
