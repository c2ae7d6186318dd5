import { createHash } from 'node:crypto';
import { appendFile, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { redactValue } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import {
  createPrivate,
  isMissing,
  makeFolderBelow,
  readPrivate,
  SCHEDULES_FOLDER,
  writePrivate,
} from '../../stores/index.ts';
import { TaskRecord } from '../task-record.ts';
import { NIGHTS_FOLDER, nightFolder, projectFolder } from './folders.ts';
import { Cursor, mapTexts, nightOf, type SleepState } from './sleep-state.ts';

export type KeptNight = { readonly night: number; readonly path: string };

/** The nights of a project that are on disk, oldest first. */
export async function listNights(stateFolder: string, project: string): Promise<KeptNight[]> {
  return (await listNightFolders(stateFolder, project)).filter(({ path }) => !basename(path).includes('.'));
}

/** The same, with the folders of their other documents. */
export async function listNightFolders(stateFolder: string, project: string): Promise<KeptNight[]> {
  const names = await namesIn(projectFolder(stateFolder, project));
  return names
    .filter((name) => /^[1-9]\d{0,8}(\.|$)/.test(name))
    .map((name) => ({ night: parseInt(name, 10), path: nightFolder(stateFolder, project, name) }))
    .sort((a, b) => a.night - b.night);
}

/** Makes the folder of a new night. Its number is free even if the state was lost. */
export async function makeNight(stateFolder: string, state: SleepState, project: string): Promise<KeptNight> {
  const last = (await listNights(stateFolder, project)).at(-1)?.night ?? 0;
  const night = Math.max(last, nightOf(state, project)) + 1;
  const path = nightFolder(stateFolder, project, night);
  await makeFolderBelow(stateFolder, path);
  return { night, path };
}

export async function listAllNights(stateFolder: string): Promise<KeptNight[]> {
  const root = join(stateFolder, NIGHTS_FOLDER);
  const projects = await namesIn(root);
  const nights = projects.map(async (project) =>
    (await namesIn(join(root, project))).map((name) => ({ night: Number(name), path: join(root, project, name) })),
  );
  return (await Promise.all(nights)).flat();
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

export const jobHash = (project: string): string => createHash('sha256').update(project).digest('hex').slice(0, 20);

/** Removes the logs of nightly jobs, which contain tasks, of one project or of all. Returns their number. */
export async function removeJobLogs(stateFolder: string, hash = ''): Promise<number> {
  const folder = join(stateFolder, SCHEDULES_FOLDER);
  const names = (await namesIn(folder)).filter((name) => name.startsWith(hash) && /\.log(\.old)?$/.test(name));
  for (const name of names) await rm(join(folder, name), { force: true });
  return names.length;
}

const NIGHT_FILE = 'night.json';

/** What a night works with, fixed when it begins: it resumes with the same. */
export const NightRecord = z.object({
  format: z.literal('skillopt_sleep.night.v1').default('skillopt_sleep.night.v1'),
  project: z.string(),
  night: z.number().int().positive(),
  startedAt: z.string(),
  agent: z.string(),
  modelKey: z.string(),
  /** The night's share of the error; `null` without a gate. */
  error: z.number().nullable(),
  nSessions: z.number().int().nonnegative(),
  recurring: z.array(z.object({ intent: z.string(), sessions: z.number(), days: z.number() })).default([]),
  notReplayable: z.number().int().nonnegative().default(0),
  pooled: z.number().int().nonnegative().default(0),
  tasks: z.array(TaskRecord),
  /** Digests of the documents: another text is another night. */
  digests: z.record(z.string(), z.string()),
  /** Existing skills that have tasks of their own, and the hints of these. */
  skills: z.array(z.object({ name: z.string(), hints: z.array(z.string()) })).default([]),
  cursors: z.record(z.string(), Cursor).optional(),
  /** What an agent with tools began from, where one attempts the tasks. */
  work: z.object({ agent: z.string(), sandbox: z.string(), commit: z.string(), key: z.string() }).optional(),
  notes: z.array(z.string()).default([]),
  /** Sessions about which the model that finds tasks gave no reply that could be read. */
  unreadSessions: z.number().int().nonnegative().default(0),
  /** The limit that ended the search for tasks early, in words. */
  cut: z.string().default(''),
  /** Names the file that the tasks came from; empty when they came from sessions. */
  tasksFrom: z.string().default(''),
  /** The limits that were used up, if that has ended it. */
  spent: z.string().default(''),
  status: z.enum(['running', 'done', 'failed']).default('running'),
});
export type NightRecord = z.infer<typeof NightRecord>;

export async function readNight(folder: string): Promise<NightRecord | undefined> {
  const text = await readPrivate(join(folder, NIGHT_FILE));
  return text === undefined ? undefined : NightRecord.safeParse(parseJson(text)).data;
}

/** Whether the night got as far as its tasks. */
export const hasRecord = async (folder: string): Promise<boolean> =>
  (await readPrivate(join(folder, NIGHT_FILE))) !== undefined;

export const writeNight = (folder: string, record: NightRecord): Promise<void> =>
  writePrivate(join(folder, NIGHT_FILE), `${JSON.stringify(record, null, 1)}\n`);

const MOST_CHARACTERS = 4_000;

/** Writes `evidence.jsonl`: one line per event, redacted and shortened. */
export async function evidenceLog(folder: string, redact: (text: string) => string) {
  const path = join(folder, 'evidence.jsonl');
  await createPrivate(path);
  let [waiting, seq, written] = ['', 0, Promise.resolve()];
  const flush = async () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') await appendFile(path, lines).catch(() => undefined); // a log must not end a night
  };
  const write = (stage: string, event: string, payload: object) => {
    const facts = mapTexts(redactValue(payload) as object, (text) => shortText(redact(text)));
    waiting += `${JSON.stringify({ at: new Date().toISOString(), seq: seq++, stage, event, ...facts })}\n`;
    written = written.then(flush);
  };
  const observer: RunObserver = {
    onEvent: (event) => write('run', event.type, event),
    onWarning: (warning) => write('run', 'warning', { warning }),
  };
  return { write, observer, [Symbol.asyncDispose]: () => written };
}

const shortText = (text: string) =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} … (${text.length - MOST_CHARACTERS} more)`;
