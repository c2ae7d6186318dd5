import { z } from 'zod';
import { dataSection, HEADINGS, indexedLine, skillSection } from '../../core/contracts/index.ts';
import { type Patch, type UpdateItem, type UpdateMode, withinBudget } from '../../core/document/index.ts';
import { ask } from '../ask/ask.ts';
import { modePrompt } from '../ask/prompts.ts';
import { type Memory, metaSections, noMemory } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { toWireItem } from './wire-patch.ts';

type SelectInput = {
  readonly skill: string;
  readonly patch: Patch;
  /** `null`: nothing is left out. */
  readonly editBudget: number | null;
  readonly mode?: UpdateMode;
  readonly memory?: Memory;
};

const Ranking = z.object({ reasoning: z.string().nullish(), selectedIndices: z.array(z.int().catch(-1)) });

/** ④ Clip: keep the changes that matter most and that `editBudget` pays for. What fits is not ranked, and nothing is asked. */
export async function rankAndSelect(input: SelectInput, deps: StageDeps): Promise<Patch> {
  const { patch, editBudget, mode = 'patch' } = input;
  if (editBudget === null || withinBudget(patch.edits, editBudget).length === patch.edits.length) return patch;
  if (editBudget <= 0) return { ...patch, edits: [] };
  const question = {
    prompt: modePrompt('ranking', mode),
    stage: 'ranking',
    user: writeQuestion(input),
    schema: Ranking,
  } as const;
  const ranking = await deps.limit.run(() => ask(question, deps));
  const ranked = usableIndices(ranking?.selectedIndices ?? [], patch.edits.length);
  const chosen = withinBudget(
    ranked.map((index) => ({ index, file: patch.edits[index]!.file })),
    editBudget,
  ).map(({ index }) => index);
  if (chosen.length === 0) return fallback(patch, editBudget);
  const rankingDetails = { selectedIndices: chosen, reasoning: ranking?.reasoning ?? '' };
  return { ...patch, edits: chosen.map((index) => patch.edits[index]!), rankingDetails };
}

function writeQuestion({ skill, patch, editBudget, mode = 'patch', memory = noMemory }: SelectInput): string {
  const kind = mode === 'patch' ? 'edits' : 'suggestions';
  const list = patch.edits.map((edit, index) => indexedLine(index, toWireItem(withoutLevel(edit))));
  return [
    skillSection(skill),
    ...metaSections(memory),
    dataSection(HEADINGS[kind], kind, list.join('\n'), `${patch.edits.length}, keep at most ${editBudget}`),
  ].join('\n\n');
}

/** How an edit came through the merges says nothing about its worth. */
const withoutLevel = ({ mergeLevel: _mergeLevel, ...edit }: UpdateItem): UpdateItem => edit;

/** Whole numbers in range, each once, in the order given. Anything else in the list is not an index. */
function usableIndices(indices: readonly unknown[], length: number): number[] {
  const valid = indices.filter(
    (index) => Number.isInteger(index) && (index as number) >= 0 && (index as number) < length,
  );
  return [...new Set(valid as number[])];
}

/** Without a ranking: failures first, then by support; equals keep their order. */
function fallback(patch: Patch, editBudget: number): Patch {
  const order = [...patch.edits].sort((a, b) => rank(a) - rank(b) || (b.supportCount ?? 0) - (a.supportCount ?? 0));
  return {
    ...patch,
    edits: withinBudget(order, editBudget),
    rankingDetails: { fallback: 'failure first, then support' },
  };
}

const rank = (edit: UpdateItem) => (edit.sourceType === 'success' ? 1 : 0);
