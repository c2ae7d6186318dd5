import { type Evaluation, shuffle } from '../core/contracts/index.ts';
import { openEvidence, type RunState, type SearchEnd, shrunkScore, toEvidence } from '../core/run/index.ts';
import { calibrate } from '../core/stats/index.ts';
import { gateScore, scoreSkill, settleAll } from '../pipeline/index.ts';
import { secondPassSize } from './budget/rollouts-left.ts';
import { withReserve } from './budget/with-reserve.ts';
import { chooseWinner, finish } from './finish.ts';
import { finishEpoch } from './finish-epoch.ts';
import { nextEpoch, nextStep, noRoomForStep, planEpoch, type Step, whyOver } from './plan.ts';
import type { Run } from './run.ts';
import { memorisedShareOf } from './step/guard-edits.ts';
import { takeStep } from './step/take-step.ts';

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(start: RunState, run: Run): Promise<RunState> {
  let state = start.baseline ? start : await measureBaseline(start, run);
  state = await withReserve(state, run, searchBest);
  state = await finish(state, run);
  return state.isDone ? state : run.commit({ type: 'run-end', ...memorisedShareOf(state, run) });
}

async function searchBest(start: RunState, run: Run): Promise<RunState> {
  let state = start;
  for (let epoch = nextEpoch(state, run); epoch && !state.searchEnd; epoch = nextEpoch(state, run)) {
    state = await searchEpoch(state, epoch, run);
    if (!state.searchEnd) state = await finishEpoch(state, epoch, run);
  }
  return chooseWinner(state, run);
}

/** Until the batches are read, nothing is left to gain, or nothing is left to gain it with. */
async function searchEpoch(start: RunState, epoch: number, run: Run): Promise<RunState> {
  let state = start;
  const plan = planEpoch(epoch, run);
  for (;;) {
    const step = nextStep(state, plan, run);
    if (!step) return state;
    const reason = whyOver(state, step, run);
    if (reason) return endSearch(state, { step, reason }, run);
    state = await takeStep(state, step, run);
  }
}

type End = { readonly step: Step; readonly reason: SearchEnd };

function endSearch(state: RunState, { step, reason }: End, run: Run): Promise<RunState> {
  const noRoom = reason === 'rollouts_spent' ? noRoomForStep(state, step, run) : undefined;
  if (noRoom !== undefined) run.warn(noRoom);
  return run.commit({ type: 'search-end', reason });
}

/** The seed skill on validation; twice for a gate that must know the noise. */
async function measureBaseline({ initialSkill: skill }: RunState, { env, items, config, commit, warn, deps }: Run) {
  const again = shuffle(items.val, config.seed).slice(0, secondPassSize(config, items));
  const [{ evaluation, results }, second] = await settleAll([
    scoreSkill({ env, skill, items: items.val }, deps),
    scoreSkill({ env, skill, items: again, sampleIndex: 1 }, deps),
  ] as const);
  const passes = again.length > 0 ? [second.evaluation] : [];
  const score = scoreOf([evaluation, ...passes], config);
  const after = await commit(
    { type: 'baseline-end', evaluation, score, ...(passes.length > 0 ? { passes } : {}) },
    { results },
  );
  if (passes.length > 0) warnOfNoise(after, config, warn);
  return after;
}

/** Every task counts the same, however often it was attempted. */
function scoreOf(passes: readonly Evaluation[], config: Run['config']): number {
  if (passes.length === 1) return gateScore(passes[0]!, config);
  return shrunkScore(
    openEvidence(
      passes.map(({ scores }) => scores),
      config,
    ),
  );
}

/** A set on which nothing can be proven is better known before money is spent on it. */
function warnOfNoise({ gate }: RunState, { confidence }: Run['config'], warn: Run['warn']): void {
  const { warning } = calibrate(toEvidence(gate.seed), { confidence });
  if (warning !== undefined) warn(warning);
}
