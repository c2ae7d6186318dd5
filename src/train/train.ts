import { toEvidence } from '../core/gate-evidence.ts';
import type { RunState } from '../core/run-state.ts';
import { calibrate } from '../core/stats/calibration.ts';
import { gateScore, type StageDeps, scorePasses, type scoreSkill } from '../pipeline/index.ts';
import { endEpoch } from './end-epoch.ts';
import { chooseWinner, finish } from './finish.ts';
import { memorisedShareOf } from './memorised-share.ts';
import { remainingEpochs } from './plan.ts';
import { takeStep } from './take-step.ts';
import type { TrainInput } from './train-input.ts';
import { withReserve } from './with-reserve.ts';

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let state = input.state.baseline ? input.state : await measureBaseline(input, deps);
  state = await withReserve({ ...input, state }, (search) => searchBest(search, deps));
  state = await finish({ ...input, state }, deps);
  return state.isDone ? state : input.commit({ type: 'run-end', ...memorisedShareOf(state, input) });
}

async function searchBest(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let { state } = input;
  const done = { epochs: state.lastEpoch?.epoch ?? 0, steps: state.stepsDone };
  const { config, env, items } = input;
  for (const { epoch, steps } of remainingEpochs({ config, env, items: items.train, done })) {
    for (const step of steps) state = await takeStep(step, { ...input, state }, deps);
    state = await endEpoch(epoch, { ...input, state }, deps);
  }
  return chooseWinner({ ...input, state }, deps);
}

/** The seed skill on validation; twice for a gate that must know the noise. */
async function measureBaseline({ env, items, config, state, commit, warn }: TrainInput, deps: StageDeps) {
  const measured = await scorePasses(
    { env, skill: state.initialSkill, items: items.val },
    { from: 0, passes: config.gate === 'paired' ? 2 : 1 },
    deps,
  );
  const [{ evaluation, results }, ...more] = measured as [Measured, ...Measured[]];
  const passes = more.map((pass) => pass.evaluation);
  const score = gateScore(meanOf([evaluation, ...passes]), config);
  const after = await commit(
    { type: 'baseline-end', evaluation, score, ...(passes.length > 0 ? { passes } : {}) },
    { results },
  );
  if (passes.length > 0) warnOfNoise(after, config, warn);
  return after;
}

type Measured = Awaited<ReturnType<typeof scoreSkill>>;

const meanOf = (passes: readonly { readonly hard: number; readonly soft: number }[]) => ({
  hard: passes.reduce((sum, { hard }) => sum + hard, 0) / passes.length,
  soft: passes.reduce((sum, { soft }) => sum + soft, 0) / passes.length,
});

/** A set on which nothing can be proven is better known before money is spent on it. */
function warnOfNoise({ gate }: RunState, { confidence }: TrainInput['config'], warn: TrainInput['warn']): void {
  const { warning } = calibrate(toEvidence(gate.seed), { confidence });
  if (warning !== undefined) warn(warning);
}
