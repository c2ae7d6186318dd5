import type { Leak, RunState } from '../../core/run/run-state.ts';
import { oneLine } from '../../core/text/printable.ts';
import { plural } from '../terminal/figures.ts';
import { clip } from '../terminal/text-width.ts';
import type { ReportOptions } from './report-options.ts';

/** What was kept out of the skill because it repeats held-out tasks; with `isComplete`, why. */
export function leakLines({ leaks }: RunState, { width, colors, isComplete = false }: ReportOptions): string[] {
  if (leaks.length === 0) return [];
  const title = `refused: ${plural(leaks.length, 'leak')} of held-out tasks`;
  const reasons = leaks.map((leak) => colors.dim(`  ${whereOf(leak).padEnd(8)} ${oneLine(leak.reason)}`));
  return [clip(title, width), ...(isComplete ? reasons : [])];
}

const whereOf = ({ stage, at }: Leak) => `${stage === 'slow_update' ? 'epoch' : 'step'} ${at}`;

/** What the best skill knows by heart: a score on training tasks says less for it. */
export function memorisedLines({ memorisedShare = 0 }: RunState, { width }: ReportOptions): string[] {
  if (memorisedShare === 0) return [];
  const share = `${Math.max(1, Math.round(100 * memorisedShare))} %`;
  return [clip(`the best skill repeats something of ${share} of the training tasks`, width)];
}
