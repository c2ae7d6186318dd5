import { useState } from 'react';
import type { RunFigures } from '../../core/page/index.ts';
import { percent, plural } from '../../core/text/index.ts';

const SHOWN = 50;

/** The picture in numbers, for those who cannot see it. Made when it is opened. */
export function CurveTable({ figures: { curve } }: { readonly figures: RunFigures }) {
  const [isOpen, setOpen] = useState(false);
  const rows = curve.slice(-SHOWN);
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The curve as a table</summary>
      {isOpen ? (
        <table>
          <caption>
            {rows.length < curve.length
              ? `The last ${SHOWN} of ${plural(curve.length, 'step')}`
              : plural(curve.length, 'step')}
          </caption>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col" className="number">
                Best
              </th>
              <th scope="col" className="number">
                Current
              </th>
              <th scope="col" className="number">
                Candidate
              </th>
              <th scope="col">Fate</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ step, best, current, candidate, fate }) => (
              <tr key={step}>
                <th scope="row">{step}</th>
                <td className="number">{percent(best)}</td>
                <td className="number">{percent(current)}</td>
                <td className={`number ${candidate === null ? 'missing' : ''}`}>
                  {candidate === null ? 'not measured' : percent(candidate)}
                </td>
                <td>{fate}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </details>
  );
}
