import type { RunState } from '../../core/run/run-state.ts';
import { oneLine } from '../terminal/printable.ts';
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
