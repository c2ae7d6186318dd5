import type { Leak, RunState } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { clip } from '../../report/index.ts';
import type { ReportOptions } from './report-options.ts';

/** What was kept out of the skill because it repeats held-out tasks, or tries something; with `isComplete`, why. */
export function leakLines({ leaks }: RunState, options: ReportOptions): string[] {
  const quarantined = leaks.filter(({ kind }) => kind !== undefined);
  const leaking = leaks.filter(({ kind }) => kind === undefined);
  return [
    ...refusedLines(`refused: ${plural(leaking.length, 'leak')} of held-out tasks`, leaking, options),
    ...refusedLines(`quarantined: ${plural(quarantined.length, 'edit')}`, quarantined, options),
  ];
}

function refusedLines(title: string, leaks: readonly Leak[], { width, colors, isComplete = false }: ReportOptions) {
  if (leaks.length === 0) return [];
  const reasons = leaks.map((leak) => colors.dim(`  ${whereOf(leak).padEnd(8)} ${oneLine(reasonOf(leak))}`));
  return [clip(title, width), ...(isComplete ? reasons : [])];
}

const reasonOf = ({ kind, reason }: Leak) => (kind === undefined ? reason : `${kind}: ${reason}`);

const whereOf = ({ stage, at }: Leak) => `${stage === 'slow_update' ? 'epoch' : 'step'} ${at}`;

/** What the best skill knows by heart: a score on training tasks says less for it. */
export function memorisedLines({ memorisedShare = 0 }: RunState, { width }: ReportOptions): string[] {
  if (memorisedShare === 0) return [];
  const share = `${Math.max(1, Math.round(100 * memorisedShare))} %`;
  return [clip(`the best skill repeats something of ${share} of the training tasks`, width)];
}
