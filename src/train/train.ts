import type { RunState } from '../core/run-state.ts';
import { gateScore, type StageDeps, scoreSkill } from '../pipeline/index.ts';
import { endEpoch } from './end-epoch.ts';
import { finish } from './finish.ts';
import { remainingEpochs } from './plan.ts';
import { takeStep } from './take-step.ts';
import type { TrainInput } from './train-input.ts';

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let state = input.state.baseline ? input.state : await measureBaseline(input, deps);
  const done = { epochs: state.lastEpoch?.epoch ?? 0, steps: state.stepsDone };
  const { config, env, items } = input;
  for (const { epoch, steps } of remainingEpochs({ config, env, items: items.train, done })) {
    for (const step of steps) state = await takeStep(step, { ...input, state }, deps);
    state = await endEpoch(epoch, { ...input, state }, deps);
  }
  state = await finish({ ...input, state }, deps);
  return state.isDone ? state : input.commit({ type: 'run-end' });
}

async function measureBaseline({ env, items, config, state, commit }: TrainInput, deps: StageDeps): Promise<RunState> {
  const { evaluation, results } = await scoreSkill({ env, skill: state.initialSkill, items: items.val }, deps);
  return commit({ type: 'baseline-end', evaluation, score: gateScore(evaluation, config) }, { results });
}
