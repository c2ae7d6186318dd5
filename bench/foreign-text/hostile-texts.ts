/** Pieces that a reader may take for the beginning of something, again and again. */
const PIECES = [
  ...[
    'a',
    'é',
    '漢',
    '😀',
    '\u200b',
    '\ud800',
    ' ',
    '\n',
    '\r\n',
    '\t',
    '7',
    '0',
    '1,',
    '1 ',
    '1. ',
    '1h',
    'a ',
    'A ',
    'a\n',
  ],
  ...[
    '[',
    '{',
    '(',
    '<',
    '>',
    '}',
    '"',
    '\\',
    '\\"',
    '.',
    '/',
    '-',
    '- ',
    '#',
    '*',
    '|',
    '`',
    '```',
    '```json\n',
    '~~~\n',
  ],
  ...[
    '---\n',
    '<!--',
    '<!-- ',
    '<!-- SLOW_UPDATE_START -->',
    '<answer>',
    '<answer>a</answer>',
    '<title',
    '{"a":',
    '{"',
    '[[',
  ],
  ...['{"a":1}\n', '](', '](<', '](a(', '[a]: ', 'http://a@', 'sk-', 'Bearer ', 'model ', 'Error: ', 'the ', 'Ab, Cd '],
];

const PAIRS = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['<!-- APPEN', 'DIX_START -->'],
] as const;

/** Texts of `bytes` bytes that are hard to read for who does not read them once, by what they are. */
export function hostileTexts(bytes: number, own: readonly string[] = []): ReadonlyMap<string, string> {
  const pieces = [...new Set([...PIECES, ...own])].filter((piece) => piece !== '');
  const many = (piece: string) => piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)));
  const nested = (open: string, close: string) => {
    const depth = Math.ceil(bytes / (open.length + close.length));
    return open.repeat(depth) + close.repeat(depth);
  };
  const numbered = (write: (index: string) => string) =>
    Array.from({ length: bytes / 8 }, (_, index) => write(index.toString(36)));
  return new Map([
    ...pieces.map((piece) => [`many ${JSON.stringify(piece)}`, many(piece)] as const),
    ...[' ', '\n', '.', '0'].map((piece) => [`many ${JSON.stringify(piece)} and a letter`, `${many(piece)}x`] as const),
    ...PAIRS.map(([open, close]) => [`nested ${open}`, nested(open, close)] as const),
    ['different words', numbered((index) => `word${index}`).join(' ')],
    ['different lines', numbered((index) => `- ${index} x`).join('\n')],
    [
      'one long word',
      Array.from({ length: bytes }, (_, at) => String.fromCharCode(97 + ((at * at * 7 + at) % 26))).join(''),
    ],
  ]);
}
