/** Which of these skills' SKILL.md a text names, by a path that ends in it. CLIs shorten such paths in several ways. */
export function skillsReadIn(text: string, names: readonly string[]): string[] {
  const found = [...text.matchAll(/(?<![\w.-])([a-z0-9][a-z0-9-]{0,63})[\\/]SKILL\.md(?![\w.-])/gi)];
  const read = new Set(found.map(([, name]) => name));
  return names.filter((name) => read.has(name));
}
