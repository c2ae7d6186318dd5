import { NOT_CALLED } from '../fuzz/exceptions.ts';
import { openFuzzer, type Worst } from '../fuzz/fuzz.ts';
import { findFunctions, type TextFunction, takesText } from '../fuzz/text-functions.ts';
import type { BenchRow } from '../row.ts';

const MOST_MS = 1_000;

type Measurement = Worst & { readonly name: string; readonly stopped?: string };
type LeftOut = { readonly name: string; readonly why: string };
type Say = (progress: string) => void;

/** Whether a text that a stranger wrote can hold up a run. The functions come from the doors, the texts from a search. */
export const fuzz: BenchRow = {
  name: 'fuzz',
  what: 'slowest of all exported functions that take text, 1 MB of the worst that a search finds',
  goal: '≤ 1 s of CPU each',
  async run(say, only = '') {
    const functions = findFunctions();
    const taking = functions.filter(takesText).filter(({ name }) => name.includes(only));
    const { measured, leftOut } = await measureAll(taking, say);
    const refusing = measured.filter(({ stopped }) => stopped !== undefined);
    for (const { name, stopped } of refusing) say(`refuses a plain text: ${name}: ${stopped}`);
    for (const { name, why } of leftOut) say(`left out: ${name}: ${why}`);
    const partly = measured.filter(({ unsearched = 0 }) => unsearched > 0);
    const slow = measured.filter(({ ms }) => ms > MOST_MS);
    const counts = [
      `${functions.length} functions found, ${taking.length} take text${only && ` and are called ${only}`}`,
      `${measured.length} measured (${refusing.length} of them refuse a plain text, ${partly.length} have more texts than there was time for)`,
      `${leftOut.length} left out by name`,
      `${slow.length} over 1 s`,
    ];
    const shown = (slow.length > 0 ? slow : measured.slice(0, 3)).map(describe);
    const figures = {
      worstMs: measured[0]?.ms ?? 0,
      run: measured.length,
      stopped: refusing.length,
      slow: slow.length,
    };
    const holds = slow.length === 0 && leftOut.every(({ name }) => Object.hasOwn(NOT_CALLED, name));
    return { measured: `${counts.join(', ')}; worst: ${shown.join('; ')}`, holds, figures };
  },
};

const describe = ({ ms, name, slot, recipe }: Measurement) =>
  `${ms.toFixed(0)} ms ${name}, text ${slot}: ${JSON.stringify(recipe)}`;

const AT_ONCE = 2;

/** The slowest first, and those that could not be measured. */
async function measureAll(functions: readonly TextFunction[], say: Say) {
  const found: Found = { measured: [], leftOut: [] };
  const waiting = functions.entries();
  const start = Date.now();
  const work = async () => {
    using fuzzer = openFuzzer();
    using alone = openFuzzer();
    for (const [at, subject] of waiting) {
      const seconds = Math.round((Date.now() - start) / 1000);
      if (at > 0 && at % 50 === 0) say(`${at} of ${functions.length} functions, ${seconds} s`);
      await measure(subject, { fuzzer, alone, found });
      const { name, ms } = found.measured.at(-1) ?? {};
      if (name === subject.name && ms! > MOST_MS / 2) say(describe(found.measured.at(-1)!));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { ...found, measured: found.measured.sort((one, other) => other.ms - one.ms) };
}

type Found = { readonly measured: Measurement[]; readonly leftOut: LeftOut[] };
type Fuzzers = Record<'fuzzer' | 'alone', ReturnType<typeof openFuzzer>> & { readonly found: Found };

async function measure(subject: TextFunction, { fuzzer, alone, found: { measured, leftOut } }: Fuzzers): Promise<void> {
  const { name } = subject;
  if (Object.hasOwn(NOT_CALLED, name)) return void leftOut.push({ name, why: NOT_CALLED[name]! });
  let { worst, problem, stopped } = await fuzzer.ask({ subject, what: 'search' });
  if (worst !== undefined && worst.ms > MOST_MS) {
    alone.end(); // what other functions left behind is not its work
    ({ worst = worst, stopped } = await alone.ask({ subject, what: { again: worst } }));
  }
  if (worst === undefined) leftOut.push({ name, why: `could not be called: ${problem}` });
  else measured.push({ name, ...worst, ...(stopped !== undefined && { stopped }) });
}
