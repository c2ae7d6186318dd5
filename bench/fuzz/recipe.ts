/** How a hostile text is made: a beginning, something again and again, then its counterpart as often, and an end. */
export type Recipe = { readonly lead: string; readonly unit: string; readonly close: string; readonly tail: string };

export function textOf({ lead, unit, close, tail }: Recipe, bytes: number): string {
  const room = Math.max(0, bytes - Buffer.byteLength(lead + tail));
  const times = Math.ceil(room / Math.max(1, Buffer.byteLength(unit + close)));
  const middle = unit === NUMBERED ? numbered(room) : unit.repeat(times) + close.repeat(times);
  return `${lead}${middle}${tail}`;
}

/** Stands for words that are all different: an index of words grows with them. */
const NUMBERED = '\u0000numbered';

function numbered(bytes: number): string {
  const words: string[] = [];
  for (let length = 0; length < bytes; length += words.at(-1)!.length + 1) words.push(`w${words.length.toString(36)}`);
  return words.join(' ');
}

/** What a reader may take for the beginning of something. */
const UNITS = [
  ...[
    'a',
    'A',
    '7',
    ' ',
    '\n',
    '\t',
    '\r\n',
    'é',
    '漢',
    '😀',
    '\u200b',
    '\ud800',
    '\u0130',
    '\x1b',
    '\x1b[',
    '\x1b]',
    '\x1b;',
    '\x9b',
    '\x7f',
    '\x01',
    '\r',
    '\u2028',
    '\ufe0f',
    '  ',
    'a  ',
  ],
  ...[
    '[',
    '{',
    '(',
    '<',
    '>',
    '}',
    ']',
    '"',
    "'",
    '\\',
    '\\"',
    '.',
    '/',
    '-',
    '_',
    '#',
    '*',
    '|',
    '`',
    '~',
    ';',
    ':',
    ',',
    '=',
    '$',
    '%',
    '&',
  ],
  ...[
    'a ',
    'a\n',
    'a.',
    'a-',
    'a_',
    'a@',
    'a=',
    '- ',
    '# ',
    '1. ',
    '1,',
    '{{',
    '{{a}}',
    '{%',
    '${',
    '<!--',
    '<a',
    '</',
    '```',
    '---\n',
  ],
  ...['{"a":', '[[', '](', '://', '/*', '//', '%41', '\\u0041', '&#39;', 'http://a', NUMBERED],
];

const CLOSES: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')', '<': '>', '{"a":': '}', '{{': '}}' };
const TAILS = ['', 'x', '!', '\n', '\r', '\u0001', '}}', '>', '"'];

/** The same numbers in every run, so that a slow text is found again. */
export function dice(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    of: <Value>(values: readonly Value[]): Value => values[Math.floor(next() * values.length)]!,
    shuffled: <Value>(values: readonly Value[]): Value[] =>
      values
        .map((value) => ({ value, at: next() }))
        .sort((one, other) => one.at - other.at)
        .map(({ value }) => value),
  };
}

export function firstRecipes(words: readonly string[]): Recipe[] {
  const units = [...new Set([...UNITS, ...words])];
  const plain = units.map((unit) => ({ lead: '', unit, close: '', tail: '' }));
  const nested = Object.entries(CLOSES).map(([unit, close]) => ({ lead: '', unit, close, tail: '' }));
  const ended = units.map((unit) => ({ lead: '', unit, close: '', tail: '\u0001' }));
  return [...plain, ...nested, ...ended];
}

/** The same text with another beginning, end or middle. */
export function mutate(recipe: Recipe, words: readonly string[], random: ReturnType<typeof dice>): Recipe {
  const piece = random.of([...UNITS.slice(0, -1), ...words]);
  const joined = recipe.unit === NUMBERED ? piece : random.of([recipe.unit + piece, piece + recipe.unit]);
  return random.of<Recipe>([
    { ...recipe, lead: piece },
    { ...recipe, tail: random.of(TAILS) },
    { ...recipe, unit: joined.slice(0, 12) },
    { ...recipe, lead: recipe.unit === NUMBERED ? '' : recipe.unit, unit: piece },
  ]);
}
