import { computeScore, type Evaluation, shuffle } from '../core/contracts/index.ts';
import { findNewHidden } from '../core/document/index.ts';
import {
  openEvidence,
  type Pair,
  type RunState,
  type SearchEnd,
  type SlowUpdate,
  shrunkScore,
  toEvidence,
} from '../core/run/index.ts';
import { calibrate } from '../core/stats/index.ts';
import {
  compareEpochs,
  countedTogether,
  fits,
  gateScore,
  judgeSkill,
  scoreSkill,
  settleAll,
  writeGuidance,
  writeMetaSkill,
} from '../pipeline/index.ts';
import { rolloutsLeft, secondPassSize } from './budget/rollouts-left.ts';
import { withReserve } from './budget/with-reserve.ts';
import { chooseWinner, finish } from './finish.ts';
import {
  affordableStep,
  comparisonOrder,
  nextEpoch,
  nextStep,
  noRoomForStep,
  planEpoch,
  type Step,
  whyOver,
} from './plan.ts';
import { memoryOf, type Run } from './run.ts';
import { shorten } from './shorten.ts';
import { candidateGate } from './step/candidate-gate.ts';
import { besideBaseline } from './step/first-batch.ts';
import { leakCriticOf, memorisedShareOf } from './step/guard-edits.ts';
import { takeStep } from './step/take-step.ts';

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(start: RunState, run: Run): Promise<RunState> {
  try {
    let state = start.baseline ? start : await measureBaseline(start, run);
    state = await withReserve(state, run, searchBest); // where a limit ends the search, this throws after measuring the best so far
    state = await finish(state, run);
    return state.isDone ? state : await run.commit({ type: 'run-end', ...memorisedShareOf(state, run) });
  } finally {
    await run.ahead.settled();
  }
}

async function searchBest(start: RunState, run: Run): Promise<RunState> {
  let state = start;
  for (let epoch = nextEpoch(state, run); epoch && !state.searchEnd; epoch = nextEpoch(state, run)) {
    state = await searchEpoch(state, epoch, run);
    if (!state.searchEnd) state = await finishEpoch(state, epoch, run);
  }
  return chooseWinner(await shorten(state, run), run);
}

/** Until the batches are read, nothing is left to gain, or no rollouts are left. */
async function searchEpoch(start: RunState, epoch: number, run: Run): Promise<RunState> {
  let state = start;
  const plan = planEpoch(epoch, run);
  for (;;) {
    // The next batch, or the last one again (`isBatchDone`) until a proposal is accepted, no edit was merged, or it was read
    // `proposalsPerBatch` times. The cache has its attempts; the analysts are asked again, about another order.
    const step = nextStep(state, plan, run);
    if (!step) return state;
    // `nothing_to_gain`: the current skill passes every validation task. `rollouts_spent`: `maxRollouts`, less what the passes after
    // the search need, does not pay for this step. Tests do not count towards it.
    // `only_losses`: too many candidates in a row were rejected. `optimizer_spent`: as many steps were taken as `optimizerRatio` allows.
    const affordable = affordableStep(state, step, run);
    const reason = whyOver(state, affordable, run);
    if (reason) return endSearch(state, affordable, reason, run);
    state = await takeStep(state, affordable, run);
  }
}

function endSearch(state: RunState, step: Step, reason: SearchEnd, run: Run): Promise<RunState> {
  const noRoom = reason === 'rollouts_spent' ? noRoomForStep(state, step, run) : undefined;
  if (noRoom !== undefined) run.warn(noRoom);
  return run.commit({ type: 'search-end', reason });
}

/** An epoch leaves guidance in the skill, and notes for the optimizer. The first epoch has nothing to compare. */
async function finishEpoch(start: RunState, epoch: number, run: Run): Promise<RunState> {
  let state = start;
  const due = whatIsDue(state, epoch, run);
  if (due.guidance || due.notes) {
    const pairs = await compareWithLastEpoch(state, epoch, run);
    if (due.guidance) state = await updateSlowly(state, { epoch, pairs }, run);
    if (due.notes) state = await updateMetaSkill(state, { epoch, pairs }, run);
  }
  return run.commit({ type: 'epoch-end', epoch });
}

/** The seed skill on validation; twice for a gate that must know the noise. The first batch begins meanwhile. */
async function measureBaseline(start: RunState, run: Run) {
  const { env, items, config, commit, warn, deps } = run;
  const { initialSkill: skill } = start;
  const again = shuffle(items.val, config.seed).slice(0, secondPassSize(config, items));
  const noteResult = besideBaseline(start, run);
  const onProgress: typeof deps.onProgress = (...progress) => {
    deps.onProgress(...progress);
    noteResult(progress[2]);
  };
  const together = countedTogether({ ...deps, onProgress }, items.val.length + again.length);
  const measuring = settleAll([
    scoreSkill({ env, skill, items: items.val }, together),
    scoreSkill({ env, skill, items: again, sampleIndex: 1 }, together),
  ] as const);
  noteResult(); // where no result can end the search; the baseline is first in line
  const [{ evaluation, results }, second] = await measuring;
  const baseline = { type: 'baseline-end', evaluation } as const;
  if (again.length === 0) return commit({ ...baseline, score: gateScore(evaluation, config) }, { results });
  const passes = [second.evaluation];
  const score = meanOfTasks([evaluation, ...passes], config);
  const state = await commit({ ...baseline, score, passes }, { results, further: { pass_2: second.results } });
  const { warning } = calibrate(toEvidence(state.gate.seed), { confidence: config.confidence });
  if (warning !== undefined) warn(warning); // nothing can be proven on these tasks: say so before a step is paid for
  return state;
}

/** Every task counts the same, however often it was attempted. */
function meanOfTasks(passes: readonly Evaluation[], config: Run['config']): number {
  const scores = passes.map((pass) => pass.scores);
  return shrunkScore(openEvidence(scores, config));
}

/** Nobody would read notes after the last epoch. */
function whatIsDue(state: RunState, epoch: number, { config, items }: Run) {
  const left = rolloutsLeft(state, config, items) ?? Number.POSITIVE_INFINITY;
  const canCompare = state.lastEpoch !== undefined && left >= 2 * config.slowUpdateSamples + items.val.length;
  return {
    guidance: canCompare && config.useSlowUpdate && state.slowUpdateEpoch < epoch,
    notes: canCompare && config.useMetaSkill && epoch < config.numEpochs && state.metaSkillEpoch < epoch,
  };
}

function compareWithLastEpoch(state: RunState, epoch: number, { config, env, items, deps }: Run): Promise<Pair[]> {
  const { slowUpdateSamples: samples, longitudinalPairPolicy: policy } = config;
  const skills = { previousSkill: state.lastEpoch!.skill, currentSkill: state.epochSkill };
  return compareEpochs({ env, ...skills, items: comparisonOrder(items.train, config, epoch), samples, policy }, deps);
}

type ComparedEpoch = { readonly epoch: number; readonly pairs: readonly Pair[] };

async function updateSlowly(state: RunState, { epoch, pairs }: ComparedEpoch, run: Run): Promise<RunState> {
  const previousSkill = state.lastEpoch!.skill;
  const guidance = await writeGuidance({ previousSkill, skill: state.current.skill, pairs }, run.deps);
  const { results, further, ...verdict } = await judgeGuidance(state, guidance, run);
  const [prevHard] = computeScore(pairs.map((pair) => pair.previous));
  const [currHard] = computeScore(pairs.map((pair) => pair.current));
  const shown = pairs.map(({ id, category }) => ({ id, category }));
  const fact: SlowUpdate = { ...guidance, ...verdict, pairs: shown, prevHard, currHard };
  return run.commit({ type: 'slow-update-end', epoch, ...fact }, { results, further, pairs });
}

type WrittenGuidance = Awaited<ReturnType<typeof writeGuidance>>;

/** The gate judges guidance like every candidate. Without a gate it is still measured: the next bar is its score. */
async function judgeGuidance(state: RunState, guidance: WrittenGuidance, run: Run) {
  const { config, env, items, deps } = run;
  const { content, candidateSkill, candidateHash } = guidance;
  const unmeasured = { evaluation: null, score: state.current.score, results: [], further: {} };
  if (content === '') return { ...unmeasured, action: 'no_content' as const };
  if (candidateHash === state.current.hash) return { ...unmeasured, action: 'unchanged' as const };
  const hidden = findNewHidden(state.current.skill, candidateSkill)?.text;
  if (hidden !== undefined) return { ...unmeasured, action: 'hidden_text' as const, hidden };
  const { reason: leakReason, kind } = leakCriticOf({ env, items, config }, state.current.skill)(content);
  const quarantined = kind === undefined ? {} : { leakKind: kind };
  if (leakReason !== undefined) return { ...unmeasured, action: 'leak' as const, leakReason, ...quarantined };
  const { maxSkillTokens, slowUpdateGate: useGate } = config;
  if (!(await fits(candidateSkill, maxSkillTokens, deps))) return { ...unmeasured, action: 'over_cap' as const };
  const asked = { config: { ...config, useGate }, whyUnusable: undefined }; // a passage of the body breaks no document
  return judgeSkill(guidance, { ...candidateGate(state, run), ...asked }, deps);
}

async function updateMetaSkill(state: RunState, { epoch, pairs }: ComparedEpoch, run: Run): Promise<RunState> {
  const comparison = { previousSkill: state.lastEpoch!.skill, skill: state.epochSkill, pairs };
  const notes = await writeMetaSkill({ ...comparison, memory: memoryOf(state, run.config) }, run.deps);
  const action = notes.content === '' ? 'no_content' : 'write_meta_skill';
  return run.commit({ type: 'meta-skill-end', epoch, action, ...notes });
}
