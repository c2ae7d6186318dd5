import { applyPatch } from '../apply-edit.ts';
import type { Edit } from '../edit.ts';
import { findPoison, type Poison } from './find-poison.ts';

type Quarantined = Poison & { readonly edit: Edit };

/**
 * The edits that may be staged, in their order, and those that may not, with the reason. Each is read by itself; then the text
 * that they make together, since a payload may be spread over several: then every edit goes that it cannot do without, for
 * which of them does the harm is not known.
 */
export function quarantine(edits: readonly Edit[], document: string): { kept: Edit[]; quarantined: Quarantined[] } {
  const quarantined: Quarantined[] = [];
  let kept = edits.filter((edit) => {
    const poison = edit.op === 'delete' ? undefined : findPoison(edit.content);
    if (poison) quarantined.push({ edit, ...poison });
    return poison === undefined;
  });
  for (let poison = findTogether(kept, document); poison; poison = findTogether(kept, document)) {
    const parts = new Set(partsOfPoison(kept, document));
    const reason = `together with other edits: ${poison.reason}`;
    for (const edit of parts) quarantined.push({ edit, kind: poison.kind, reason });
    kept = kept.filter((edit) => !parts.has(edit));
  }
  return { kept, quarantined };
}

/** The fewest of the edits that are still poison together: halves are left out, then quarters, down to single ones. */
function partsOfPoison(edits: readonly Edit[], document: string): readonly Edit[] {
  let parts = edits;
  for (let size = Math.ceil(parts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < parts.length; ) {
      const rest = [...parts.slice(0, at), ...parts.slice(at + size)];
      if (rest.length > 0 && findTogether(rest, document)) parts = rest;
      else at += size;
    }
  }
  return parts;
}

/** Read one after the other, as they were proposed, and in their places in the document. */
function findTogether(edits: readonly Edit[], document: string): Poison | undefined {
  const contents = edits.flatMap(({ op, content }) => (op === 'delete' ? [] : [content]));
  return (
    findPoison(contents.join('\n\n'), { before: '' }) ??
    findPoison(applyPatch(document, { edits }), { before: document })
  );
}
