import type { Edit, RawPatch } from '../../core/skill/edit.ts';
import { findPoison } from '../../core/skill/poison/find-poison.ts';
import { quarantine } from '../../core/skill/poison/quarantine.ts';

export type QuarantinedText = { readonly content: string; readonly reason: string };

/** Reads everything that shall become part of a document; what is poison is kept apart, with the reason. */
export type Quarantine = {
  /** What analysts propose, without poison. */
  take(patches: readonly RawPatch[], skill: string): RawPatch[];
  /** The same for texts that came of merging and rewriting. */
  refuseText(text: string): string | undefined;
  list(): QuarantinedText[];
};

export function quarantining(): Quarantine {
  const found = new Map<string, QuarantinedText>();
  const note = (content: string, reason: string) => found.set(content, { content, reason });
  return {
    take: (patches, skill) =>
      patches.map((raw) => {
        const { kept, quarantined } = quarantine(raw.patch.edits as Edit[], skill);
        for (const { edit, reason } of quarantined) note(edit.content, reason);
        return { ...raw, patch: { ...raw.patch, edits: kept } };
      }),
    refuseText(text) {
      const poison = findPoison(text);
      if (poison) note(text, poison.reason);
      return poison && `quarantined: ${poison.reason}`;
    },
    list: () => [...found.values()],
  };
}
