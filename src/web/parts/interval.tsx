import type { Estimate } from '../../core/stats/index.ts';
import { points } from '../../core/text/index.ts';

/** A gain with its interval on a line that shows where 0 is. */
export function IntervalBar({ gain: { value, interval } }: { readonly gain: Estimate }) {
  const [from, to] = [Math.min(0, interval.low), Math.max(0, interval.high)];
  const pad = (to - from || 1) * 0.08;
  const place = (gain: number) => 8 + ((gain - from + pad) / (to - from + 2 * pad)) * 284;
  const tone = interval.low > 0 ? 'good' : interval.high < 0 ? 'bad' : 'doubt';
  const words = `${points(value)} points, between ${points(interval.low)} and ${points(interval.high)}`;
  return (
    <svg className={`interval ${tone}`} viewBox="0 0 300 46" role="img" aria-label={words}>
      <path className="axis" d="M8 22H292" />
      <path className="zero" d={`M${place(0)} 16V32`} />
      <path
        className="span"
        d={`M${place(interval.low)} 22H${place(interval.high)}M${place(interval.low)} 16V28M${place(interval.high)} 16V28`}
      />
      <circle cx={place(value)} cy="22" r="5" />
      <text x={place(0)} y="44" textAnchor="middle">
        0
      </text>
      <text x={place(interval.low)} y="11" textAnchor="middle">
        {points(interval.low)}
      </text>
      <text x={place(interval.high)} y="11" textAnchor="middle">
        {points(interval.high)}
      </text>
      <text className="value" x={place(value)} y="44" textAnchor="middle">
        {points(value)}
      </text>
    </svg>
  );
}
