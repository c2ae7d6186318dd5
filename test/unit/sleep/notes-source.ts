import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Place,
  type ReadOptions,
  SessionDigest,
  type TranscriptFile,
  type TranscriptSource,
} from '../../../src/transcripts/index.ts';

export const HOUR = 3_600_000;
export const NOW = Date.parse('2026-03-10T12:00:00.000Z');
export const at = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR).toISOString();

export const placeAt = (home: string): Place => ({ env: {}, home, platform: process.platform });

/** A source of files of lines, `project⇥time⇥prompt`, a session each. It keeps what it opened for a scan. */
export function notesSource(root: string, name = 'notes') {
  const opened: string[] = [];
  const source: TranscriptSource = {
    name,
    title: 'Notes',
    roots: () => [root],
    list: async (folder) => listNotes(folder),
    async read(file, options) {
      if (options.factsOnly) opened.push(file.path);
      return readNotes(name, file, options);
    },
  };
  return { ...source, opened };
}

function listNotes(folder: string): TranscriptFile[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.note'));
  return names.sort().map((path) => {
    const { dev, ino, size, mtimeMs } = statSync(join(folder, path));
    return { path: join(folder, path), identity: `${dev}:${ino}`, size, mtimeMs };
  });
}

function readNotes(source: string, file: TranscriptFile, { before, place, redact = String }: ReadOptions) {
  const bytes = readFileSync(file.path);
  const start = before?.position ?? 0;
  const end = bytes.lastIndexOf('\n') + 1;
  const lines = bytes.subarray(start, Math.max(start, end)).toString().split('\n').filter(Boolean);
  const [old] = before?.sessions ?? [];
  const records = lines.map((line) => line.split('\t') as [string, string, string]);
  const prompts = records.map(([, , prompt]) => redact(prompt));
  const nUserTurns = (old?.nUserTurns ?? 0) + prompts.length;
  const project = old?.project ?? records[0]?.[0].replace(place.home, '~') ?? '';
  const times = [old?.startedAt, old?.endedAt, ...records.map(([, time]) => time)].filter((time) => time);
  const session = SessionDigest.parse({
    source,
    sessionId: file.path.replace(/^.*\/|\.note$/g, ''),
    project,
    startedAt: times[0],
    endedAt: times.at(-1),
    userPrompts: prompts,
    nUserTurns,
    rawPath: file.path,
    leftOut: prompts.includes('do not learn this') ? 'asked-not-to' : old?.leftOut,
  });
  const trouble = end < bytes.length ? { torn: 1 } : {};
  return { position: Math.max(start, end), sessions: nUserTurns === 0 ? [] : [session], trouble };
}

export type Note = readonly [project: string, time: string, prompt: string];

/** Writes a session. Its file is as old as its last line, and so are those of agents. */
export function writeNote(path: string, notes: readonly Note[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, notes.map((note) => `${note.join('\t')}\n`).join(''));
  const time = (Date.parse(notes.at(-1)?.[1] ?? '') || NOW) / 1000;
  utimesSync(path, time, time);
}
