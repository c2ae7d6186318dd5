import { openEvidence, shrunkScore, toEvidence } from '../core/gate/gate-evidence.ts';
import { shuffle } from '../core/random.ts';
import type { RunState } from '../core/run/run-state.ts';
import type { Evaluation } from '../core/score.ts';
import { calibrate } from '../core/stats/calibration.ts';
import { gateScore, type StageDeps, scoreSkill, settleAll } from '../pipeline/index.ts';
import { secondPassSize } from './budget/rollouts-left.ts';
import { withReserve } from './budget/with-reserve.ts';
import { endEpoch } from './end-epoch.ts';
import { chooseWinner, finish } from './finish.ts';
import { memorisedShareOf } from './memorised-share.ts';
import { nextEpoch, nextStep, planEpoch } from './plan.ts';
import type { TrainInput } from './setup/train-input.ts';
import { takeStep } from './step/take-step.ts';
import { whyOver } from './why-over.ts';

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let state = input.state.baseline ? input.state : await measureBaseline(input, deps);
  state = await withReserve({ ...input, state }, (search) => searchBest(search, deps));
  state = await finish({ ...input, state }, deps);
  return state.isDone ? state : input.commit({ type: 'run-end', ...memorisedShareOf(state, input) });
}

async function searchBest(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let { state } = input;
  for (let epoch = nextEpoch(input); epoch && !state.searchEnd; epoch = nextEpoch({ ...input, state })) {
    state = await searchEpoch(epoch, { ...input, state }, deps);
    if (!state.searchEnd) state = await endEpoch(epoch, { ...input, state }, deps);
  }
  return chooseWinner({ ...input, state }, deps);
}

/** Until the batches are read, nothing is left to gain, or nothing is left to gain it with. */
async function searchEpoch(epoch: number, input: TrainInput, deps: StageDeps): Promise<RunState> {
  const { config, env, items, commit } = input;
  let { state } = input;
  const plan = planEpoch(epoch, { config, env, items: items.train });
  for (;;) {
    const step = nextStep(plan, { config, state });
    if (!step) return state;
    const reason = whyOver(step, { ...input, state });
    if (reason) return commit({ type: 'search-end', reason });
    state = await takeStep(step, { ...input, state }, deps);
  }
}

/** The seed skill on validation; twice for a gate that must know the noise. */
async function measureBaseline({ env, items, config, state, commit, warn }: TrainInput, deps: StageDeps) {
  const { initialSkill: skill } = state;
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
function scoreOf(passes: readonly Evaluation[], config: TrainInput['config']): number {
  if (passes.length === 1) return gateScore(passes[0]!, config);
  return shrunkScore(
    openEvidence(
      passes.map(({ scores }) => scores),
      config,
    ),
  );
}

/** A set on which nothing can be proven is better known before money is spent on it. */
function warnOfNoise({ gate }: RunState, { confidence }: TrainInput['config'], warn: TrainInput['warn']): void {
  const { warning } = calibrate(toEvidence(gate.seed), { confidence });
  if (warning !== undefined) warn(warning);
}
