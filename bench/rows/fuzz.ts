import { NOT_CALLED } from '../fuzz/exceptions.ts';
import { openFuzzer } from '../fuzz/fuzz.ts';
import { findFunctions, type TextFunction, takesText } from '../fuzz/text-functions.ts';
import type { BenchRow } from '../row.ts';

const MOST_MS = 1_000;
type Tried = {
  readonly name: string;
  readonly ms: number;
  readonly text: string;
  readonly stopped: string | undefined;
};

/** Whether a text that a stranger wrote can hold up a run. The functions come from the doors, the texts from a search. */
export const fuzz: BenchRow = {
  name: 'fuzz',
  what: 'slowest of all exported functions that take text, 1 MB of the worst that a search finds',
  goal: '≤ 1 s of CPU each',
  async run(say) {
    const functions = findFunctions();
    const taking = functions.filter(takesText);
    const called = taking.filter(({ name }) => !Object.hasOwn(NOT_CALLED, name));
    const all = await tryEach(called, say);
    const slow = all.filter(({ ms }) => ms > MOST_MS);
    const stopped = all.filter((one) => one.stopped !== undefined);
    for (const one of stopped) say(`a plain text is refused by ${one.name}: ${one.stopped}`);
    const counts = [
      `${functions.length} functions, ${functions.length - taking.length} take no text`,
      `${taking.length - called.length} are not called, for a stated reason`,
      `${all.length} run (${stopped.length} of them refuse plain text)`,
      `${slow.length} over 1 s`,
    ];
    const shown = (slow.length > 0 ? slow : all.slice(0, 3)).map(
      ({ name, ms, text }) => `${ms.toFixed(0)} ms ${name}: ${text}`,
    );
    const figures = { worstMs: all[0]!.ms, run: all.length, stopped: stopped.length, slow: slow.length };
    return { measured: `${counts.join(', ')}; ${shown.join('; ')}`, holds: slow.length === 0, figures };
  },
};

/** The slowest first. */
async function tryEach(functions: readonly TextFunction[], say: (progress: string) => void): Promise<Tried[]> {
  using fuzzer = openFuzzer();
  const all: Tried[] = [];
  for (const [at, subject] of functions.entries()) {
    const { worst, problem, stopped } = await fuzzer.ask(subject);
    if (worst === undefined) throw new Error(`${subject.name} could not be called: ${problem}`);
    all.push({ name: subject.name, stopped, ...worst });
    if (worst.ms > MOST_MS / 2) say(`${worst.ms.toFixed(0)} ms ${subject.name}: ${worst.text}`);
    if (at % 100 === 99) say(`${at + 1} of ${functions.length} functions`);
  }
  return all.sort((one, other) => other.ms - one.ms);
}
