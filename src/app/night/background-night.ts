/*
 * A night that goes on when whoever asked for it is gone. `startNight` checks what was shown and agreed to, writes `job.json` and starts
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
import { type CycleOutcome, consentMissing, nightCost, type OpenSleep, projectFolder } from '../../sleep/index.ts';
import {
  isRunLocked,
  JOBS_FOLDER,
  makeFolderBelow,
  readPrivate,
  takeRunLock,
  writePrivate,
} from '../../stores/index.ts';
import { flagWords, pinNight, trusted } from '../schedule/night-job.ts';
import { type NightLimits, type NightPreview, previewNight } from './plan-night.ts';
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
  await requirePlanned(sleep, { planDigest, limits });
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

/** The night as it would be now. Throws if it is not the one that was shown, if nobody agreed to who reads it, or if it cannot begin. */
export async function requirePlanned(sleep: OpenSleep, { planDigest, limits }: StartOptions): Promise<NightPreview> {
  const preview = await previewNight(sleep, { limits });
  const { digest, plan, consentMissing: missing, problems } = preview;
  if (digest !== planDigest) {
    const hint = 'Nothing was sent. Show the plan again: sessions, settings or limits have changed.';
    throw new SkillError('CONSENT_MISSING', 'the night would not be the one that was shown', { hint });
  }
  const asked = plan.recipients.filter(({ provider }) => missing.includes(provider));
  if (asked.length > 0) throw consentMissing(asked);
  if (problems.length > 0) throw new SkillError('CONFIG_INVALID', problems.join('; '), { hint: 'Nothing was sent.' });
  return preview;
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
  if (state.state !== 'running') return { ...known, cost: state.cost ?? (await costSoFar(stateFolder, record)) };
  if (await isAlive(folder, record)) return { ...known, cost: await costSoFar(stateFolder, record) };
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

async function costSoFar(stateFolder: string, { project }: JobRecord) {
  const nights = projectFolder(stateFolder, project);
  const numbers = (await readdir(nights).catch((): string[] => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  return numbers.length === 0 ? null : nightCost(join(nights, String(Math.max(...numbers))));
}

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

/** Does the night of a job, and writes down how far it is and how it ends. */
export async function runAsJob(folder: string, work: (hooks: JobHooks) => Promise<CycleOutcome>): Promise<void> {
  const record = await requireRecord(folder);
  const lock = await takeRunLock(folder);
  const stopping = new AbortController();
  let [now, isWritten, writing] = [BEGUN, true, Promise.resolve()];
  const set = (next: Partial<JobState>) => {
    now = { ...now, ...next };
    isWritten = false;
  };
  const flush = () => {
    if (isWritten) return writing;
    isWritten = true;
    const text = JSON.stringify(now);
    writing = writing.then(() => writePrivate(join(folder, STATE), text));
    return writing;
  };
  const timer = setInterval(() => {
    if (existsSync(join(folder, CANCEL)) && !stopping.signal.aborted) {
      set({ phase: 'stopping' });
      stopping.abort(new SkillError('USAGE', 'it was cancelled'));
    }
    void flush();
  }, TICK_MS);
  try {
    const observers = [{ onProgress: ({ phase, done, total }) => set({ phase, done, total }) } satisfies RunObserver];
    const hooks = { observers, onEvent: (event: NightEvent) => set(phaseOf(event)), signal: stopping.signal };
    set(endOf(await work({ ...hooks, planDigest: record.planDigest })));
  } catch (error) {
    set(failureOf(error, stopping.signal.aborted));
  } finally {
    clearInterval(timer);
    await flush();
    await lock.release();
  }
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
