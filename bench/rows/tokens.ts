import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { countTokens } from 'skillopt/models';
import { type BenchRow, median } from '../row.ts';

const LENGTH = 50_000;
const ROUNDS = 9;
const MOST_TIMES = 30;

const documents = ['README.md', 'AGENTS.md', 'docs/algorithm.md', 'CHANGELOG.md'].map((path) =>
  readFileSync(path, 'utf8'),
);
const english = (round: number) => `${round} ${documents.join('\n').repeat(9)}`.slice(0, LENGTH);

/** Texts that a tokenizer likes least. Each round has one of its own, since a count is remembered. */
const awkward: Readonly<Record<string, (round: number) => string>> = {
  'one letter': (round) => String.fromCharCode(97 + round).repeat(LENGTH),
  emoji: (round) => String.fromCodePoint(0x1f600 + round).repeat(LENGTH / 4), // four bytes each
  base64: () => randomBytes((LENGTH / 4) * 3).toString('base64'),
  'random letters': () => Buffer.from(randomBytes(LENGTH).map((byte) => 97 + (byte % 26))).toString('latin1'), // a single word
  'one CJK sign': (round) => String.fromCodePoint(0x6f22 + round).repeat(LENGTH / 3), // three bytes each
};

/** Whether a strange text can hold up a run: counting must take about as long as for any other text of its size. */
export const tokens: BenchRow = {
  name: 'tokens',
  what: 'counting the tokens of 50 kB of one letter, emoji, base64, random letters, one CJK sign',
  goal: `≤ ${MOST_TIMES} × 50 kB of English; again: ≤ 1 ms`,
  async run() {
    await timeCounts((round) => english(round + ROUNDS)); // loads the ranks, and lets the engine compile
    const base = await timeCounts(english);
    const times = await timeKinds();
    const ratios = Object.fromEntries(times.map(([kind, { first }]) => [kind, first / base.first]));
    const again = Math.max(base.again, ...times.map(([, time]) => time.again));
    const shown = Object.entries(ratios).map(([kind, ratio]) => `${kind} ${ratio.toFixed(1)} ×`);
    const measured = `${shown.join(', ')} of ${base.first.toFixed(1)} ms; again ${again.toFixed(3)} ms`;
    const holds = Math.max(...Object.values(ratios)) <= MOST_TIMES && again <= 1;
    return { measured, holds, figures: { englishMs: base.first, again, ...ratios } };
  },
};

async function timeKinds() {
  const times: [string, Times][] = [];
  for (const [kind, text] of Object.entries(awkward)) times.push([kind, await timeCounts(text)]);
  return times;
}

type Times = { readonly first: number; readonly again: number };

async function timeCounts(text: (round: number) => string): Promise<Times> {
  const texts = Array.from({ length: ROUNDS }, (_, round) => text(round));
  return { first: await medianTime(texts), again: await medianTime(texts) };
}

async function medianTime(texts: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (const text of texts) {
    const start = performance.now();
    await countTokens(text);
    times.push(performance.now() - start);
  }
  return median(times);
}
