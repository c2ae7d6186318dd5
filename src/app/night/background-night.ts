/*
 * A night that goes on when its client is gone. `startNight` checks what was shown and agreed to, writes `job.json` and starts
 * a night with the setting `job`, detached. That process is `runAsJob`: it holds `run.lock` while it lives, writes `state.json`, and
 * ends when a file `cancel` appears. Everybody else only reads: `readJob`.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { type CycleOutcome, consentMissing, nightCost, type OpenSleep } from '../../sleep/index.ts';
import {
  isRunLocked,
  JOBS_FOLDER,
  makeFolderBelow,
  readPrivate,
  takeLock,
  takeRunLock,
  writePrivate,
} from '../../stores/index.ts';
import { flagWords, pinNight, trusted } from '../schedule/night-job.ts';
import { lastNight } from './find-nights.ts';
import { type NightLimits, type NightPreview, previewNight, requireShown } from './plan-night.ts';
import type { NightEvent, NightOptions } from './run-night.ts';

const JobRecord = z.object({ project: z.string(), startedAt: z.string(), planDigest: z.string() });
type JobRecord = z.infer<typeof JobRecord>;

const Cost = z.object({ calls: z.number(), tokens: z.number(), costUsd: z.number(), isPriced: z.boolean() });

const JobState = z.object({
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  /** What is done now, in words; `done` of `total` where it can be counted. */
  phase: z.string(),
  done: z.number(),
  total: z.number(),
  night: z.number().nullable(),
  /** What the night proposes, by id. */
  proposals: z.array(z.string()),
  cost: Cost.nullable(),
  /** Why it failed, and what to do. */
  reason: z.string(),
  hint: z.string(),
});
type JobState = z.infer<typeof JobState>;

const BEGUN: JobState = {
  ...{ state: 'running', phase: 'starting', done: 0, total: 0 },
  ...{ night: null, proposals: [], cost: null, reason: '', hint: '' },
};

export type BackgroundNight = JobState & JobRecord & { readonly id: string };

/** A lone id: nothing else is ever read or written by it. */
const JOB_ID = /^\d{8}-\d{6}-[0-9a-f]{8}$/;
const RECORD = 'job.json';
const STATE = 'state.json';
const CANCEL = 'cancel';

type StartOptions = { readonly planDigest: string; readonly limits?: NightLimits | undefined };

/** Starts the night that was shown in a process of its own, and returns its id. Throws where the plan has changed, or consent lacks. */
export async function startNight(sleep: OpenSleep, { planDigest, limits = {} }: StartOptions): Promise<string> {
  const preview = await previewNight(sleep, { limits });
  requireAsShown(preview, planDigest);
  const missing = preview.plan.recipients.filter(({ provider }) => preview.consentMissing.includes(provider));
  if (missing.length > 0) throw consentMissing(missing);
  const { folder } = sleep;
  await makeFolderBelow(folder, join(folder, JOBS_FOLDER));
  const lock = await takeLock(join(folder, JOBS_FOLDER, 'start.lock'), START_WORDS); // of two starts at once, one is refused
  return startAlone(sleep, { planDigest, limits }).finally(lock.release);
}

const START_WORDS = { whenOwn: 'Wait until it is started.', whenAlive: 'Wait until it is started.', mode: 0o600 };

async function startAlone(sleep: OpenSleep, { planDigest, limits = {} }: StartOptions): Promise<string> {
  const { folder, project, place } = sleep;
  const running = (await listJobs(folder)).find((job) => job.project === project && job.state === 'running');
  if (running) {
    const hint = 'Wait for it, or cancel it.';
    throw new SkillError('RUN_LOCKED', `the night ${running.id} of this project is under way`, { hint });
  }
  const { command } = await pinNight(sleep, limits);
  const startedAt = new Date().toISOString();
  const id = `${startedAt.replace(/\D/g, '').replace(/^(\d{8})(\d{6}).*/, '$1-$2')}-${randomBytes(4).toString('hex')}`;
  const job = jobFolder(folder, id);
  await makeFolderBelow(folder, job);
  await writePrivate(join(job, STATE), JSON.stringify(BEGUN));
  await writePrivate(join(job, RECORD), JSON.stringify({ project, startedAt, planDigest }));
  await detach([...command, ...flagWords({ job })], { cwd: job, env: trusted(place.env, project) });
  return id;
}

/** Throws unless this is the night that was shown, and it can begin. */
export function requireAsShown({ digest, problems }: NightPreview, planDigest: string): void {
  requireShown(digest, planDigest);
  if (problems.length > 0) throw new SkillError('CONFIG_INVALID', problems.join('; '), { hint: 'Nothing was sent.' });
}

type Detached = { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> };

/** In a session of its own: a client that ends, or is killed with its group, does not end it. */
async function detach([program, ...args]: readonly string[], { cwd, env }: Detached): Promise<void> {
  const child = spawn(program!, args, { cwd, env, detached: true, stdio: 'ignore', windowsHide: true });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  child.unref();
}

const jobFolder = (stateFolder: string, id: string) => join(stateFolder, JOBS_FOLDER, id);

/** The job as it is now. Throws `USAGE` for one that does not exist. */
export async function readJob(stateFolder: string, id: string): Promise<BackgroundNight> {
  const folder = jobFolder(stateFolder, JOB_ID.test(id) ? id : 'none');
  const record = JobRecord.safeParse(parseJson((await readPrivate(join(folder, RECORD))) ?? '')).data;
  const state = JobState.safeParse(parseJson((await readPrivate(join(folder, STATE))) ?? '')).data;
  if (!record || !state) {
    const hint = 'The night that was started last is in the status of its project.';
    throw new SkillError('USAGE', `there is no job ${JSON.stringify(id)}`, { hint });
  }
  const known = { id, ...record, ...state };
  if (state.state !== 'running' || (await isAlive(folder, record))) return known;
  const hint = 'Nothing is lost: show the plan and run it again, and the night resumes.';
  return { ...known, state: 'failed', reason: 'its process ended without a word', hint };
}

const STARTS_WITHIN_MS = 30_000;

/** It takes its lock a moment after it was started. */
async function isAlive(folder: string, { startedAt }: JobRecord): Promise<boolean> {
  if (await isRunLocked(folder)) return true;
  return Date.now() - Date.parse(startedAt) < STARTS_WITHIN_MS && !(await wasLocked(folder));
}

const wasLocked = async (folder: string) => (await readdir(folder)).some((name) => name.startsWith('run.lock'));

/** The newest first. */
export async function listJobs(stateFolder: string): Promise<BackgroundNight[]> {
  const names = await readdir(join(stateFolder, JOBS_FOLDER)).catch((): string[] => []);
  const ids = names.filter((name) => JOB_ID.test(name)).sort((one, other) => (one < other ? 1 : -1));
  const jobs = await Promise.all(ids.map((id) => readJob(stateFolder, id).catch(() => undefined)));
  return jobs.filter((job) => job !== undefined);
}

/** Asks the night to stop: what it has done is kept, and the same plan resumes it. */
export async function cancelJob(stateFolder: string, id: string): Promise<void> {
  const { state } = await readJob(stateFolder, id);
  if (state === 'running') await writePrivate(join(jobFolder(stateFolder, id), CANCEL), '');
}

/** What `runNight` gets from a job, in addition to what its command says. */
export type JobHooks = Pick<NightOptions, 'observers' | 'onEvent' | 'planDigest'> & { readonly signal: AbortSignal };

const TICK_MS = 400;

/** Does the night of a job, and writes down how far it is, what it costs and how it ends. */
export async function runAsJob(
  folder: string,
  stateFolder: string,
  work: (hooks: JobHooks) => Promise<CycleOutcome>,
): Promise<void> {
  const { project, planDigest } = await requireRecord(folder);
  const lock = await takeRunLock(folder);
  const stopping = new AbortController();
  let state = BEGUN;
  const set = (next: Partial<JobState>) => {
    state = { ...state, ...next };
  };
  const write = stateWriter(join(folder, STATE));
  const timer = setInterval(async () => {
    if (existsSync(join(folder, CANCEL)) && !stopping.signal.aborted) {
      set({ phase: 'stopping' });
      stopping.abort(new SkillError('USAGE', 'it was cancelled'));
    }
    set({ cost: (await costSoFar(stateFolder, project)) ?? state.cost });
    await write(state);
  }, TICK_MS);
  try {
    const observers = [{ onProgress: ({ phase, done, total }) => set({ phase, done, total }) } satisfies RunObserver];
    const onEvent = (event: NightEvent) => set(phaseOf(event));
    set(endOf(await work({ observers, onEvent, planDigest, signal: stopping.signal })));
  } catch (error) {
    set({ ...failureOf(error, stopping.signal.aborted), cost: await costSoFar(stateFolder, project) });
  } finally {
    clearInterval(timer);
    await write(state);
    await lock.release();
  }
}

/** Writes one state after the other. What cannot be written must not end the night: then the job says that its process ended. */
function stateWriter(path: string) {
  let written = '';
  let last = Promise.resolve();
  return (state: JobState): Promise<void> => {
    const text = JSON.stringify(state);
    if (text === written) return last;
    written = text;
    last = last.then(() => writePrivate(path, text)).catch(() => undefined);
    return last;
  };
}

/** Of the night that is under way, while it finds its tasks too; nothing where the last one is over. */
async function costSoFar(stateFolder: string, project: string): Promise<JobState['cost']> {
  const last = await lastNight(stateFolder, project).catch(() => undefined); // it may be written right now
  if (last === undefined || last.isOver) return null;
  const { calls, tokens, costUsd, isPriced } = await nightCost(last.path);
  return { calls, tokens, costUsd, isPriced };
}

async function requireRecord(folder: string): Promise<JobRecord> {
  const record = JobRecord.safeParse(parseJson((await readPrivate(join(folder, RECORD))) ?? '')).data;
  if (record) return record;
  throw new SkillError('USAGE', `${folder} holds no job`, { hint: 'A job is started by the MCP server.' });
}

function phaseOf(event: NightEvent): Partial<JobState> {
  if (event.type === 'transcript-read') return { phase: 'reading transcripts', done: event.done, total: event.total };
  if (event.type === 'session-mined')
    return { phase: 'finding tasks', done: event.sessionsDone, total: event.sessions };
  return {};
}

function endOf({ report, proposals }: CycleOutcome): Partial<JobState> {
  const { calls, tokensUsed: tokens, costUsd = 0, isPriced = false } = report;
  const ids = proposals.map(({ id }) => id);
  const cost = { calls, tokens, costUsd, isPriced };
  return { state: 'done', phase: 'over', night: report.night, proposals: ids, cost };
}

function failureOf(error: unknown, isCancelled: boolean): Partial<JobState> {
  if (isCancelled)
    return { state: 'cancelled', phase: 'over', hint: 'Nothing is lost: run the plan again, and the night resumes.' };
  const { message, hint = '' } = error as Partial<SkillError>;
  return { state: 'failed', phase: 'over', reason: String(message ?? error), hint };
}
