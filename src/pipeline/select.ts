import { z } from 'zod';
import type { Edit, Patch } from '../core/edit.ts';
import { toSnakeCase } from '../core/snake-case.ts';
import { ask } from './ask.ts';
import { fence } from './fence.ts';
import type { StageDeps } from './stage-deps.ts';

type SelectInput = { readonly skill: string; readonly patch: Patch; readonly editBudget: number };

const Ranking = z.object({ reasoning: z.string().nullish(), selectedIndices: z.array(z.int().catch(-1)) });

/** ④ Clip: keep the `editBudget` edits that matter most. What fits is not ranked, and nothing is asked. */
export async function rankAndSelect({ skill, patch, editBudget }: SelectInput, deps: StageDeps): Promise<Patch> {
  if (patch.edits.length <= editBudget) return patch;
  if (editBudget <= 0) return { ...patch, edits: [] };
  const user = [
    `## Current skill\n${fence('skill', skill)}`,
    `## Edits (${patch.edits.length}, keep at most ${editBudget})\n${fence('edits', patch.edits.map(renderEdit).join('\n'))}`,
  ].join('\n\n');
  const ranking = await deps.limit.run(() => ask({ prompt: 'ranking', stage: 'ranking', user, schema: Ranking }, deps));
  const chosen = usableIndices(ranking?.selectedIndices ?? [], patch.edits.length).slice(0, editBudget);
  if (chosen.length === 0) return fallback(patch, editBudget);
  const rankingDetails = { selectedIndices: chosen, reasoning: ranking?.reasoning ?? '' };
  return { ...patch, edits: chosen.map((index) => patch.edits[index]!), rankingDetails };
}

const renderEdit = ({ op, target, content, supportCount, sourceType }: Edit, index: number) =>
  `[${index}] ${JSON.stringify(toSnakeCase({ op, target, content, supportCount, sourceType }))}`;

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
  return { ...patch, edits: order.slice(0, editBudget), rankingDetails: { fallback: 'failure first, then support' } };
}

const rank = (edit: Edit) => (edit.sourceType === 'success' ? 1 : 0);
