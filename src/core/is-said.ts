/** Whether a text says something already: all of its lines, whatever their bullets, spaces, capitals and full stops. */
export function isSaidIn(text: string, content: string): boolean {
  const wanted = linesOf(content);
  if (wanted.length === 0) return false;
  const lines = new Set(linesOf(text));
  return wanted.every((line) => lines.has(line));
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map(plain)
    .filter((line) => line !== '');
}

const plain = (line: string) =>
  line
    .replace(/^[\s>]*(?:[-*+•]|\d{1,3}[.)])?\s+/, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!;:,]+$/, '')
    .toLowerCase();
