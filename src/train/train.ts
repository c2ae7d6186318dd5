import type { SkillOptConfig } from '../core/config.ts';
import type { SkillEnv } from '../core/env.ts';
import { toEvaluation } from '../core/score.ts';
import type { RunState } from '../core/state.ts';
import {
  evaluateCandidate,
  gateScore,
  mergePatches,
  rankAndSelect,
  runMinibatchReflect,
  runRollout,
  type StageDeps,
  scoreSkill,
  updateSkill,
} from '../pipeline/index.ts';
import { remainingSteps, type Step } from './plan.ts';
import type { Commit } from './recorder.ts';
import type { RunItems } from './run-items.ts';

export type TrainInput = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly items: RunItems;
  readonly state: RunState;
  readonly commit: Commit;
};

/** The algorithm of the paper. Everything that is not the algorithm is somewhere else. */
export async function train(input: TrainInput, deps: StageDeps): Promise<RunState> {
  let state = input.state.baseline ? input.state : await measureBaseline(input, deps);
  for (const step of remainingSteps(input.config, input.items.train, state.stepsDone)) {
    state = await takeStep(step, { ...input, state }, deps);
  }
  state = await measureOnTest({ ...input, state }, deps);
  return state.isDone ? state : input.commit({ type: 'run-end' });
}

async function measureBaseline({ env, items, config, state, commit }: TrainInput, deps: StageDeps): Promise<RunState> {
  const { evaluation, results } = await scoreSkill({ env, skill: state.initialSkill, items: items.val }, deps);
  return commit({ type: 'baseline-end', evaluation, score: gateScore(evaluation, config) }, { results });
}

async function takeStep(
  plan: Step,
  { config, env, items, state, commit }: TrainInput,
  deps: StageDeps,
): Promise<RunState> {
  const { items: batch, ...start } = plan;
  const { step, editBudget, seed } = plan;
  const { skill } = state.current;
  await commit({ type: 'step-start', ...start, itemIds: batch.map((item) => item.id) });

  const results = await runRollout({ env, skill, items: batch }, deps);
  await commit({ type: 'stage-end', step, stage: 'rollout', evaluation: toEvaluation(results) }, { results });

  const { minibatchSize, mergeBatchSize, failureOnly } = config;
  const patches = await runMinibatchReflect({ skill, results, minibatchSize, editBudget, seed, failureOnly }, deps);
  await commit({ type: 'stage-end', step, stage: 'reflect', patches });

  const merged = await mergePatches({ skill, patches, mergeBatchSize }, deps);
  await commit({ type: 'stage-end', step, stage: 'aggregate', patch: merged });

  const patch = await rankAndSelect({ skill, patch: merged, editBudget }, deps);
  await commit({ type: 'stage-end', step, stage: 'select', patch });

  const candidate = updateSkill({ skill, patch });
  await commit({ type: 'stage-end', step, stage: 'update', ...candidate });

  const { results: evidence, ...verdict } = await evaluateCandidate(
    { env, candidate, state, items: items.val, config },
    deps,
  );
  await commit({ type: 'stage-end', step, stage: 'evaluate', ...verdict }, { results: evidence });

  return commit({ type: 'step-end', step, action: verdict.action });
}

async function measureOnTest({ env, items, state, commit }: TrainInput, deps: StageDeps): Promise<RunState> {
  const taskTypes = env.getTaskTypes?.() ?? [];
  for (const subject of items.test.length > 0 ? (['baseline', 'best'] as const) : []) {
    if (state.tests[subject]) continue;
    const skill = subject === 'best' ? state.best.skill : state.initialSkill;
    const { evaluation, results } = await scoreSkill({ env, skill, items: items.test }, deps);
    state = await commit({ type: 'test-end', subject, evaluation, taskTypes }, { results });
  }
  return state;
}
