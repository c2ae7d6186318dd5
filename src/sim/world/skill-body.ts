import { findRegions } from '../../core/skill/protected-regions.ts';

/** A skill without its frontmatter and its marked blocks: what a step may change. */
export function skillBody(skill: string): string {
  const regions = findRegions(skill).reverse();
  return regions.reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), skill).trim();
}
