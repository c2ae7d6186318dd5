import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { addSums, type Cell, noSums, type Sums } from './cell.ts';

/** Small enough that no process waits long for the last one. */
const SEEDS_A_PART = 25;

/** The sums of every cell, in order, by as many processes as there are cores. The seeds decide, not the processes. */
export async function runCells(cells: readonly Cell[], say: (done: number, all: number) => void): Promise<Sums[]> {
  const parts = cells.flatMap((cell, index) => split(cell).map((part) => ({ index, part, sums: noSums() })));
  const costly = [...parts].sort((a, b) => costOf(b.part) - costOf(a.part));
  let done = 0;
  const work = async (child: ChildProcess) => {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`a bench process ended with ${code}`)));
    ended.catch(() => {}); // at the end they are told to
    for (let next = costly.shift(); next !== undefined; next = costly.shift()) {
      next.sums = await Promise.race([ended, ask(child, next.part)]);
      say(++done, parts.length);
    }
    child.kill();
  };
  const children = Array.from({ length: Math.min(8, availableParallelism()) }, () =>
    fork(new URL('worker.ts', import.meta.url)),
  );
  await Promise.all(children.map(work));
  // In the order of the seeds: sums of floats depend on it.
  return cells.map((_, index) =>
    parts.filter((part) => part.index === index).reduce((total, { sums }) => addSums(total, sums), noSums()),
  );
}

function ask(child: ChildProcess, cell: Cell): Promise<Sums> {
  return new Promise((resolve) => {
    child.once('message', (sums: Sums) => resolve(sums));
    child.send(cell);
  });
}

function split(cell: Cell): Cell[] {
  const parts: Cell[] = [];
  for (let done = 0; done < cell.seeds; done += SEEDS_A_PART) {
    parts.push({ ...cell, firstSeed: cell.firstSeed + done, seeds: Math.min(SEEDS_A_PART, cell.seeds - done) });
  }
  return parts;
}

function costOf({ gate, budget, seeds }: Cell): number {
  return seeds * budget * (gate === 'default' ? 10 : 1);
}
