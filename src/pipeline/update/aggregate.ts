import { chunk, dataSection, HEADINGS, skillSection } from '../../core/contracts/index.ts';
import {
  type EditPolicy,
  emptyPatch,
  isFullRewrite,
  type Patch,
  type RawPatch,
  type SourceType,
  type UpdateItem,
  type UpdateMode,
} from '../../core/document/index.ts';
import { ask } from '../ask/ask.ts';
import { modePrompt, policySections } from '../ask/prompts.ts';
import { type Memory, metaSections, noMemory } from '../epoch/memory.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';
import { patchSchema, toWirePatch } from './wire-patch.ts';

type MergeInput = {
  readonly skill: string;
  readonly mergeBatchSize: number;
  readonly mode?: UpdateMode;
  readonly policy?: EditPolicy | undefined;
  readonly memory?: Memory;
};

/** The patches of analysts who have read failures, or successes, as soon as these analysts are done. */
export type PatchGroup = (sourceType: SourceType) => Promise<readonly RawPatch[]>;

/** ③ Accumulate: failures and successes are merged side by side, level by level, then with each other, failures first. */
export function mergePatches(
  { patches, ...input }: MergeInput & { readonly patches: readonly RawPatch[] },
  deps: StageDeps,
): Promise<Patch> {
  return mergeByGroup(async (sourceType) => patches.filter((raw) => raw.sourceType === sourceType), input, deps);
}

/** The same, where a group does not wait for the analysts of the other one. */
export async function mergeByGroup(groupOf: PatchGroup, input: MergeInput, deps: StageDeps): Promise<Patch> {
  const merge = async (sourceType: SourceType) => mergeGroup(sourceType, await groupOf(sourceType), input, deps);
  const [failure, success] = await settleAll([merge('failure'), merge('success')]);
  if (success.patch.edits.length === 0) return failure.patch;
  if (failure.patch.edits.length === 0) return success.patch;
  return mergeFinal(input, [failure, success], deps);
}

async function mergeGroup(
  sourceType: SourceType,
  read: readonly RawPatch[],
  input: MergeInput,
  deps: StageDeps,
): Promise<RawPatch> {
  const mergeBatchSize = Math.max(2, input.mergeBatchSize); // merging one by one would never end
  let patches = read.filter((raw) => raw.patch.edits.length > 0);
  for (let level = 1; patches.length > 1; level++) {
    const groups = chunk(patches, mergeBatchSize);
    patches = await deps.limit.map(groups, (group) => mergeLevel(input, group, level, deps));
  }
  return patches[0] ?? { patch: emptyPatch, sourceType, batchSize: 0 };
}

async function mergeLevel(input: MergeInput, group: RawPatch[], level: number, deps: StageDeps): Promise<RawPatch> {
  const [first] = group;
  if (group.length === 1) return first!;
  const { sourceType } = first!;
  const list = patchSection(HEADINGS.patches, group, input, `${group.length}, level ${level}`);
  const base = sourceType === 'failure' ? 'merge_failure' : 'merge_success';
  const merged = await askToMerge(base, [list], input, deps);
  const edits = merged?.edits.map((edit) => ({ ...trace(edit, group), sourceType, mergeLevel: level }));
  const patch = merged && edits ? { ...merged, edits } : concatenate(group, level);
  return { patch, sourceType, batchSize: countRead(group) };
}

async function mergeFinal(input: MergeInput, both: [RawPatch, RawPatch], deps: StageDeps): Promise<Patch> {
  const [failure, success] = both;
  const lists = [
    patchSection(HEADINGS.failurePatch, [failure], input, 'high priority'),
    patchSection(HEADINGS.successPatch, [success], input),
  ];
  const merged = await deps.limit.run(() => askToMerge('merge_final', lists, input, deps));
  if (!merged) return { reasoning: 'Not merged: failures first, then successes.', edits: editsOf(both) };
  return { ...merged, edits: merged.edits.map((edit) => trace(edit, both)) };
}

function askToMerge(
  base: `merge_${'failure' | 'success' | 'final'}`,
  lists: readonly string[],
  input: MergeInput,
  deps: StageDeps,
) {
  const { skill, mode = 'patch', memory = noMemory, policy } = input;
  const user = [skillSection(skill), ...policySections(skill, policy), ...metaSections(memory), ...lists].join('\n\n');
  const maxOutputTokens = isFullRewrite(mode) ? deps.rewriteMaxCompletionTokens : undefined;
  const schema = patchSchema(mode, policy);
  return ask({ prompt: modePrompt(base, mode), stage: 'merge', user, schema, maxOutputTokens }, deps);
}

type PatchHeading = (typeof HEADINGS)['patches' | 'failurePatch' | 'successPatch'];

function patchSection(heading: PatchHeading, group: readonly RawPatch[], input: MergeInput, note?: string): string {
  const patches = group.map((raw) => toWirePatch(raw.patch, input.mode ?? 'patch'));
  return dataSection(heading, 'patches', JSON.stringify(patches, null, 2), note);
}

const editsOf = (group: readonly RawPatch[]) => group.flatMap((raw) => raw.patch.edits);
/** Trajectories that the analysts of a group have read: no edit can have more support. */
const countRead = (group: readonly RawPatch[]) => group.reduce((sum, raw) => sum + raw.batchSize, 0);

/** The fallback of a merge: every edit, in order. */
function concatenate(group: readonly RawPatch[], level: number): Patch {
  const edits = editsOf(group).map((edit) => ({ mergeLevel: level, ...edit }));
  return { reasoning: `Not merged: ${group.length} patches one after the other.`, edits };
}

/** An edit that was taken over word for word has the support of its originals. */
function trace(edit: UpdateItem, group: readonly RawPatch[]): UpdateItem {
  const twins = editsOf(group).filter(
    ({ op, content, target, file }) =>
      op === edit.op && content === edit.content && target === edit.target && file === edit.file,
  );
  const counted = twins.reduce((sum, twin) => sum + (twin.supportCount ?? 1), 0);
  const supportCount = Math.min(Math.max(counted || (edit.supportCount ?? 1), 1), countRead(group));
  const sourceType = twins.some((twin) => twin.sourceType === 'failure')
    ? 'failure'
    : (twins[0]?.sourceType ?? edit.sourceType);
  return { ...edit, supportCount, sourceType: sourceType ?? 'failure' };
}
