import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Input, Output, WorkName } from './work.ts';

const MOST_PROCESSES = 8;

type Options<Name extends WorkName> = {
  /** The costly ones come first, so that no process waits long for the last one. */
  readonly costOf?: (input: Input<Name>) => number;
  readonly say: (progress: string) => void;
};

/** The outputs in the order of the inputs, by as many processes as there are cores. */
export async function runAll<Name extends WorkName>(
  name: Name,
  inputs: readonly Input<Name>[],
  { costOf = () => 0, say }: Options<Name>,
): Promise<Output<Name>[]> {
  const outputs: Output<Name>[] = [];
  const waiting = inputs.map((input, index) => ({ input, index })).sort((a, b) => costOf(b.input) - costOf(a.input));
  const tell = percentTeller(inputs.length, say);
  const work = async (child: ChildProcess) => {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`a bench process ended with ${code}`)));
    ended.catch(() => {}); // at the end they are told to
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outputs[next.index] = await Promise.race([ended, ask<Output<Name>>(child, { name, input: next.input })]);
      tell();
    }
  };
  const count = Math.min(MOST_PROCESSES, availableParallelism(), inputs.length);
  const children = Array.from({ length: count }, () => fork(new URL('worker.ts', import.meta.url)));
  try {
    await Promise.all(children.map(work));
  } finally {
    for (const child of children) child.kill();
  }
  return outputs;
}

function ask<Reply>(child: ChildProcess, message: object): Promise<Reply> {
  return new Promise((resolve) => {
    child.once('message', (reply) => resolve(reply as Reply));
    child.send(message);
  });
}

const PERCENT_A_LINE = 10;

function percentTeller(all: number, say: (progress: string) => void): () => void {
  let [done, told] = [0, 0];
  return () => {
    const percent = Math.floor((100 * ++done) / all);
    if (percent < told + PERCENT_A_LINE && done < all) return;
    told = percent;
    say(`${percent} %`);
  };
}
