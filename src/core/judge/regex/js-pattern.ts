import { checkPattern } from './python-regex.ts';

/** What JavaScript takes for white space, inside a class. And everything else. */
const SPACE = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
const NO_SPACE =
  '\\x00-\\x08\\x0e-\\x1f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\U0010ffff';

/**
 * A JavaScript pattern in the syntax of our matcher, which is Python's and needs one pass over a text. Of its flags `i` is known.
 * Throws for one that is no pattern there, or that needs more than one pass: lookaheads, backreferences.
 */
export function fromJsPattern(pattern: string, flags = ''): string {
  requireJavaScript(pattern);
  if (flags !== '' && flags !== 'i') throw new Error(`the flags ${flags} of its pattern are not carried`);
  // Python folds the case of ASCII alone, here.
  if (flags === 'i' && /[^ -~\s]|\\u/.test(pattern))
    throw new Error('its pattern ignores the case of letters beyond ASCII');
  // ASCII alone is a digit or a letter of a word there.
  const translated = `(?a${flags})${new Translator(pattern).run()}`;
  try {
    checkPattern(translated);
  } catch (error) {
    throw new Error(`its pattern cannot be matched in one pass: ${(error as Error).message}`);
  }
  return translated;
}

function requireJavaScript(pattern: string): void {
  try {
    new RegExp(pattern); // compiled, never run
  } catch {
    throw new Error('not a JavaScript pattern; promptfoo fails it whatever the answer is');
  }
}

const PIECE =
  /\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[\s\S]|\(\?<(?![=!])|\{\d+(?:,\d*)?\}|\[\^?\]?|[\s\S]/gy;

class Translator {
  readonly #pieces: readonly string[];
  #isInClass = false;

  constructor(pattern: string) {
    this.#pieces = pattern.match(PIECE) ?? [];
  }

  run(): string {
    return this.#pieces.map((piece) => (this.#isInClass ? this.#inClass(piece) : this.#outside(piece))).join('');
  }

  #outside(piece: string): string {
    if (piece === '[]' || piece === '[^]') return piece === '[]' ? unusual(piece) : '[\\x00-\\U0010ffff]';
    if (piece === '[' || piece === '[^') {
      this.#isInClass = true;
      return piece;
    }
    if (piece === '.') return '[^\\n\\r\\u2028\\u2029]';
    if (piece === '$') return '\\Z';
    if (piece === '(?<') return '(?P<';
    if (piece === '{' || piece === '}') return `\\${piece}`;
    if (piece === '\\s' || piece === '\\S') return piece === '\\s' ? `[${SPACE}]` : `[^${SPACE}]`;
    return piece.startsWith('\\') ? escaped(piece, 'dDwWbB') : piece;
  }

  #inClass(piece: string): string {
    if (piece === ']') {
      this.#isInClass = false;
      return ']';
    }
    if (piece.length > 1 && !piece.startsWith('\\')) return Array.from(piece, (part) => this.#inClass(part)).join('');
    if (piece === '\\s' || piece === '\\S') return piece === '\\s' ? SPACE : NO_SPACE;
    if (piece.startsWith('\\')) return escaped(piece, 'dDwWb');
    return /[[&~|^]/.test(piece) ? `\\${piece}` : piece;
  }
}

/** An escape that means the same in both languages, or the plain character that it stands for. */
function escaped(piece: string, categories: string): string {
  const letter = piece.slice(1);
  if (/^(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})$/.test(letter) || `${categories}nrtvf`.includes(letter)) return piece;
  if (/^[\dcpPk]/.test(letter) && letter !== '0') return unusual(piece);
  if (letter === '0') return '\\x00';
  return /^[A-Za-z]$/.test(letter) ? letter : piece;
}

function unusual(piece: string): never {
  throw new Error(`${piece} in its pattern is not carried`);
}
