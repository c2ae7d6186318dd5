import type { RunState } from '../../core/run-state.ts';
import type { Interval } from '../../core/stats/final-report.ts';
import { winnerMeasurement } from '../../core/winner-measurement.ts';
import { percent, plural, points } from '../terminal/figures.ts';
import type { ReportOptions } from './report-options.ts';

/** The winner by fresh rollouts: what it was chosen by flatters it. */
export function finalLines(state: RunState, { colors }: Pick<ReportOptions, 'colors'>): string[] {
  const measurement = winnerMeasurement(state);
  if (!measurement?.score) return [];
  const { score, gain, isClaimed, confidence, passes } = measurement;
  const how =
    passes.length > 0 ? `${plural(passes.length, 'fresh pass', 'fresh passes')}` : 'the initial skill, all passes';
  const measured = `measured on validation (${how}): ${percent(score.value)}, ${spread(score.interval, percent)}`;
  if (passes.length === 0 || !gain) return [measured];
  const sure = `${Math.round(100 * confidence)} % sure`;
  const verdict = isClaimed ? colors.green(`proven, ${sure}`) : colors.yellow('not proven: it may be luck');
  const lines = [measured, `gain ${points(gain.value)} points, ${spread(gain.interval, points)}: ${verdict}`];
  return (state.items.test ?? 0) > 0
    ? lines
    : [...lines, colors.dim('only a test split can speak for tasks that nobody has seen')];
}

const spread = ({ low, high }: Interval, show: (value: number) => string) => `${show(low)} to ${show(high)}`;
