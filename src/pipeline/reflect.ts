import type { Edit, RawPatch, SourceType } from '../core/edit.ts';
import { chunk, shuffle } from '../core/random.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import { ask } from './ask.ts';
import { fence } from './fence.ts';
import type { StageDeps } from './stage-deps.ts';
import { isFailure, renderTrajectory } from './trajectory.ts';
import { AnalystReply } from './wire-patch.ts';

type ReflectInput = {
  readonly skill: string;
  readonly results: readonly RolloutResult[];
  readonly minibatchSize: number;
  /** Most edits that one analyst may propose: the step's budget. */
  readonly editBudget: number;
  readonly seed: number;
  readonly failureOnly?: boolean;
};

type Minibatch = { readonly sourceType: SourceType; readonly results: readonly RolloutResult[] };

/** ② Backward pass: analysts read minibatches of failures and of successes, and each proposes a patch. */
export async function runMinibatchReflect(input: ReflectInput, deps: StageDeps): Promise<RawPatch[]> {
  let done = 0;
  const minibatches = toMinibatches(input);
  const patches = await deps.limit.map(minibatches, async (minibatch) => {
    const patch = await analyse(minibatch, input, deps);
    deps.onProgress(++done, minibatches.length);
    return patch;
  });
  return patches.filter((patch) => patch.patch.edits.length > 0);
}

/** A function of the results and the seed alone. What errored is nobody's lesson. */
function toMinibatches({ results, minibatchSize, seed, failureOnly = false }: ReflectInput): Minibatch[] {
  const scored = results.filter((result) => !result.errored);
  const group = (sourceType: SourceType, groupSeed: number) => {
    const members = scored.filter((result) => isFailure(result) === (sourceType === 'failure'));
    return chunk(shuffle(members, groupSeed), minibatchSize).map((minibatch) => ({ sourceType, results: minibatch }));
  };
  return [...group('failure', seed), ...(failureOnly ? [] : group('success', seed + 1))];
}

async function analyse(
  { sourceType, results }: Minibatch,
  { skill, editBudget }: ReflectInput,
  deps: StageDeps,
): Promise<RawPatch> {
  const outcome = sourceType === 'failure' ? 'failed' : 'succeeded';
  const user = [
    `## Current skill\n${fence('skill', skill)}`,
    `## Edit budget\nAt most ${editBudget} edit${editBudget === 1 ? '' : 's'}.`,
    `## Trajectories (${results.length} ${outcome})\n${results.map(renderTrajectory).join('\n\n')}`,
  ].join('\n\n');
  const prompt = sourceType === 'failure' ? 'analyst_error' : 'analyst_success';
  const reply = await ask({ prompt, stage: 'analyst', user, schema: AnalystReply }, deps);
  const { edits, reasoning } = reply?.patch ?? { edits: [], reasoning: '' };
  const sourced = edits.slice(0, editBudget).map((edit) => withProvenance(edit, sourceType, results.length));
  return { patch: { reasoning, edits: sourced }, sourceType, batchSize: results.length };
}

/** An analyst cannot have seen more support than the trajectories it read. */
function withProvenance(edit: Edit, sourceType: SourceType, batchSize: number): Edit {
  return { ...edit, sourceType, supportCount: Math.min(Math.max(edit.supportCount ?? batchSize, 1), batchSize) };
}
