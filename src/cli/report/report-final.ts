import { winnerMeasurement } from '../../core/run/reported-scores.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Interval } from '../../core/stats/final-report.ts';
import { percent, plural, points } from '../terminal/figures.ts';
import { clip, textWidth } from '../terminal/text-width.ts';
import type { ReportOptions } from './report-options.ts';

/** The winner by fresh rollouts: what it was chosen by flatters it. */
export function finalLines(state: RunState, { colors, width }: Pick<ReportOptions, 'colors' | 'width'>): string[] {
  const measurement = winnerMeasurement(state);
  if (!measurement?.score) return [];
  const { score, gain, isClaimed, isSeedBetter, confidence, passes } = measurement;
  const how =
    passes.length > 0 ? `${plural(passes.length, 'fresh pass', 'fresh passes')}` : 'the initial skill, all passes';
  const figures = `${percent(score.value)}, ${spread(score.interval, percent)}`;
  const measured = twoParts(`measured on validation (${how}):`, figures, { width });
  if (passes.length === 0 || !gain) return measured;
  if (isSeedBetter) return [...measured, ...seedLines(gain.value, state, { width, paint: colors.yellow })];
  const verdict = isClaimed ? `proven, ${Math.round(100 * confidence)} % sure` : 'not proven: it may be luck';
  const paint = isClaimed ? colors.green : colors.yellow;
  const gained = `gain ${points(gain.value)} points, ${spread(gain.interval, points)}:`;
  const lines = [...measured, ...twoParts(gained, verdict, { width, paint })];
  return (state.items.test ?? 0) > 0
    ? lines
    : [...lines, colors.dim(clip('only a test split can speak for tasks that nobody has seen', width))];
}

/** A run that is not over continues with its winner. */
function seedLines(gain: number, { best }: RunState, room: Room): string[] {
  const isKept = best.origin === 'initial';
  const [winner, end] = isKept ? ['the winner', ' and is kept'] : ['the winner so far', ''];
  return twoParts('the seed skill measured better', `than ${winner} (${points(gain)} points)${end}`, room);
}

type Room = { readonly width: number; readonly paint?: (text: string) => string };

/** On one line, or on two where that is too wide: half an interval says nothing. */
function twoParts(first: string, second: string, { width, paint = (text) => text }: Room): string[] {
  if (textWidth(`${first} ${second}`) <= width) return [`${first} ${paint(second)}`];
  return [clip(first, width), paint(clip(`  ${second}`, width))];
}

const spread = ({ low, high }: Interval, show: (value: number) => string) => `${show(low)} to ${show(high)}`;
