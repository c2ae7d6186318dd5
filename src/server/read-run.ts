import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { standingOf } from '../app/index.ts';
import {
  type DoingPage,
  noView,
  type Problem,
  projectRun,
  type RunPage,
  type RunView,
  runFigures,
} from '../core/page/index.ts';
import type { Progress, RunEvent, RunNotice, VerdictOptions } from '../core/run/index.ts';
import { growing, oneLine, plural } from '../core/text/index.ts';
import { runWords } from '../report/index.ts';
import {
  foldJournal,
  JOURNAL_FILE,
  type JournalPlace,
  LEDGER_FILE,
  lockedSince,
  PROGRESS_FILE,
  type ProgressPlace,
  type RunListing,
  readLedger,
  readProgress,
} from '../stores/index.ts';
import { problemOf } from './failure.ts';

/** What is known of a run at a moment. */
export type Shown = {
  readonly view: RunView;
  readonly types: readonly string[];
  readonly page: RunPage;
  /** The same for the same page: lines of the journal, and for a run under way what its other files say. */
  readonly id: string;
  readonly problem?: Problem | undefined;
  readonly doing: DoingPage;
};

/** Whether it runs and what it has spent is not in the journal. */
const STANDING_MS = 1_000;

/** Makes a page when the journal has grown, or when what is beside it says something else. */
export function runReader(name: string, path: string) {
  let folded: Folded = nothingFolded;
  let [standing, standingText, standingAt]: [VerdictOptions, string, number] = [{}, '', 0];
  let shown: Shown | undefined;
  const doingOf = readDoing(path);
  return async (): Promise<Shown> => {
    const next = await foldOn(join(path, JOURNAL_FILE), folded);
    let isOther = next !== folded || shown === undefined;
    folded = next;
    if (isOther || Date.now() - standingAt >= STANDING_MS) {
      standing = await standingOf({ path, name, state: folded.view.state }).catch(() => ({}));
      const text = JSON.stringify(standing);
      isOther ||= text !== standingText;
      [standingText, standingAt] = [text, Date.now()];
    }
    const doing = await doingOf(standing.isRunning ?? false);
    const { view, types, problem } = folded;
    if (isOther || shown === undefined) {
      const id = view.state.isDone ? `${view.lines}` : `${view.lines}.${shortHash(standingText)}`;
      shown = { view, types, page: pageOf({ name, path }, view, standing), id, problem, doing };
    } else if (shown.doing !== doing) shown = { ...shown, doing };
    return shown;
  };
}

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Paths begin where the folder of runs lies: a page says nothing about the machine. */
export function pageOf(
  { name, path }: Pick<RunListing, 'name' | 'path'>,
  view: RunView,
  standing: VerdictOptions,
): RunPage {
  const { skillSource } = view.state;
  const words = runWords(view.state, standing, {
    run: name,
    bestSkillPath: placeFrom(path, 'best_skill.md'),
    ...(skillSource && { skillFile: placeFrom(path, skillSource.path) }),
  });
  return {
    ...{ name, lines: view.lines, isRunning: standing.isRunning ?? false, words },
    figures: runFigures(view, standing),
  };
}

/** A file that a run names, from the folder that `runs` lies in; elsewhere only its end. */
function placeFrom(run: string, file: string): string {
  const parts = relative(resolve(run, '../..'), resolve(run, file)).split(/[/\\]/);
  return parts[0] === '..' ? ['…', ...parts.slice(-2)].join('/') : parts.join('/');
}

/** A run as far as its journal could be read. */
type Folded = {
  readonly view: RunView;
  /** The types of its events, in order. */
  readonly types: readonly string[];
  readonly problem?: Problem;
  /** Where reading continues; undefined after a line that cannot be read. */
  readonly place?: JournalPlace;
  /** Which file that was, and its size and time. */
  readonly file: string;
  readonly stamp: string;
};

const nothingFolded: Folded = { view: noView, types: [], file: '', stamp: '' };

const VANISHED: Problem = {
  message: 'The folder of this run is gone: it was moved or deleted.',
  hint: 'What you see is the last that was read. It continues when the folder is back.',
};

/** Reads what is new. A journal that was replaced is read again from its beginning. Never throws: it says what is wrong. */
async function foldOn(journal: string, known: Folded): Promise<Folded> {
  const found = await stat(journal).catch(() => undefined);
  if (found === undefined) return known.problem === VANISHED ? known : { ...known, problem: VANISHED, stamp: '' };
  const file = `${found.dev}:${found.ino}`;
  const stamp = `${file}:${found.size}:${found.mtimeMs}`;
  if (stamp === known.stamp) return known;
  const isLonger = known.place !== undefined && known.file === file && found.size >= known.place.size;
  const more = isLonger ? await fold(journal, known) : undefined;
  const folded = more && !more.problem ? more : await fold(journal, nothingFolded);
  return { ...folded, file, stamp };
}

async function fold(journal: string, from: Folded): Promise<Folded> {
  let { view } = from;
  const project = growing(projectRun);
  const types = from.types.slice();
  const take = (event: RunEvent) => {
    view = project(view, event);
    types.push(event.type);
  };
  try {
    const place = await foldJournal(journal, take, from.place);
    return { view, types, place, file: '', stamp: '' };
  } catch (error) {
    return { view, types, problem: problemOf(error), file: '', stamp: '' };
  }
}

const NOTHING: DoingPage = { progress: null, waiting: 0, retries: 0, notices: [] };

/** Reads what a run is doing from the files that it writes for those who watch. The same object when nothing is new. */
function readDoing(path: string): (isRunning: boolean) => Promise<DoingPage> {
  let place: ProgressPlace = { part: -1, count: 0 };
  let [doing, stamp] = [NOTHING, ''];
  return async (isRunning) => {
    if (!isRunning) {
      doing = NOTHING;
      return doing;
    }
    const stamps = await Promise.all([PROGRESS_FILE, LEDGER_FILE].map((file) => stampOf(join(path, file))));
    if (stamps.join() === stamp) return doing;
    stamp = stamps.join();
    const { news, place: next } = await readProgress(join(path, PROGRESS_FILE), place);
    place = next;
    const notices = news.flatMap(({ notice }) => notice ?? []);
    const last = news.at(-1);
    doing = {
      progress: last ? progressIn(last) : doing.progress,
      waiting: await callsInFlight(path),
      retries: doing.retries + notices.filter(({ type }) => type === 'retry').length,
      notices: [...doing.notices, ...notices.flatMap(wordsOf)].slice(-MOST_NOTICES),
    };
    return doing;
  };
}

const progressIn = ({ phase, step, done, total, result }: Progress): Progress => ({
  ...{ phase, step, done, total },
  ...(result && { result }),
});

const MOST_NOTICES = 5;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

function wordsOf(notice: RunNotice): string[] {
  if (notice.type === 'retry') return [`${oneLine(notice.message)}: tried again after ${seconds(notice.delayMs)}`];
  if (notice.type !== 'rate-limit') return [];
  const { account, change } = notice;
  if (change.type === 'pause') return [`${account} pauses for ${seconds(change.pauseMs)}: its rate limit`];
  return [`${account}: at most ${plural(change.calls, 'call')} at once now`];
}

const stampOf = (path: string) =>
  stat(path).then(
    ({ size, mtimeMs }) => `${size}:${mtimeMs}`,
    () => '',
  );

/** Calls of the process that works on the run now. What a killed one had in flight may have been answered, and does not wait. */
async function callsInFlight(path: string): Promise<number> {
  const aliveSince = (await lockedSince(path)) ?? 0;
  const { inFlight } = await readLedger(join(path, LEDGER_FILE), aliveSince).catch(() => ({ inFlight: 0 }));
  return inFlight;
}
