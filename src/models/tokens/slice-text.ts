/**
 * `text` in slices of at most `maxLength` characters. A tokenizer takes time that grows with the square of a word, and
 * fifty thousand equal letters are one word. Cut before a space, where a token begins anyway; in a word only if the
 * slice has no space, which makes a token or two more than there are.
 */
export function sliceText(text: string, maxLength = 500): string[] {
  const slices: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfSlice(text, start, maxLength);
    slices.push(text.slice(start, end));
    start = end;
  }
  return slices;
}

function endOfSlice(text: string, start: number, maxLength: number): number {
  const most = start + maxLength;
  if (most >= text.length) return text.length;
  const space = text.slice(start, most + 1).lastIndexOf(' '); // not in the whole text, which may have none
  if (space > 0) return start + space;
  return isInsidePair(text, most) ? most - 1 : most;
}

function isInsidePair(text: string, index: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[index - 1]!) && /[\uDC00-\uDFFF]/.test(text[index]!);
}
