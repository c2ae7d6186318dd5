/** Text that step edits may not touch. Each pair of markers is owned by one part of the optimizer. */
export const MARKERS = {
  slowUpdate: { start: '<!-- SLOW_UPDATE_START -->', end: '<!-- SLOW_UPDATE_END -->' },
  appendix: { start: '<!-- APPENDIX_START -->', end: '<!-- APPENDIX_END -->' },
  learned: { start: '<!-- SKILLOPT_SLEEP_START -->', end: '<!-- SKILLOPT_SLEEP_END -->' },
} as const;

export type Region = {
  readonly kind: 'frontmatter' | keyof typeof MARKERS;
  readonly start: number;
  readonly end: number;
};

const FRONTMATTER_START = /^---[ \t]*\r?\n/;
const FRONTMATTER_END = /(?<![^\n])---(?=[ \t]*(?:\r?\n|$))/;
const EVERY_MARKER = Object.values(MARKERS).flatMap(({ start, end }) => [start, end]);

const MARKER_TEXTS: ReadonlySet<string> = new Set(Object.values(MARKERS).flatMap(({ start, end }) => [start, end]));

export const isMarker = (text: string) => MARKER_TEXTS.has(text);
export const hasMarker = (text: string) => [...MARKER_TEXTS].some((marker) => text.includes(marker));

/** Every protected region in order of appearance: the YAML frontmatter, and each marked block with its markers. */
export function findRegions(skill: string): Region[] {
  const end = frontmatterEnd(skill);
  const regions: Region[] = end > 0 ? [{ kind: 'frontmatter', start: 0, end }] : [];
  for (const kind of Object.keys(MARKERS) as (keyof typeof MARKERS)[]) regions.push(...findBlocks(skill, kind));
  return regions.sort((a, b) => a.start - b.start);
}

/** Just behind the marks that close the frontmatter; 0 without any. */
export function frontmatterEnd(skill: string): number {
  const start = skill.match(FRONTMATTER_START)?.[0].length;
  const length = start === undefined ? -1 : skill.slice(start).search(FRONTMATTER_END);
  return length === -1 ? 0 : start! + length + '---'.length;
}

function findBlocks(skill: string, kind: keyof typeof MARKERS): Region[] {
  const { start: open, end: close } = MARKERS[kind];
  const blocks: Region[] = [];
  for (let from = 0; ; ) {
    const start = skill.indexOf(open, from);
    if (start === -1) return blocks;
    const closing = skill.indexOf(close, start);
    const end = closing === -1 ? skill.length : closing + close.length; // an unclosed block protects the rest
    blocks.push({ kind, start, end });
    from = end;
  }
}

/** The protected text, for checking that an edit left all of it alone. */
export function protectedText(skill: string): string[] {
  return findRegions(skill).map(({ kind, start, end }) => `${kind}:${skill.slice(start, end)}`);
}

/** Content with every marker taken out, also those that only appear once another is gone. */
export function withoutMarkers(content: string): string {
  if (!EVERY_MARKER.some((marker) => content.includes(marker))) return content;
  const kept: string[] = []; // one by one, so that a text with markers in markers is read once
  for (const character of content) {
    kept.push(character);
    if (character === '>') dropMarker(kept);
  }
  return kept.join('');
}

function dropMarker(kept: string[]): void {
  if (kept.at(-2) !== '-') return;
  const ending = kept.slice(-LONGEST_MARKER).join('');
  const marker = EVERY_MARKER.find((one) => ending.endsWith(one));
  if (marker !== undefined) kept.length -= marker.length;
}

const LONGEST_MARKER = Math.max(...EVERY_MARKER.map(({ length }) => length));
