import { type Edit, emptyPatch, type Patch, type RawPatch, type SourceType } from '../core/edit.ts';
import { chunk } from '../core/random.ts';
import { toSnakeCase } from '../core/snake-case.ts';
import { ask } from './ask.ts';
import { fence } from './fence.ts';
import type { StageDeps } from './stage-deps.ts';
import { WirePatch } from './wire-patch.ts';

type AggregateInput = {
  readonly skill: string;
  readonly patches: readonly RawPatch[];
  readonly mergeBatchSize: number;
};

/** ③ Accumulate: failures and successes are merged side by side, level by level, then with each other, failures first. */
export async function mergePatches(input: AggregateInput, deps: StageDeps): Promise<Patch> {
  const groups = [mergeGroup('failure', input, deps), mergeGroup('success', input, deps)] as const;
  await Promise.allSettled(groups); // replies that are on their way get kept, also when the other group failed
  const [failure, success] = await Promise.all(groups);
  if (success.edits.length === 0) return failure;
  if (failure.edits.length === 0) return success;
  return mergeFinal(input.skill, failure, success, deps);
}

async function mergeGroup(sourceType: SourceType, input: AggregateInput, deps: StageDeps): Promise<Patch> {
  const members = input.patches.filter((raw) => raw.sourceType === sourceType && raw.patch.edits.length > 0);
  const batchSize = Math.max(2, input.mergeBatchSize); // merging one by one would never end
  let patches = members.map((raw) => raw.patch);
  for (let level = 1; patches.length > 1; level++) {
    const groups = chunk(patches, batchSize);
    patches = await deps.limit.map(groups, (group) => mergeLevel(input.skill, group, sourceType, level, deps));
  }
  return patches[0] ?? emptyPatch;
}

async function mergeLevel(
  skill: string,
  group: Patch[],
  sourceType: SourceType,
  level: number,
  deps: StageDeps,
): Promise<Patch> {
  if (group.length === 1) return group[0]!;
  const user = `${skillSection(skill)}\n\n## Patches to merge (${group.length}, level ${level})\n${patchList(group)}`;
  const prompt = sourceType === 'failure' ? 'merge_failure' : 'merge_success';
  const merged = await ask({ prompt, stage: 'merge', user, schema: WirePatch }, deps);
  const origin = group.flatMap((patch) => patch.edits);
  if (!merged) return concatenate(group, level);
  return { ...merged, edits: merged.edits.map((edit) => ({ ...trace(edit, origin), sourceType, mergeLevel: level })) };
}

async function mergeFinal(skill: string, failure: Patch, success: Patch, deps: StageDeps): Promise<Patch> {
  const user = [
    skillSection(skill),
    `## Failure patch (high priority)\n${patchList([failure])}`,
    `## Success patch\n${patchList([success])}`,
  ].join('\n\n');
  const merged = await deps.limit.run(() =>
    ask({ prompt: 'merge_final', stage: 'merge', user, schema: WirePatch }, deps),
  );
  const origin = [...failure.edits, ...success.edits];
  if (!merged) return { reasoning: 'Not merged: failures first, then successes.', edits: origin };
  return { ...merged, edits: merged.edits.map((edit) => trace(edit, origin)) };
}

const skillSection = (skill: string) => `## Current skill\n${fence('skill', skill)}`;
const patchList = (patches: readonly Patch[]) => fence('patches', JSON.stringify(toSnakeCase(patches), null, 2));

/** What is left of a merge that no reply described: every edit, in order. */
function concatenate(group: readonly Patch[], level: number): Patch {
  const edits = group.flatMap((patch) => patch.edits).map((edit) => ({ mergeLevel: level, ...edit }));
  return { reasoning: `Not merged: ${group.length} patches one after the other.`, edits };
}

/** Support is counted where it can be: an edit taken over word for word has the support of its originals. */
function trace(edit: Edit, origin: readonly Edit[]): Edit {
  const twins = origin.filter(
    (other) => other.op === edit.op && other.content === edit.content && other.target === edit.target,
  );
  const total = (edits: readonly Edit[]) => edits.reduce((sum, other) => sum + (other.supportCount ?? 1), 0);
  const claimed = Math.min(Math.max(edit.supportCount ?? 1, 1), total(origin));
  const sourceType = twins.some((twin) => twin.sourceType === 'failure')
    ? 'failure'
    : (twins[0]?.sourceType ?? edit.sourceType);
  return { ...edit, supportCount: twins.length > 0 ? total(twins) : claimed, sourceType: sourceType ?? 'failure' };
}
