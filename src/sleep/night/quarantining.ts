import type { Edit, RawPatch } from '../../core/document/index.ts';
import { findPoison, quarantine } from '../../core/guard/index.ts';
import { memoize } from '../../core/text/index.ts';

export type QuarantinedText = { readonly content: string; readonly reason: string };

/** Reads everything that shall become part of a document; what is poison is kept apart, with the reason. */
export type Quarantine = {
  /** What analysts propose, without poison. */
  take(patches: readonly RawPatch[], skill: string): RawPatch[];
  /** The same for texts that came of merging and rewriting. */
  refuseText(text: string): string | undefined;
  list(): QuarantinedText[];
};

const KEPT = { maxEntries: 1_000 };

export function quarantining(): Quarantine {
  const found = new Map<string, QuarantinedText>();
  const note = (content: string, reason: string) => found.set(content, { content, reason });
  // Several analysts often propose the same, and what was merged comes by again.
  const read = memoize((key: string) => quarantine(...(JSON.parse(key) as [Edit[], string])), KEPT);
  const readText = memoize((text: string) => findPoison(text), KEPT);
  return {
    take: (patches, skill) =>
      patches.map((raw) => {
        const { kept, quarantined } = read(JSON.stringify([raw.patch.edits, skill]));
        for (const { edit, reason } of quarantined) note(edit.content, reason);
        return { ...raw, patch: { ...raw.patch, edits: kept } };
      }),
    refuseText(text) {
      const poison = readText(text);
      if (poison) note(text, poison.reason);
      return poison && `quarantined: ${poison.reason}`;
    },
    list: () => [...found.values()],
  };
}
