import { z } from 'zod';
import { mergeNotes, readNotes, writeNotes } from '../core/appendix.ts';
import { ask } from './ask.ts';
import { fence } from './fence.ts';
import type { StageDeps } from './stage-deps.ts';

type NotesInput = {
  readonly skill: string;
  readonly notes: readonly string[];
  /** More notes than this are merged into fewer; 0 is never. */
  readonly consolidateThreshold: number;
};

export type Noted = {
  readonly skill: string;
  readonly notes: { readonly added: number; readonly total: number; readonly consolidated: boolean };
};

const Reply = z.object({ notes: z.array(z.string()) });

/** The skill with new reminders in its appendix, each said once, and few enough to be read. */
export async function addNotes(input: NotesInput, deps: StageDeps): Promise<Noted> {
  const { skill, consolidateThreshold } = input;
  const known = readNotes(skill);
  const all = mergeNotes(known, input.notes);
  const isLong = consolidateThreshold > 0 && all.length > consolidateThreshold && all.length > known.length;
  const fewer = isLong ? await consolidate(skill, all, deps) : undefined;
  const added = all.length - known.length;
  const total = fewer ?? all;
  return {
    skill: added === 0 ? skill : writeNotes(skill, total),
    notes: { added, total: total.length, consolidated: fewer !== undefined },
  };
}

/** Fewer notes that say the same, or `undefined` when the answer is not that. */
async function consolidate(skill: string, notes: readonly string[], deps: StageDeps): Promise<string[] | undefined> {
  const list = notes.map((note) => `- ${note}`).join('\n');
  const user = `## Current skill\n${fence('skill', skill)}\n\n## Notes (${notes.length})\n${fence('notes', list)}`;
  const question = { prompt: 'appendix_consolidate', stage: 'appendix_consolidate', user, schema: Reply } as const;
  const reply = await deps.limit.run(() => ask(question, deps));
  const fewer = mergeNotes([], reply?.notes ?? []);
  return fewer.length > 0 && fewer.length < notes.length ? fewer : undefined;
}
