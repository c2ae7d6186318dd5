import type { RunState } from '../../core/run/run-state.ts';
import { oneLine } from '../../core/text/printable.ts';
import { plural } from '../terminal/figures.ts';
import { clip } from '../terminal/text-width.ts';
import type { ReportOptions } from './report-options.ts';

/** Steps whose candidate was turned down because its evaluation says nothing: their edits may be good all the same. */
export function invalidLines({ history }: RunState, { width }: ReportOptions): string[] {
  return history
    .filter(({ verdict }) => verdict === 'invalid')
    .map(({ step, verdictReason = '' }) =>
      clip(`step ${step} could not be measured: ${oneLine(verdictReason)}`, width),
    );
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
