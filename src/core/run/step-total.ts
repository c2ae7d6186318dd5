import type { RunState } from './run-state.ts';

type Planned = Pick<RunState, 'totalSteps'> & {
  readonly config: Pick<NonNullable<RunState['config']>, 'proposalsPerBatch' | 'maxRollouts'> | undefined;
};

/** Whether a run takes as many steps as it says: not if a batch may be done early, or rollouts are what ends it. */
function isPlanExact({ config }: Pick<Planned, 'config'>): boolean {
  return (config?.proposalsPerBatch ?? 1) === 1 && config?.maxRollouts === undefined;
}

/** `18`, `at most 18` or `about 18`. */
export function stepTotal({ config, totalSteps }: Planned): string {
  if (isPlanExact({ config })) return String(totalSteps);
  return config?.maxRollouts === undefined ? `at most ${totalSteps}` : `about ${totalSteps}`;
}

/** `7/18` where there are as many, `7` where nobody knows. */
export function stepNumber(step: number, planned: Planned): string {
  return isPlanExact(planned) ? `${step}/${planned.totalSteps}` : String(step);
}
