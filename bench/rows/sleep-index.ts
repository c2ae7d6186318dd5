import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harvest, openSessionIndex, overview, updateIndex } from '../../src/sleep/index.ts';
import type { TranscriptSource } from '../../src/transcripts/index.ts';
import { claude } from '../../src/transcripts/sources/claude.ts';
import { type BenchRow, median } from '../row.ts';

const [SESSIONS, CORPUS_MB, MANY] = [400, 200, 2_000];
const [MOST_SHARE, MOST_MS, TIMES] = [0.05, 1_000, 7];

/** Whether a second harvest costs what is new, and not what is there. */
export const sleepIndexUnchanged: BenchRow = {
  name: 'sleep-index',
  what: `harvest of ${CORPUS_MB} MB in ${SESSIONS} sessions, nothing new, against the full scan`,
  goal: `≤ ${MOST_SHARE * 100} % of it, no file opened`,
  run: (say) =>
    inCorpus(SESSIONS, (CORPUS_MB * 1e6) / SESSIONS, async (world) => {
      const first = await world.scan();
      say(`full scan ${first.ms.toFixed(0)} ms`);
      const again = await world.scanAgain();
      const share = again.ms / first.ms;
      const measured = `${(share * 100).toFixed(2)} % (${again.ms.toFixed(0)} of ${first.ms.toFixed(0)} ms), ${again.opened} opened`;
      const isRight = first.sessions === SESSIONS && again.sessions === 0 && again.opened === 0;
      return {
        measured,
        holds: isRight && share <= MOST_SHARE,
        figures: { fullMs: first.ms, againMs: again.ms, share },
      };
    }),
};

/** What `skillopt sleep` does, but for starting the process. */
export const sleepIndexOverview: BenchRow = {
  name: 'sleep-index',
  what: `overview of ${MANY} sessions, the second time`,
  goal: `≤ ${MOST_MS / 1000} s, no file opened`,
  run: (say) =>
    inCorpus(MANY, 4_000, async (world) => {
      say(`first time ${(await world.look()).ms.toFixed(0)} ms`);
      const looks = [];
      for (let time = 0; time < TIMES; time++) looks.push(await world.look());
      const ms = median(looks.map((look) => look.ms));
      const opened = looks.reduce((sum, look) => sum + look.opened, 0);
      const isRight = looks.every(({ sessions }) => sessions === MANY) && opened === 0;
      return {
        measured: `${ms.toFixed(0)} ms, ${opened} opened`,
        holds: isRight && ms <= MOST_MS,
        figures: { ms, opened },
      };
    }),
};

type Look = { readonly ms: number; readonly sessions: number; readonly opened: number };

async function inCorpus<Answer>(
  sessions: number,
  bytes: number,
  work: (world: World) => Promise<Answer>,
): Promise<Answer> {
  const home = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  try {
    for (let session = 0; session < sessions; session++) writeSession(home, session, bytes);
    return await work(worldIn(home));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

type World = ReturnType<typeof worldIn>;

function worldIn(home: string) {
  const place = { env: {}, home, platform: process.platform };
  let opened = 0;
  let cursors = {};
  const source: TranscriptSource = {
    ...claude,
    read(file, options) {
      opened += 1;
      return claude.read(file, options);
    },
  };
  const timed = async (work: () => Promise<number>): Promise<Look> => {
    const [start, before] = [performance.now(), opened];
    const sessions = await work();
    return { ms: performance.now() - start, sessions, opened: opened - before };
  };
  const scan = () =>
    timed(async () => {
      using index = await openSessionIndex(join(home, 'state'));
      const { sessions, newCursor } = await harvest({
        sources: [source],
        place,
        scope: 'all',
        index,
        cursors,
        now: Date.UTC(2026, 0, 20), // within a month of the sessions, which are remembered one by one
      });
      cursors = newCursor;
      return sessions.length;
    });
  const look = () =>
    timed(async () => {
      using index = await openSessionIndex(join(home, 'state'));
      await updateIndex({ sources: [source], place, index, now: Date.now() });
      return overview(index).usable;
    });
  const scanAgain = async () => {
    const scans = [];
    for (let time = 0; time < TIMES; time++) scans.push(await scan());
    const ms = median(scans.map((one) => one.ms));
    return { ms, sessions: scans[0]!.sessions, opened: scans.reduce((sum, one) => sum + one.opened, 0) };
  };
  return { scan, scanAgain, look };
}

const FILLER = 'const "total" = items.reduce((sum, item) => sum + item.price, 0); // ok\n';

/** As agents write them: a tenth of the records is a person's or an answer, the rest is what tools said. */
function writeSession(home: string, session: number, bytes: number): void {
  const folder = join(home, '.claude', 'projects', `-work-${session % 20}`);
  mkdirSync(folder, { recursive: true });
  const lines: string[] = [];
  for (let size = 0, index = 0; size < bytes || index < 4; index++) {
    lines.push(JSON.stringify(recordAt(session, index)));
    size += lines.at(-1)!.length;
  }
  const path = join(folder, `session-${session}.jsonl`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  utimesSync(path, 1_767_225_600, 1_767_225_600); // long ago, so that the file is settled
}

function recordAt(session: number, index: number) {
  const text = FILLER.repeat(index % 2 === 0 ? 10 : 270);
  const timestamp = new Date(Date.UTC(2026, 0, 1) + (session * 1_000 + index) * 1_000).toISOString();
  const facts = {
    sessionId: `session-${session}`,
    cwd: `/home/ana/project-${session % 20}`,
    gitBranch: 'main',
    timestamp,
  };
  if (index % 20 === 0)
    return { ...facts, type: 'user', message: { role: 'user', content: `Change ${index}: ${text}` } };
  if (index % 20 === 2) {
    return {
      ...facts,
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text: `Done. ${text}` }] },
    };
  }
  const content = [{ type: 'tool_result', tool_use_id: `t${index}`, content: text }];
  return { ...facts, type: 'user', message: { role: 'user', content }, toolUseResult: { stdout: '' } };
}
