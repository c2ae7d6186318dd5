export type Link = { readonly path: string; readonly line: number };

/** The target of a link or an image, up to a title or the closing parenthesis. */
const INLINE = /\]\(\s*(<[^<>]*>|[^\s()<]+(?:\([^\s()]*\)[^\s()]*)*)(?=[\s)])/g;
/** `[name]: target`, but no footnote. */
const DEFINITION = /^ {0,3}\[(?!\^)[^\]]+\]:\s*(<[^<>]*>|\S+)/;
/** Of any indentation, since lists indent their code; marks on one line with more backticks are code in the text. */
const FENCE = /^\s*(`{3,}(?!.*`)|~{3,})(.*)$/;
const CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;
/** An address, a path from the root, or a place in this document. */
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|[/\\#?]|$)/i;

/** The paths that a Markdown text links to relative to itself, without those in code. */
export function relativeLinks(markdown: string): Link[] {
  const lines = linesOutsideFences(markdown).filter(({ text }) => text.includes('](') || text.includes(']:'));
  return lines.flatMap(({ text, line }) =>
    targetsIn(text.replace(CODE, '')).flatMap((target) => {
      const link = target.replace(/^<|>$/g, '');
      return ELSEWHERE.test(link) ? [] : [{ path: decoded(link.replace(/[?#].*$/, '')), line }];
    }),
  );
}

function targetsIn(line: string): string[] {
  const definition = line.match(DEFINITION);
  return [...(definition ? [definition] : []), ...line.matchAll(INLINE)].map(([, target]) => target!);
}

/** One for all: a text may be a million empty lines. */
const NOTHING: never[] = [];

function linesOutsideFences(markdown: string): { text: string; line: number }[] {
  let fence = '';
  return markdown.split(/\r?\n/).flatMap((text, index) => {
    if (text === '') return NOTHING;
    const mayBeFence = text.includes('```') || text.includes('~~~');
    const [, marks = '', words = ''] = (mayBeFence && text.match(FENCE)) || [];
    const isInside = fence !== '';
    if (!isInside) fence = marks;
    else if (marks.startsWith(fence) && words.trim() === '') fence = '';
    return isInside || marks ? [] : [{ text, line: index + 1 }];
  });
}

/** What cannot be decoded is meant as it stands. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
