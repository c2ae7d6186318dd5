import { shuffle } from '../../src/core/contracts/index.ts';
import { mineTasks } from '../../src/sleep/index.ts';
import { SessionDigest } from '../../src/transcripts/index.ts';
import type { BenchRow } from '../row.ts';

const SESSIONS = 2_000;
const MOST_MS = 2_000;

/** Few words are in most texts, as in a language. */
const vocabulary = Array.from({ length: 3_000 }, (_, at) => `w${at.toString(36)}`);
const words = (count: number, seed: number) => {
  const places = shuffle([...vocabulary.keys()], seed).slice(0, count);
  return places.map((place) => vocabulary[Math.floor(place ** 3 / vocabulary.length ** 2)]).join(' ');
};

const kinds: Readonly<Record<string, (at: number) => string>> = {
  short: (at) => words(15, at),
  long: (at) => words(160, at),
  'one template': (at) => `please fix the failing login test of the billing module number x${at}`,
};

/** Whether grouping and splitting grow with the number of sessions, not with its square: also where all are alike. */
export const mine: BenchRow = {
  name: 'mine',
  what: `${SESSIONS} sessions mined without a model, grouped, and all of them split; slowest of three kinds`,
  goal: '≤ 2 s of CPU',
  async run(say) {
    const times: number[] = [];
    for (const [kind, promptOf] of Object.entries(kinds)) {
      times.push(await cpuOf(promptOf));
      say(`${times.at(-1)!.toFixed(0)} ms ${kind}`);
    }
    const worst = Math.max(...times);
    return { measured: `${worst.toFixed(0)} ms`, holds: worst <= MOST_MS, figures: { worst, times } };
  },
};

async function cpuOf(promptOf: (at: number) => string): Promise<number> {
  const digests = Array.from({ length: SESSIONS }, (_, at) =>
    SessionDigest.parse({ source: 'claude', sessionId: `s${at}`, userPrompts: [promptOf(at)], nUserTurns: 1 }),
  );
  const before = process.cpuUsage();
  await mineTasks(digests, { miner: 'heuristic', maxTasks: SESSIONS });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
