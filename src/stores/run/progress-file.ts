import { constants } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../../core/run/index.ts';
import { NO_FOLLOW } from '../own-files.ts';

export const PROGRESS_FILE = 'progress.jsonl';

/** For those who watch a run from another process. Nothing depends on it: what cannot be written is left out. */
export type ProgressFile = {
  /** Returns at once; what comes in within a moment is written together. */
  note(progress: Progress): void;
  /** Removes the file: a run that is over is told by its journal. */
  close(): Promise<void>;
};

const GAP_MS = 100;

/** Then the file begins again: a stage may have very many tasks. */
const MOST_LINES = 2_000;

/** One line for each task or call that is done, of one stage at a time: a line that names the stage begins it. */
export function openProgressFile(path: string): ProgressFile {
  let [part, lines, isNew] = [0, [] as string[], false];
  let [stage, count] = ['', 0];
  let writing: Promise<void> | undefined;
  let isOver = false;
  const closing = new AbortController();
  const begin = (next: string) => {
    [stage, count, isNew] = [next, 0, true];
    lines = [JSON.stringify({ part: ++part })];
  };
  const writeSoon = async (): Promise<void> => {
    while (lines.length > 0 && !isOver) {
      await moment(closing.signal);
      const [text, isFirst] = [
        lines
          .splice(0)
          .map((line) => `${line}\n`)
          .join(''),
        isNew,
      ];
      isNew = false;
      if (!isOver) await write(path, text, isFirst);
    }
  };
  return {
    note(progress) {
      if (isOver) return;
      const name = `${progress.phase} ${progress.step}`;
      if (name !== stage || count >= MOST_LINES) begin(name);
      count += 1;
      lines.push(JSON.stringify(progress));
      writing ??= writeSoon()
        .catch(() => {
          isOver = true;
        })
        .finally(() => {
          writing = undefined;
        });
    },
    async close() {
      isOver = true;
      closing.abort();
      await writing;
      if (part > 0) await rm(path, { force: true }).catch(() => undefined);
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

/** What was noted behind a place, and where it ends. A file that is not there, or torn, says nothing more. */
export async function readProgress(
  path: string,
  from: ProgressPlace,
): Promise<{ readonly news: readonly Progress[]; readonly place: ProgressPlace }> {
  const [head, ...lines] = (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  const { part = from.part } = (parsed(head ?? '') as { part?: number }) ?? {};
  const known = part === from.part ? from.count : 0;
  const news = lines.slice(known).flatMap((line) => (parsed(line) as Progress | undefined) ?? []);
  return { news, place: { part, count: Math.max(known, lines.length) } };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
