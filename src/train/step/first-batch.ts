import type { Progress, RunState } from '../../core/run/index.ts';
import { gateScore } from '../../pipeline/index.ts';
import { secondPassSize } from '../budget/rollouts-left.ts';
import { affordableStep, lossThatLeavesRoom, nextStep, planEpoch, type Step, whyOver } from '../plan.ts';
import type { Run } from '../run.ts';
import { rollOutStep } from './take-step.ts';

/**
 * The first batch needs nothing but the seed, so it begins while the baseline is measured. Not before it is certain that there will
 * be a step: a skill that passes every validation task ends the search. Answers with what notes the results of the baseline.
 */
export function besideBaseline(start: RunState, run: Run): (result?: Progress['result']) => void {
  const step = run.ahead.isOn ? firstStep(start, run) : undefined;
  const enough = lossThatLeavesRoom(run);
  let lost = 0;
  return (result) => {
    if (result && !result.errored) lost += 1 - gateScore(result, run.config);
    if (!step || lost < enough) return;
    run.ahead.begin(`rollout ${step.step}`, (deps) => rollOutStep(step, start.initialSkill, run, deps));
  };
}

/** `undefined` where it is not certain, or where a task of it is also one of the baseline, and would be attempted twice at once. */
function firstStep(start: RunState, run: Run): Step | undefined {
  const { config, env, items } = run;
  if (env.planTrainEpoch) return undefined; // it is asked once for an epoch
  const whole = nextStep(start, planEpoch(1, run), run);
  if (!whole) return undefined;
  const measured = { ...start, rollouts: items.val.length + secondPassSize(config, items) };
  const step = affordableStep(measured, whole, run);
  if (whyOver(measured, step, run)) return undefined;
  const validated = new Set(items.val.map(({ id }) => id));
  const isShared = step.batches.some((batch) => batch.items.some(({ id }) => validated.has(id)));
  return isShared ? undefined : step;
}
