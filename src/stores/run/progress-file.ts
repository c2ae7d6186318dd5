import { constants } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress, RunNotice } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { NO_FOLLOW } from '../own-files.ts';

export const PROGRESS_FILE = 'progress.jsonl';

const GAP_MS = 100;

/** Then the file begins again: a stage may have very many tasks. */
const MOST_LINES = 2_000;

/** Of each type, in a second: when a provider is down, every call in flight is tried again. */
const MOST_NOTICES = 5;

/** A notice has the progress before it, for readers that know nothing else. */
export type ProgressLine = Progress & { readonly notice?: RunNotice };

/**
 * One line for each task or call that is done, of one stage at a time, and for notices in between, for those who watch a run
 * from another process. Nothing depends on it: what cannot be written is left out.
 */
export function openProgressFile(path: string) {
  const writer = soonWriter(path);
  const isTooMany = countBySecond(MOST_NOTICES);
  let [stage, part, count] = ['', 0, 0];
  let last: Progress = { phase: 'baseline', step: 0, done: 0, total: 0 };
  const add = (line: ProgressLine) => {
    const name = `${line.phase} ${line.step}`;
    if (name !== stage || count >= MOST_LINES) {
      [stage, count] = [name, 0];
      writer.begin(JSON.stringify({ part: ++part }));
    }
    count += 1;
    writer.add(JSON.stringify(line));
  };
  return {
    note(progress: Progress): void {
      const { result: _result, ...place } = progress;
      last = place;
      add(progress);
    },
    noteNotice(notice: RunNotice): void {
      if (!isTooMany(notice.type)) add({ ...last, notice });
    },
    /** Removes the file: the journal says that a run is over. */
    async close(): Promise<void> {
      await writer.stop();
      if (part > 0) await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** Whether a name came up more often than `most` times in this second. */
function countBySecond(most: number) {
  let [second, counts] = [0, new Map<string, number>()];
  return (name: string): boolean => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) [second, counts] = [now, new Map()];
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count > most;
  };
}

/** Lines that come in within a moment are written together, in the background. */
function soonWriter(path: string) {
  let [lines, isNew, isOver] = [[] as string[], false, false];
  let writing: Promise<void> | undefined;
  const closing = new AbortController();
  const writeAll = async () => {
    while (lines.length > 0 && !isOver) {
      await moment(closing.signal);
      const text = lines.splice(0).join('');
      const isFirst = isNew;
      isNew = false;
      if (!isOver) await write(path, text, isFirst);
    }
  };
  const fail = () => {
    isOver = true;
  };
  return {
    /** The file begins again with this line. */
    begin(line: string) {
      [lines, isNew] = [[`${line}\n`], true];
    },
    add(line: string) {
      if (isOver) return;
      lines.push(`${line}\n`);
      writing ??= writeAll()
        .catch(fail)
        .finally(() => {
          writing = undefined;
        });
    },
    async stop() {
      isOver = true;
      closing.abort();
      await writing;
    },
  };
}

/** Keeps no process alive. Closing cuts it short: a process that had nothing else to wait for would end in the middle. */
const moment = (closing: AbortSignal) =>
  delay(GAP_MS, undefined, { ref: false, signal: closing }).catch(() => undefined);

async function write(path: string, text: string, isFirst: boolean): Promise<void> {
  const mode = isFirst ? constants.O_TRUNC : constants.O_APPEND;
  await using file = await open(path, constants.O_WRONLY | constants.O_CREAT | NO_FOLLOW | mode, 0o666);
  await file.writeFile(text);
}

export type ProgressPlace = { readonly part: number; readonly count: number };

/** The lines after a place, and where they end. A missing file holds none; torn and unknown lines are left out. */
export async function readProgress(path: string, from: ProgressPlace) {
  const [head = '', ...lines] = (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  const { part = from.part } = (parseJson(head) as { part?: number } | undefined) ?? {};
  const known = part === from.part ? from.count : 0;
  const news = lines.slice(known).flatMap((line): ProgressLine[] => {
    const found = parseJson(line);
    return isProgress(found) ? [found] : [];
  });
  return { news, place: { part, count: Math.max(known, lines.length) } };
}

function isProgress(value: unknown): value is ProgressLine {
  const { phase, step, done, total } = (value ?? {}) as Partial<Progress>;
  return typeof phase === 'string' && [step, done, total].every(Number.isFinite);
}
