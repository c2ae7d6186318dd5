/// <reference lib="es2024.string" />
// Node has `isWellFormed` since 20, and it is far faster than a regular expression.

const MARK = '\u0001';

/**
 * Text that a database gives back as it was. SQLite would cut it at a NUL and mend half a surrogate pair,
 * and a resumed run would read another reply than the first one did. Such text, which is rare, is kept as JSON behind a mark.
 */
export function toStorable(text: string): string {
  const isSafe = !text.startsWith(MARK) && !text.includes('\0') && text.isWellFormed();
  return isSafe ? text : MARK + JSON.stringify(text);
}

export function fromStorable(stored: string): string {
  return stored.startsWith(MARK) ? JSON.parse(stored.slice(MARK.length)) : stored;
}
