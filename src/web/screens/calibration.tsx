import type { RunFigures } from '../../core/page/index.ts';
import { count, percent, plural, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Section } from '../parts/frame.tsx';

/** What these tasks can prove, and how much of a difference is noise. */
export function CalibrationPanel({
  run,
  figures: { calibration },
}: {
  readonly run: string;
  readonly figures: RunFigures;
}) {
  if (!calibration) return null;
  const { items, noiseFloor, rolloutNoise, smallestGain, flakiest, needs, warning } = calibration;
  return (
    <Section title="What can these tasks prove?" className="at-calibration">
      <dl className="facts">
        <div>
          <dt>Smallest gain they prove</dt>
          <dd>{points(smallestGain)} points, in 4 of 5 runs</dd>
        </div>
        <div>
          <dt>Noise of one pass</dt>
          <dd>±{(noiseFloor * 100).toFixed(1)} points, the skill unchanged</dd>
        </div>
        <div>
          <dt>Noise of one attempt</dt>
          <dd>
            ±{(rolloutNoise * 100).toFixed(1)} points, on {plural(items, 'task')}
          </dd>
        </div>
        {needs.map(({ gain, items: needed }) => (
          <div key={gain}>
            <dt>To prove {points(gain)} points</dt>
            <dd>about {count(needed)} tasks</dd>
          </div>
        ))}
      </dl>
      {warning ? <p className="note">{warning}</p> : null}
      {flakiest.length > 0 ? (
        <p className="note">
          Most often by luck:{' '}
          {flakiest.map(({ id, mean, rollouts }, index) => (
            <span key={id}>
              {index > 0 ? ', ' : ''}
              <a href={runAddress(run, ['attempts'], { task: id })}>{id}</a> ({percent(mean)} of {count(rollouts)})
            </span>
          ))}
        </p>
      ) : null}
    </Section>
  );
}
