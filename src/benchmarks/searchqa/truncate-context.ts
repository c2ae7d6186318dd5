const MARKER = '[DOC]';
const CUT = '\n...[truncated]';

/**
 * A context of at most `maxChars` code points: whole documents from the beginning, as many as fit. If not even the first one
 * fits, the context is cut off with a note.
 */
export function truncateContext(context: string, maxChars: number): string {
  if (context.length <= maxChars || lengthOf(context) <= maxChars) return context;
  const [first = '', ...rest] = context.split(MARKER);
  const documents = first.trim() === '' ? rest : [first, ...rest]; // a marker at the beginning ends no document
  let kept = '';
  for (const document of documents) {
    const longer = kept === '' ? document : `${kept}${MARKER}${document}`;
    if (lengthOf(longer) > maxChars) break;
    kept = longer;
  }
  return kept === '' ? `${[...context].slice(0, maxChars).join('')}${CUT}` : kept;
}

const lengthOf = (text: string) => [...text].length;
