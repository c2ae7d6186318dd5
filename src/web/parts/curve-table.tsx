import { useState } from 'react';
import type { CurvePoint, RunFigures } from '../../core/page/index.ts';
import { percent, plural } from '../../core/text/index.ts';
import { type Column, numbers, Table } from './table.tsx';

const SHOWN = 50;

const COLUMNS: readonly Column<CurvePoint>[] = [
  { head: 'Step', cell: ({ step }) => step },
  numbers('Best', ({ best }) => percent(best)),
  numbers('Current', ({ current }) => percent(current)),
  {
    ...numbers('Candidate', ({ candidate }) => (candidate === null ? 'not measured' : percent(candidate))),
    isMissing: ({ candidate }) => candidate === null,
  },
  { head: 'Fate', cell: ({ fate }) => fate },
];

/** The picture in numbers, for those who cannot see it. Made when it is opened. */
export function CurveTable({ figures: { curve } }: { readonly figures: RunFigures }) {
  const [isOpen, setOpen] = useState(false);
  const rows = curve.slice(-SHOWN);
  const steps = plural(curve.length, 'step');
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The curve as a table</summary>
      {isOpen ? (
        <Table
          columns={COLUMNS}
          rows={rows}
          caption={rows.length < curve.length ? `The last ${SHOWN} of ${steps}` : steps}
        />
      ) : null}
    </details>
  );
}
