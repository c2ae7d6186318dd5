import { z } from 'zod';
import { dataSection, HEADINGS, skillSection } from '../../core/contracts/index.ts';
import { findNewHidden, mergeNotes, readNotes, withoutMarkers, writeNotes } from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import type { Refusal } from '../../core/run/index.ts';
import { ask } from '../ask/ask.ts';
import type { StageDeps } from '../stage-deps.ts';

type NotesInput = {
  readonly skill: string;
  readonly notes: readonly string[];
  /** More notes than this are merged into fewer; 0 is never. */
  readonly consolidateThreshold: number;
  readonly readForLeaks: LeakCritic;
};

/** How many reminders came and stand; of those that hide something and were left out, if there are any. */
type NoteCounts = {
  readonly added: number;
  readonly total: number;
  readonly consolidated: boolean;
  readonly hidden?: number;
};

export type Noted = {
  readonly skill: string;
  readonly notes: NoteCounts;
  /** Reminders that give held-out tasks away: they are left out. */
  readonly refused: readonly Refusal[];
};

const Reply = z.object({ notes: z.array(z.string()) });

/** The skill with new reminders in its appendix, each said once, and few enough to be read. */
export async function addNotes(input: NotesInput, deps: StageDeps): Promise<Noted> {
  const { skill, consolidateThreshold, readForLeaks } = input;
  const known = readNotes(skill);
  const offered = mergeNotes([], input.notes);
  const said = offered.filter(isVisible);
  const refused = refusalsOf(said, readForLeaks);
  const leaking = new Set(refused.map(({ content }) => content));
  const all = mergeNotes(
    known,
    said.filter((note) => !leaking.has(note)),
  );
  const isLong = consolidateThreshold > 0 && all.length > consolidateThreshold && all.length > known.length;
  const fewer = isLong ? await consolidate(skill, all, deps) : undefined;
  // A consolidation that leaks is as good as none: without its leak it would not say what it was made from.
  const refusedLater = refusalsOf(fewer ?? [], readForLeaks);
  const consolidated = fewer !== undefined && refusedLater.length === 0;
  const total = consolidated ? fewer : all;
  const added = all.length - known.length;
  return {
    skill: added === 0 ? skill : writeNotes(skill, total),
    notes: { added, total: total.length, consolidated, ...hiddenOf(offered.length - said.length) },
    refused: [...refused, ...refusedLater],
  };
}

function refusalsOf(notes: readonly string[], readForLeaks: LeakCritic): Refusal[] {
  return notes.flatMap((content) => {
    const { reason, kind } = readForLeaks(content);
    if (reason === undefined) return [];
    return [{ op: 'remind', target: '', content, reason, ...(kind === undefined ? {} : { kind }) }];
  });
}

const isVisible = (note: string) => findNewHidden('', withoutMarkers(note)) === undefined;
const hiddenOf = (hidden: number) => (hidden > 0 ? { hidden } : {});

/** Fewer notes that say the same, or `undefined` when the answer is not that. */
async function consolidate(skill: string, notes: readonly string[], deps: StageDeps): Promise<string[] | undefined> {
  const list = notes.map((note) => `- ${note}`).join('\n');
  const user = [skillSection(skill), dataSection(HEADINGS.notes, 'notes', list, `${notes.length}`)].join('\n\n');
  const question = { prompt: 'appendix_consolidate', stage: 'appendix_consolidate', user, schema: Reply } as const;
  const reply = await deps.limit.run(() => ask(question, deps));
  const fewer = mergeNotes([], reply?.notes ?? []);
  const isUsable = fewer.length > 0 && fewer.length < notes.length && fewer.every(isVisible);
  return isUsable ? fewer : undefined;
}
