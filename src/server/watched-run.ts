import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { standingOf } from '../app/index.ts';
import { type DoingPage, type Problem, type RunPage, type RunView, runFigures } from '../core/page/index.ts';
import type { VerdictOptions } from '../core/run/index.ts';
import { runWords } from '../report/index.ts';
import { JOURNAL_FILE, type RunListing } from '../stores/index.ts';
import { readDoing } from './doing.ts';
import { type Folded, foldOn, nothingFolded } from './fold-run.ts';

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

/** A run that is folded once, and read on while somebody watches it. */
export type WatchedRun = {
  readonly path: string;
  /** Reads what is new, and answers with what is known then. */
  look(): Promise<Shown>;
  /** What the last look has found. */
  now(): Shown | undefined;
  /** Notifies of every change until the answer is called. */
  watch(notify: () => void): () => void;
  /** Since when nobody has watched or looked, in milliseconds; undefined while somebody watches. */
  idleSince(): number | undefined;
  close(): void;
};

/** At most ten looks a second; and one every two seconds, since a watch gets lost on network disks. */
const LEAST_GAP_MS = 100;
const TIMER_MS = 2_000;
/** Whether it runs and what it has spent is not in the journal. */
const STANDING_MS = 1_000;

export function watchRun({ name, path }: RunListing): WatchedRun {
  const listeners = new Set<() => void>();
  const reader = runReader(name, path);
  let [lastLook, usedAt] = [0, Date.now()];
  let [looking, last]: [Promise<Shown>?, Shown?] = [];
  let [next, timer, watcher]: [NodeJS.Timeout?, NodeJS.Timeout?, FSWatcher?] = [];

  const look = () => {
    usedAt = Date.now();
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const lookOnce = async () => {
    const shown = await reader();
    lastLook = Date.now();
    const isNew = shown !== last;
    last = shown;
    if (isNew) for (const notify of [...listeners]) notify();
    return shown;
  };
  const lookSoon = () => {
    next ??= setTimeout(
      () => {
        next = undefined;
        void look().catch(() => undefined); // the next request says why
      },
      Math.max(0, lastLook + LEAST_GAP_MS - Date.now()),
    ).unref();
  };
  const stop = () => {
    watcher?.close();
    clearInterval(timer);
    clearTimeout(next);
    next = timer = watcher = undefined;
  };
  /** Again at each tick: a folder that was moved away and back is another one for the system. */
  const tick = () => {
    watcher?.close();
    watcher = watchFolder(path, lookSoon);
    lookSoon();
  };
  return {
    path,
    look,
    now: () => last,
    watch(notify) {
      if (listeners.size === 0) {
        timer = setInterval(tick, TIMER_MS).unref();
        tick();
      }
      listeners.add(notify);
      return () => {
        listeners.delete(notify);
        usedAt = Date.now();
        if (listeners.size === 0) stop();
      };
    },
    idleSince: () => (listeners.size > 0 ? undefined : usedAt),
    close: stop,
  };
}

function watchFolder(path: string, notify: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, notify).on('error', () => undefined);
  } catch {
    return undefined; // the timer looks
  }
}

/** Makes a page when the journal has grown, or when what is beside it says something else. */
function runReader(name: string, path: string) {
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

/** Paths are those of the run's folder: a page says nothing about the machine. */
export function pageOf(
  { name, path }: Pick<RunListing, 'name' | 'path'>,
  view: RunView,
  standing: VerdictOptions,
): RunPage {
  const { skillSource } = view.state;
  const words = runWords(view.state, standing, {
    run: name,
    bestSkillPath: `${name}/best_skill.md`,
    ...(skillSource && { skillFile: resolve(path, skillSource.path).split(/[/\\]/).slice(-2).join('/') }),
  });
  return {
    ...{ name, lines: view.lines, isRunning: standing.isRunning ?? false, words },
    figures: runFigures(view, standing),
  };
}
