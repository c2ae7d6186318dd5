import { groupFaults, isUnscored, type RunState } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { clip } from '../../report/index.ts';
import type { ReportOptions } from './report-options.ts';

/**
 * Steps whose candidate was no skill that could be used; and those that were turned down because their evaluation says
 * nothing: their edits may be good all the same.
 */
export function invalidLines({ history }: RunState, { width }: ReportOptions): string[] {
  const reasons = (steps: RunState['history']) =>
    steps.map(({ step, verdictReason: reason = '' }) => ({ step, reason: oneLine(reason) }));
  const unscored = groupFaults(reasons(history.filter(isUnscored)));
  const unmeasured = reasons(history.filter((record) => record.verdict === 'invalid' && !isUnscored(record)));
  return [
    ...unscored.map(({ steps, reason }) => `${stepNames(steps)} not scored: invalid, ${reason}`),
    ...unmeasured.map(({ step, reason }) => `step ${step} could not be measured: ${reason}`),
  ].map((line) => clip(line, width));
}

const MOST_STEPS = 5;

function stepNames(steps: readonly number[]): string {
  if (steps.length > MOST_STEPS) return `${steps.length} steps`;
  return `${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`;
}

/** Attempts that count as failed because of the environment's own code. */
export function thrownLines({ threw }: RunState, { width }: ReportOptions): string[] {
  return threw > 0 ? [clip(`the environment threw in ${plural(threw, 'attempt')}, which count as failed`, width)] : [];
}

/** Steps whose candidate made most tasks throw, while the current skill answered. */
export function blameLines({ history }: RunState, { width }: ReportOptions): string[] {
  return history.flatMap(({ step, blame }) =>
    blame
      ? [
          clip(
            `step ${step} made ${blame.threw} of ${plural(blame.total, 'task')} throw: ${oneLine(blame.reason)}`,
            width,
          ),
        ]
      : [],
  );
}
