import { knowsNoise } from '../../core/contracts/index.ts';
import { type Patch, partOf, policyOf, trainsPackage } from '../../core/document/index.ts';
import {
  isAccepted,
  keptEdits,
  type RunState,
  removalKey,
  type StepAction,
  type StepRecord,
} from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { judgeSkill, type StageDeps, salvagePatch, withoutPassageIn } from '../../pipeline/index.ts';
import { rolloutsLeft } from '../budget/rollouts-left.ts';
import type { Step } from '../plan.ts';
import type { Run } from '../run.ts';
import { unusableBeside } from './guard-edits.ts';

type Rejected = {
  readonly step: number;
  readonly patch: Patch;
  readonly action: StepAction;
  readonly isInvalid: boolean;
};

/** What becomes of a step: a rejected patch of several edits may be saved in part. */
export async function trySalvage(
  state: RunState,
  { step, patch, action, isInvalid }: Rejected,
  run: Run,
): Promise<StepAction> {
  const { config, env, items, commit, deps } = run;
  if (
    !config.salvage ||
    action !== 'reject' ||
    isInvalid ||
    patch.edits.length < 2 ||
    config.skillUpdateMode !== 'patch'
  )
    return action;
  const gate = { env, state, items: items.val, config, rolloutsLeft: rolloutsLeft(state, config, items) };
  const part = {
    skill: state.current.skill,
    edits: patch.edits,
    maxRollouts: config.salvageRollouts,
    maxSkillTokens: config.maxSkillTokens,
    policy: policyOf(config, step),
    whyUnusable: unusableBeside(state.current.skill, run),
  };
  const salvage = await salvagePatch({ ...gate, ...part }, deps);
  await commit({ type: 'salvage-end', step, ...salvage });
  return salvage.accepted?.action ?? action;
}

/** Lost steps in a row after which the skill is tried with less. */
const QUIET_STEPS = 3;

/**
 * A patch wins as a whole, and may carry something harmful along. When proposals stop winning, the skill is tried without
 * a part of what an accepted step has added; that asks no optimizer. Each part is looked at once.
 */
export async function tryRemoval(state: RunState, { step, batches }: Step, run: Run): Promise<RunState> {
  const { config, env, items, commit, deps } = run;
  const left = rolloutsLeft(state, config, items);
  if (!isSetUp(run) || !isQuiet(state) || (left !== undefined && left < items.val.length)) return state;
  const suspect = suspectsIn(state, trainsPackage(config))[0];
  if (!suspect) return state;
  const { candidateSkill, ...part } = suspect;
  const candidateHash = skillHash(candidateSkill);
  const whyUnusable = unusableBeside(state.current.skill, run);
  const gate = { env, state, items: items.val, config, seed: batches[0]!.seed, rolloutsLeft: left, whyUnusable };
  const { results, ...verdict } = await judgeSkill({ candidateSkill, candidateHash }, gate, tellRemoval(deps));
  return commit({ type: 'removal-end', step, ...part, candidateSkill, candidateHash, ...verdict }, { results });
}

/** Without it, progress would speak of what usually follows an evaluation. */
const tellRemoval = (deps: StageDeps): StageDeps => ({
  ...deps,
  onProgress: (done, total, result) => deps.onProgress(done, total, result, 'removal'),
});

function isSetUp({ config }: Run): boolean {
  const { tryRemovals, gate, useGate, skillUpdateMode } = config;
  return tryRemovals && knowsNoise(gate) && useGate && skillUpdateMode === 'patch';
}

/** An optimizer that has no more ideas than may be tried at once has told all of them. */
function isQuiet({ history, draft }: RunState): boolean {
  const lost = history.slice(history.findLastIndex(({ action, removed }) => isAccepted(action) || removed) + 1);
  const isOutOfIdeas = (draft.nEditsMerged ?? 0) <= (draft.editBudget ?? 0);
  return isOutOfIdeas || lost.length + 1 >= QUIET_STEPS;
}

type StepPart = { readonly of: number; readonly removed: readonly string[] };
type Suspect = StepPart & { readonly candidateSkill: string };

/** What was not tried yet: first what each step has ranked last, then one passage after the other, the latest step first. */
function suspectsIn({ history, removalsTried, current }: RunState, isPackage: boolean): Suspect[] {
  const accepted = history.filter(({ action }) => isAccepted(action)).reverse();
  const parts = [...accepted.flatMap(laterHalf), ...accepted.flatMap(eachAlone)];
  const untried = parts.filter(({ of, removed }) => !removalsTried.includes(removalKey(of, removed)));
  return untried.flatMap((part) => {
    const candidateSkill = withoutPassages(current.skill, part.removed, isPackage);
    return candidateSkill === undefined ? [] : [{ ...part, candidateSkill }];
  });
}

function withoutPassages(skill: string, passages: readonly string[], isPackage: boolean): string | undefined {
  const without = (text: string | undefined, passage: string) => text && withoutPassageIn(text, passage, isPackage);
  return passages.reduce<string | undefined>(without, skill);
}

function laterHalf(record: StepRecord): StepPart[] {
  const added = addedBy(record);
  const removed = added.slice(Math.ceil(added.length / 2));
  return removed.length > 0 ? [{ of: record.step, removed }] : [];
}

/** A step that added one thing was measured with nothing else. */
function eachAlone(record: StepRecord): StepPart[] {
  const added = addedBy(record);
  return added.length > 1 ? added.map((passage) => ({ of: record.step, removed: [passage] })) : [];
}

function addedBy(record: StepRecord): string[] {
  const kept = keptEdits(record).map((index) => record.edits[index]!);
  const isAdded = ({ op, file = '' }: (typeof kept)[number]) =>
    (op === 'append' || op === 'insert_after') && partOf(file) !== 'scripts';
  return kept.filter(isAdded).map(({ content }) => content.trim());
}
