import { mean } from '../interval.ts';
import type { Row } from '../row.ts';
import type { WorldName } from './cells.ts';
import { figuresOf, inWords, meansOf, points, type Runs, sharesOf, valuesOf } from './runs.ts';
import { NULL_SIZE } from './setting.ts';
import { coverageRow, errorRow, type RunsIn } from './size-rows.ts';

/** Worlds in which no text changes anything: any gain that is claimed there is wrong. */
export function nullRows(runsIn: RunsIn): Row[] {
  const runs = runsIn(({ group }) => group === 'null');
  const ofWorld = (name: WorldName) => runsIn(({ group, world }) => group === 'null' && world === name);
  const rows = [claimRow(runs, [ofWorld('own'), ofWorld('rules')]), errorRow(runs), coverageRow(runs)];
  return rows.map((row) => ({ ...row, what: `${NULL_SIZE} target calls, null worlds: ${row.what}` }));
}

function claimRow(runs: Runs, worlds: readonly Runs[]): Row {
  const claims = meansOf(runs, 'claims');
  const parts = worlds.map((world) => mean(valuesOf(world.default, 'claims')));
  const accepted = sharesOf(runs, 'nullAccepted', 'nullOffered');
  return {
    what: 'runs that claim, %',
    goal: '≤ 4 %',
    measured: `${inWords(claims, points)} [${parts.map(points).join(' · ')}]; null accepted ${inWords(accepted, points)}`,
    holds: claims.default.mean <= 0.04,
    figures: { ...figuresOf(claims), parts },
  };
}
