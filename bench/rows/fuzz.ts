import { NOT_CALLED } from '../fuzz/exceptions.ts';
import { openFuzzer } from '../fuzz/fuzz.ts';
import { findTextFunctions } from '../fuzz/text-functions.ts';
import type { BenchRow } from '../row.ts';

const MOST_MS = 1_000;

/** Whether a text that a stranger wrote can hold up a run. The functions come from the doors, the texts from a search. */
export const fuzz: BenchRow = {
  name: 'fuzz',
  what: 'slowest of all exported functions that take text, 1 MB of the worst that a search finds',
  goal: '≤ 1 s of CPU each',
  async run(say) {
    using fuzzer = openFuzzer();
    const functions = findTextFunctions().filter(({ name }) => !Object.hasOwn(NOT_CALLED, name));
    const all: { name: string; ms: number; text: string }[] = [];
    for (const [at, subject] of functions.entries()) {
      const { worst, problem } = await fuzzer.ask(subject);
      if (worst === undefined) throw new Error(`${subject.name} could not be called: ${problem}`);
      all.push({ name: subject.name, ...worst });
      if (worst.ms > MOST_MS / 2) say(`${worst.ms.toFixed(0)} ms ${subject.name}: ${worst.text}`);
      if (at % 100 === 99) say(`${at + 1} of ${functions.length} functions`);
    }
    all.sort((one, other) => other.ms - one.ms);
    const slow = all.filter(({ ms }) => ms > MOST_MS);
    const shown = (slow.length > 0 ? slow : all.slice(0, 3)).map(
      ({ name, ms, text }) => `${ms.toFixed(0)} ms ${name}: ${text}`,
    );
    const measured = `${all.length - slow.length} of ${all.length} within it; ${shown.join('; ')}`;
    return { measured, holds: slow.length === 0, figures: { worstMs: all[0]!.ms, count: all.length } };
  },
};
