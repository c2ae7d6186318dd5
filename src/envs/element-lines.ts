const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:\n]|[^\s"[\]{},:]+/g;

/**
 * The line on which each element of a list begins, for text that is known to be JSON. `key` names the list when it
 * is an entry of an object; without it the text is the list. A parser that keeps positions would take seconds for
 * what this does in a moment.
 */
export function elementLines(text: string, key?: string): number[] {
  const listDepth = key === undefined ? 1 : 2;
  const lines: number[] = [];
  let [line, depth, previous] = [1, 0, ''];
  let entry: string | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') {
      line++;
      continue;
    }
    const isFirstToken = (previous === '[' || previous === ',') && token !== ']';
    if (isFirstToken && depth === listDepth && entry === key) lines.push(line);
    if (token === ':' && depth === 1) entry = JSON.parse(previous);
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    previous = token;
  }
  return lines;
}
