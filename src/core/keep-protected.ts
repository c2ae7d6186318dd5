import { findRegions, withoutMarkers } from './protected-regions.ts';
import { strip } from './python-text.ts';

/**
 * A rewritten body inside what no rewrite may touch: the frontmatter and the marked blocks of `skill` stay byte for byte,
 * and whatever the rewriter put in their place is dropped. `undefined` when no body is left.
 */
export function keepProtected(skill: string, rewritten: string): string | undefined {
  const body = bodyOf(rewritten);
  if (body === '') return undefined;
  const regions = findRegions(skill).map(({ kind, start, end }) => ({ kind, text: skill.slice(start, end) }));
  const frontmatter = regions.filter(({ kind }) => kind === 'frontmatter').map(({ text }) => text);
  const blocks = regions.filter(({ kind }) => kind !== 'frontmatter').map(({ text }) => text);
  return `${[...frontmatter, body, ...blocks].join('\n\n')}\n`;
}

/** Until nothing protected is left: what stands around a block may be the two halves of another. */
function bodyOf(text: string): string {
  const body = strip(withoutMarkers(withoutRegions(text)));
  return body === text ? body : bodyOf(body);
}

function withoutRegions(text: string): string {
  let [body, from] = ['', 0];
  for (const { start, end } of findRegions(text)) {
    body += text.slice(from, Math.max(from, start)); // blocks of two kinds may overlap
    from = Math.max(from, end);
  }
  return body + text.slice(from);
}
