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

/** Which of these skills' SKILL.md a text names, by a path that ends in it. CLIs shorten such paths in several ways. */
export function skillsReadIn(text: string, names: readonly string[]): string[] {
  const found = [...text.matchAll(/(?<![\w.-])([a-z0-9][a-z0-9-]{0,63})[\\/]SKILL\.md(?![\w.-])/gi)];
  const read = new Set(found.map(([, name]) => name));
  return names.filter((name) => read.has(name));
}
