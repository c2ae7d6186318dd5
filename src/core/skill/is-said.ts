/** Whether a text says something already: all of its lines, whatever their bullets, spaces, capitals and full stops. */
export function isSaidIn(text: string, content: string): boolean {
  const wanted = linesOf(content);
  if (wanted.length === 0) return false;
  const lines = new Set(linesOf(text));
  return wanted.every((line) => lines.has(line));
}

/** Headings, tables and fences give shape to what follows, and may well come again. */
const isSentence = (line: string) => !/^\s*(#|\||```|~~~|<)/.test(line) && plain(line).length >= 12;

/** The content less the sentences that the text says already. */
export function newLinesOf(text: string, content: string): string {
  const lines = new Set(linesOf(text));
  const isKnown = (line: string) => isSentence(line) && lines.has(plain(line));
  if (content.includes('```')) return content;
  const proposed = content.split('\n');
  const known = new Set([...new Set(proposed)].filter(isKnown)); // each looked at once: a text may repeat one line
  return proposed.filter((line) => !known.has(line)).join('\n');
}

/** Each once: a text may be one line again and again. */
function linesOf(text: string): string[] {
  return [...new Set(text.split('\n'))].map(plain).filter((line) => line !== '');
}

const plain = (line: string) =>
  line
    .replace(/^[\s>]*(?:[-*+•]|\d{1,3}[.)])?\s+/, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<![.!;:,])[.!;:,]+$/, '')
    .toLowerCase();
