import { runAll } from '../pool.ts';
import { addSums, type Cell, type Gate, noSums, type Sums } from './cell.ts';
import type { ByGate, CellGroup } from './rows.ts';

/** Small enough that no process waits long for the last one. */
const SEEDS_A_PART = 25;

/** The sums of every group. The seeds decide, not the processes. */
export async function runGroups(
  groups: readonly CellGroup[],
  say: (progress: string) => void,
): Promise<{ group: CellGroup; byGate: ByGate }[]> {
  const parts = groups.flatMap((group) => group.cells.flatMap((cell) => split(cell).map((part) => ({ cell, part }))));
  const sums = await runAll(
    'cell',
    parts.map(({ part }) => part),
    { costOf, say },
  );
  // In the order of the seeds: sums of floats depend on it.
  const sumsOf = (cell: Cell) =>
    parts.reduce((total, part, index) => (part.cell === cell ? addSums(total, sums[index]!) : total), noSums());
  return groups.map((group) => ({ group, byGate: byGate(group, sumsOf) }));
}

function byGate({ cells }: CellGroup, sumsOf: (cell: Cell) => Sums): ByGate {
  const of = (gate: Gate) => cells.filter((cell) => cell.gate === gate).map(sumsOf);
  return {
    strict: of('strict'),
    default: of('default'),
    patient: of('patient'),
    veto: of('veto'),
    exact: of('exact'),
  };
}

function split(cell: Cell): Cell[] {
  const parts: Cell[] = [];
  for (let done = 0; done < cell.seeds; done += SEEDS_A_PART) {
    parts.push({ ...cell, firstSeed: cell.firstSeed + done, seeds: Math.min(SEEDS_A_PART, cell.seeds - done) });
  }
  return parts;
}

function costOf({ gate, budget, seeds }: Cell): number {
  return seeds * budget * (gate === 'strict' ? 1 : 10);
}
