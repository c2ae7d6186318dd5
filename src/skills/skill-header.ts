import { parseFrontmatter } from './parse-frontmatter.ts';

/** What agents are told of a skill before they load it; absent where the frontmatter does not say it. */
export type SkillHeader = { readonly name?: string; readonly description?: string };

export function skillHeader(text: string): SkillHeader {
  const { fields = [] } = parseFrontmatter(text);
  const textOf = (key: string) => {
    const value = fields.find((field) => field.key === key)?.value;
    return value?.kind === 'text' && value.text.trim() !== '' ? { [key]: value.text.trim() } : {};
  };
  return { ...textOf('name'), ...textOf('description') };
}
