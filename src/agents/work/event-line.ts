/** The JSON value that a line is; `undefined` for anything else. */
export function parseLine(line: string): unknown {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What a tool gave back, as text: a text, a list of parts that have one, or anything else as JSON. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  if (typeof content === 'object' && 'text' in content && typeof content.text === 'string') return content.text;
  return JSON.stringify(content);
}
