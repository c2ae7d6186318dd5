/** How an object begins that is not empty. Braces of code mostly do not. */
const START = /\{\s*"/g;

/** Beginnings that may come to nothing. A model that repeats itself to its limit writes thousands, each read to the end. */
const MAX_FALSE_STARTS = 200;
/** And all of them together, in characters. */
const MAX_READ = 8_000_000;

/** Every JSON object with a key that stands in a text, in order. What is inside one of them is a part of it. */
export function jsonObjects(text: string): unknown[] {
  const found: unknown[] = [];
  let [falseStarts, read] = [0, 0];
  let behind = 0;
  for (const { index } of text.matchAll(START)) {
    if (index < behind) continue;
    const end = endOfObject(text, index);
    read += (end ?? text.length) - index;
    const value = end === undefined ? undefined : parse(text.slice(index, end));
    if (value !== undefined) found.push(value);
    else if (++falseStarts > MAX_FALSE_STARTS || read > MAX_READ) return []; // it is not known what else the text says
    behind = value === undefined ? behind : end!;
  }
  return found;
}

/** Just behind the brace that closes the one at `start`. Braces in strings do not count. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && character === '{') depth++;
    else if (!isInString && character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
