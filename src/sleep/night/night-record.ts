import { join } from 'node:path';
import { z } from 'zod';
import { readPrivate, writePrivate } from '../../stores/index.ts';
import { Cursor } from '../state/sleep-state.ts';
import { TaskRecord } from '../task-record.ts';

const NIGHT_FILE = 'night.json';

/** What a night works with, fixed when it begins: it resumes with the same, whatever has changed since. */
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
  /** What was asked in several sessions, most often first. */
  recurring: z.array(z.object({ intent: z.string(), sessions: z.number(), days: z.number() })).default([]),
  notReplayable: z.number().int().nonnegative().default(0),
  pooled: z.number().int().nonnegative().default(0),
  tasks: z.array(TaskRecord),
  /** Of the documents as they were: another text is another night. */
  digests: z.record(z.string(), z.string()),
  /** Existing skills that have tasks of their own, and the hints of these. */
  skills: z.array(z.object({ name: z.string(), hints: z.array(z.string()) })).default([]),
  /** Where the harvest got to; none when the tasks came from a file. */
  cursors: z.record(z.string(), Cursor).optional(),
  /** What an agent with tools began from, where one attempts the tasks. */
  work: z.object({ agent: z.string(), sandbox: z.string(), commit: z.string(), key: z.string() }).optional(),
  notes: z.array(z.string()).default([]),
  /** Which limit has ended the search for tasks early, in words. */
  cut: z.string().default(''),
  /** Of the file that the tasks came from; empty when they came from sessions. */
  tasksFrom: z.string().default(''),
  /** The limits that were used up, if that has ended it. */
  spent: z.string().default(''),
  status: z.enum(['running', 'done', 'failed']).default('running'),
});
export type NightRecord = z.infer<typeof NightRecord>;

export async function readNight(folder: string): Promise<NightRecord | undefined> {
  const text = await readPrivate(join(folder, NIGHT_FILE));
  const read = text === undefined ? undefined : NightRecord.safeParse(parse(text));
  return read?.data;
}

/** Whether the night got as far as to know its tasks. */
export const hasRecord = async (folder: string): Promise<boolean> =>
  (await readPrivate(join(folder, NIGHT_FILE))) !== undefined;

export const writeNight = (folder: string, record: NightRecord): Promise<void> =>
  writePrivate(join(folder, NIGHT_FILE), `${JSON.stringify(record, null, 1)}\n`);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
