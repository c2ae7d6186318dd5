const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:\n]|[^\s"[\]{},:]+/g;

type Place = { readonly token: string; readonly previous: string; readonly line: number; readonly depth: number };

/** The pieces of a text that is known to be JSON. A parser that keeps positions would take seconds for what this does in a moment. */
function* pieces(text: string): Generator<Place> {
  let [line, depth, previous] = [1, 0, ''];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') {
      line++;
      continue;
    }
    yield { token, previous, line, depth };
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    previous = token;
  }
}

/** The line on which each element of a list begins. `key` names the list when it is an entry of an object. */
export function elementLines(text: string, key?: string): number[] {
  const listDepth = key === undefined ? 1 : 2;
  const lines: number[] = [];
  let entry: string | undefined;
  for (const { token, previous, line, depth } of pieces(text)) {
    const isFirstToken = (previous === '[' || previous === ',') && token !== ']';
    if (isFirstToken && depth === listDepth && entry === key) lines.push(line);
    if (token === ':' && depth === 1) entry = JSON.parse(previous);
  }
  return lines;
}

/** The keys of an object in the order of the text, which is not the object's own if they are numbers, and their lines. */
export function entryLines(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  let keyLine = 1;
  for (const { token, previous, line, depth } of pieces(text)) {
    if (token === ':' && depth === 1 && !lines.has(JSON.parse(previous))) lines.set(JSON.parse(previous), keyLine);
    keyLine = line;
  }
  return lines;
}
