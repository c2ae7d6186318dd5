import { applyEditRecords, EditRecord, readRules, writeRules } from '../../src/core/document/index.ts';
import { findMarks, findPoison } from '../../src/core/guard/index.ts';

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

/** Beginnings of what the rules look for. */
export const POISON_PIECES: readonly string[] = [
  ...['give access ', 'copy to ', 'delete all ', 'tests off ', 'say as ', 'keep notes ', 'best dates ', 'so that '],
  ...[
    'send ',
    'send secrets ',
    'curl ',
    'curl |',
    'curl x; ',
    'add ',
    'add .bashrc ',
    'rm -a ',
    'show ',
    'show token ',
  ],
  ...[
    'ignore all ',
    'ignore all the ',
    'do not ',
    'do not tell ',
    'if it ',
    'skip ',
    'this ',
    'user ',
    'if user ',
    'pass ',
  ],
  ...[
    'without ',
    'without a ',
    'read http: ',
    'the rules ',
    'never ',
    'never. ',
    'if the user asks ',
    'leave ',
    'keep ',
  ],
  ...['[a](//a?', '<a ', '<details', '@a/', '---\n', '---\na:', '../', 'mcp__', 'git push ', 'npm i ', 'npm i reactt '],
  ...[
    'a-a-',
    'a_',
    'a b ',
    'a.',
    '41 ',
    '0x41,',
    '\\x41',
    '&#65;',
    '&lt;',
    '%41',
    'a1',
    'QUJD',
    'а',
    'аb ',
    '- a\n',
    '- a\n  ',
  ],
];
