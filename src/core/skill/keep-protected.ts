import { strip } from '../text/python-text.ts';
import { findRegions, frontmatterEnd, withoutMarkers } from './protected-regions.ts';

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

/** Until nothing protected is left: below one frontmatter there may be another. Blocks are gone with their markers. */
function bodyOf(text: string): string {
  let body = strip(withoutMarkers(withoutRegions(text)));
  for (let end = frontmatterEnd(body); end > 0; end = frontmatterEnd(body)) body = strip(body.slice(end));
  return body;
}

function withoutRegions(text: string): string {
  let [body, from] = ['', 0];
  for (const { start, end } of findRegions(text)) {
    body += text.slice(from, Math.max(from, start)); // blocks of two kinds may overlap
    from = Math.max(from, end);
  }
  return body + text.slice(from);
}
