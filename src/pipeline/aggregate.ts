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
  if (success.patch.edits.length === 0) return failure.patch;
  if (failure.patch.edits.length === 0) return success.patch;
  return mergeFinal(input.skill, [failure, success], deps);
}

async function mergeGroup(sourceType: SourceType, input: AggregateInput, deps: StageDeps): Promise<RawPatch> {
  const mergeBatchSize = Math.max(2, input.mergeBatchSize); // merging one by one would never end
  let patches = input.patches.filter((raw) => raw.sourceType === sourceType && raw.patch.edits.length > 0);
  for (let level = 1; patches.length > 1; level++) {
    const groups = chunk(patches, mergeBatchSize);
    patches = await deps.limit.map(groups, (group) => mergeLevel(input.skill, group, level, deps));
  }
  return patches[0] ?? { patch: emptyPatch, sourceType, batchSize: 0 };
}

async function mergeLevel(skill: string, group: RawPatch[], level: number, deps: StageDeps): Promise<RawPatch> {
  const [first] = group;
  if (group.length === 1) return first!;
  const { sourceType } = first!;
  const user = `${skillSection(skill)}\n\n## Patches to merge (${group.length}, level ${level})\n${patchList(group)}`;
  const prompt = sourceType === 'failure' ? 'merge_failure' : 'merge_success';
  const merged = await ask({ prompt, stage: 'merge', user, schema: WirePatch }, deps);
  const edits = merged?.edits.map((edit) => ({ ...trace(edit, group), sourceType, mergeLevel: level }));
  const patch = merged && edits ? { ...merged, edits } : concatenate(group, level);
  return { patch, sourceType, batchSize: countRead(group) };
}

async function mergeFinal(skill: string, [failure, success]: [RawPatch, RawPatch], deps: StageDeps): Promise<Patch> {
  const user = [
    skillSection(skill),
    `## Failure patch (high priority)\n${patchList([failure])}`,
    `## Success patch\n${patchList([success])}`,
  ].join('\n\n');
  const merged = await deps.limit.run(() =>
    ask({ prompt: 'merge_final', stage: 'merge', user, schema: WirePatch }, deps),
  );
  const both = [failure, success];
  if (!merged) return { reasoning: 'Not merged: failures first, then successes.', edits: editsOf(both) };
  return { ...merged, edits: merged.edits.map((edit) => trace(edit, both)) };
}

const skillSection = (skill: string) => `## Current skill\n${fence('skill', skill)}`;
const patchList = (group: readonly RawPatch[]) =>
  fence('patches', JSON.stringify(toSnakeCase(group.map((raw) => raw.patch)), null, 2));
const editsOf = (group: readonly RawPatch[]) => group.flatMap((raw) => raw.patch.edits);
/** How many trajectories the analysts behind a group have read: nothing can have more support. */
const countRead = (group: readonly RawPatch[]) => group.reduce((sum, raw) => sum + raw.batchSize, 0);

/** What is left of a merge that no reply described: every edit, in order. */
function concatenate(group: readonly RawPatch[], level: number): Patch {
  const edits = editsOf(group).map((edit) => ({ mergeLevel: level, ...edit }));
  return { reasoning: `Not merged: ${group.length} patches one after the other.`, edits };
}

/** Support is counted where it can be: an edit taken over word for word has the support of its originals. */
function trace(edit: Edit, group: readonly RawPatch[]): Edit {
  const twins = editsOf(group).filter(
    (other) => other.op === edit.op && other.content === edit.content && other.target === edit.target,
  );
  const counted = twins.reduce((sum, twin) => sum + (twin.supportCount ?? 1), 0);
  const supportCount = Math.min(Math.max(counted || (edit.supportCount ?? 1), 1), countRead(group));
  const sourceType = twins.some((twin) => twin.sourceType === 'failure')
    ? 'failure'
    : (twins[0]?.sourceType ?? edit.sourceType);
  return { ...edit, supportCount, sourceType: sourceType ?? 'failure' };
}
