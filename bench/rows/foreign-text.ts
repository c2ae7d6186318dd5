import { countTokens } from '../../src/public/models.ts';
import { callWithin, cpuSince } from '../cpu-time.ts';
import { hostileTexts } from '../foreign-text/hostile-texts.ts';
import { beginningsOf, findPatterns } from '../foreign-text/patterns.ts';
import { POISON_PIECES, poisonReaders } from '../foreign-text/poison.ts';
import { readers } from '../foreign-text/readers.ts';
import { REDACTION_PIECES, redactionReaders } from '../foreign-text/redaction.ts';
import type { BenchRow } from '../row.ts';

const BYTES = 1_000_000;
const MOST_MS = 1_000;

type Time = { readonly what: string; readonly ms: number };

/** Whether a text that a stranger wrote can hold up a run: every reader and every pattern gets the texts it likes least. */
export const foreignText: BenchRow = {
  name: 'foreign-text',
  what: 'slowest of all patterns and readers of foreign text, 1 MB of what it likes least',
  goal: '≤ 1 s of CPU each',
  async run(say) {
    const texts = hostileTexts(BYTES);
    const timeAll = (all: typeof readers, hostile: typeof texts) =>
      Object.entries(all).map(([name, reader]) => {
        const worst = slowest([...hostile].map(([kind, text]) => timed(`${name}: ${kind}`, () => reader(text))));
        say(`${worst.ms.toFixed(0)} ms ${worst.what}`);
        return worst;
      });
    const redacted = timeAll(redactionReaders, hostileTexts(BYTES, REDACTION_PIECES));
    const poisoned = timeAll(poisonReaders, hostileTexts(BYTES, POISON_PIECES));
    const read = [...redacted, ...poisoned, ...timeAll(readers, texts)];
    const patterns = findPatterns();
    say(`${patterns.length} patterns`);
    const matched = patterns.map(({ where, pattern }, at) => {
      if (at > 0 && at % 100 === 0) say(`${at} patterns done`);
      return slowestMatch(where, pattern);
    });
    const counted = await timeTokens(texts);
    const all = [...read, ...matched, counted].sort((one, other) => other.ms - one.ms);
    const slow = all.filter(({ ms }) => ms > MOST_MS);
    const shown = (slow.length > 0 ? slow : all.slice(0, 3)).map(({ what, ms }) => `${ms.toFixed(0)} ms ${what}`);
    const measured = `${all.length - slow.length} of ${all.length} within it; ${shown.join('; ')}`;
    return { measured, holds: slow.length === 0, figures: { worstMs: all[0]!.ms, count: all.length } };
  },
};

/** Of a shorter text, for there are many: what takes a square of time is still far above the limit. */
const PATTERN_BYTES = 20_000;

function slowestMatch(where: string, pattern: RegExp): Time {
  const match = (text: string) => () => (pattern.global ? text.replace(pattern, '') : pattern.test(text));
  const beginnings = beginningsOf(pattern);
  const times = [...hostileTexts(PATTERN_BYTES, beginnings)].flatMap(([kind, text]) =>
    ['', ...beginnings.slice(0, 1)].map((lead) =>
      timed(`${where} ${lead} ${kind}`, match(`${lead}${text}\u0001`), MOST_MS * (PATTERN_BYTES / BYTES)),
    ),
  );
  const { what, ms } = slowest(times);
  return { what, ms: ms * (BYTES / PATTERN_BYTES) };
}

const slowest = (times: readonly Time[]) => times.reduce((one, other) => (other.ms > one.ms ? other : one));

/** What is slow is timed again, twice: collecting garbage is not the work. What takes far too long is ended. */
function timed(what: string, work: () => unknown, most = MOST_MS): Time {
  const timedOnce = () => callWithin(3 * MOST_MS, work).ms;
  const ms = timedOnce();
  return { what, ms: ms <= most ? ms : Math.min(ms, timedOnce(), timedOnce()) };
}

async function timeTokens(texts: ReadonlyMap<string, string>): Promise<Time> {
  await countTokens('loads the ranks');
  const times: Time[] = [];
  for (const [kind, text] of texts) {
    const before = process.cpuUsage();
    await countTokens(text);
    times.push({ what: `countTokens: ${kind}`, ms: cpuSince(before) });
  }
  return slowest(times);
}
