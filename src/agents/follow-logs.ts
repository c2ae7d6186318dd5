import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const EVERY_MS = 250;

/** Hands over the lines that a program appends to the files in `folder`, until disposed. */
export function followLogs(folder: string, onLine: (line: string) => void): Disposable {
  const seen = new Map<string, number>();
  const timer = setInterval(() => {
    for (const path of filesIn(folder)) {
      const lines = completeLines(path);
      const fresh = lines.slice(seen.get(path) ?? 0);
      seen.set(path, lines.length);
      fresh.forEach(onLine);
    }
  }, EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Links are left out: one CLI keeps a link to its newest log beside it. */
function filesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  } catch {
    return []; // not made yet
  }
}

const completeLines = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
