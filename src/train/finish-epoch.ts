import { computeScore } from '../core/contracts/index.ts';
import { findNewHidden } from '../core/document/index.ts';
import type { Pair, RunState, SlowUpdate } from '../core/run/index.ts';
import { compareEpochs, judgeSkill, writeGuidance, writeMetaSkill } from '../pipeline/index.ts';
import { rolloutsLeft } from './budget/rollouts-left.ts';
import { comparisonOrder } from './plan.ts';
import { memoryOf, type Run } from './run.ts';
import { leakCriticOf } from './step/guard-edits.ts';

/** What an epoch leaves behind: guidance in the skill, and notes for the optimizer. The first one has nothing to compare. */
export async function finishEpoch(start: RunState, epoch: number, run: Run): Promise<RunState> {
  let state = start;
  const wants = whatIsDue(state, epoch, run);
  if (wants.guidance || wants.notes) {
    const pairs = await compare(state, epoch, run);
    if (wants.guidance) state = await updateSlowly(state, { epoch, pairs }, run);
    if (wants.notes) state = await updateMetaSkill(state, { epoch, pairs }, run);
  }
  return run.commit({ type: 'epoch-end', epoch });
}

/** Notes after the last epoch would be read by nobody. */
function whatIsDue(state: RunState, epoch: number, { config, items }: Run) {
  const left = rolloutsLeft(state, config, items) ?? Number.POSITIVE_INFINITY;
  const hasPrevious = state.lastEpoch !== undefined && left >= 2 * config.slowUpdateSamples + items.val.length;
  return {
    guidance: hasPrevious && config.useSlowUpdate && state.slowUpdateEpoch < epoch,
    notes: hasPrevious && config.useMetaSkill && epoch < config.numEpochs && state.metaSkillEpoch < epoch,
  };
}

function compare(state: RunState, epoch: number, { config, env, items, deps }: Run): Promise<Pair[]> {
  return compareEpochs(
    {
      env,
      previousSkill: state.lastEpoch!.skill,
      currentSkill: state.epochSkill,
      items: comparisonOrder(items.train, config, epoch),
      samples: config.slowUpdateSamples,
      policy: config.longitudinalPairPolicy,
    },
    deps,
  );
}

type ComparedEpoch = { readonly epoch: number; readonly pairs: readonly Pair[] };

async function updateSlowly(state: RunState, { epoch, pairs }: ComparedEpoch, run: Run): Promise<RunState> {
  const previousSkill = state.lastEpoch!.skill;
  const guidance = await writeGuidance({ previousSkill, skill: state.current.skill, pairs }, run.deps);
  const { results, ...verdict } = await judgeGuidance(state, guidance, run);
  const [prevHard] = computeScore(pairs.map((pair) => pair.previous));
  const [currHard] = computeScore(pairs.map((pair) => pair.current));
  const shown = pairs.map(({ id, category }) => ({ id, category }));
  const fact: SlowUpdate = { ...guidance, ...verdict, pairs: shown, prevHard, currHard };
  return run.commit({ type: 'slow-update-end', epoch, ...fact }, { results, pairs });
}

type WrittenGuidance = { readonly content: string; readonly candidateSkill: string; readonly candidateHash: string };

/** Guidance meets the gate like everything else. Forced, it is measured all the same: a stale score would be the next bar. */
async function judgeGuidance(state: RunState, written: WrittenGuidance, { config, env, items, deps }: Run) {
  const nothing = { evaluation: null, score: state.current.score, results: [] };
  if (written.content === '') return { ...nothing, action: 'no_content' as const };
  if (written.candidateHash === state.current.hash) return { ...nothing, action: 'unchanged' as const };
  const hidden = findNewHidden(state.current.skill, written.candidateSkill)?.text;
  if (hidden !== undefined) return { ...nothing, action: 'hidden_text' as const, hidden };
  const { reason: leakReason, kind } = leakCriticOf({ env, items, config }, state.current.skill)(written.content);
  const quarantined = kind === undefined ? {} : { leakKind: kind };
  if (leakReason !== undefined) return { ...nothing, action: 'leak' as const, leakReason, ...quarantined };
  const { maxSkillTokens, slowUpdateGate: useGate } = config;
  if (maxSkillTokens > 0 && (await deps.countTokens(written.candidateSkill)) > maxSkillTokens) {
    return { ...nothing, action: 'over_cap' as const };
  }
  const gate = { env, state, items: items.val, config: { ...config, useGate } };
  return judgeSkill(written, { ...gate, rolloutsLeft: rolloutsLeft(state, config, items) }, deps);
}

async function updateMetaSkill(state: RunState, { epoch, pairs }: ComparedEpoch, run: Run): Promise<RunState> {
  const { config, commit, deps } = run;
  const comparison = { previousSkill: state.lastEpoch!.skill, skill: state.epochSkill, pairs };
  const notes = await writeMetaSkill({ ...comparison, memory: memoryOf(state, config) }, deps);
  const action = notes.content === '' ? 'no_content' : 'write_meta_skill';
  return commit({ type: 'meta-skill-end', epoch, action, ...notes });
}
