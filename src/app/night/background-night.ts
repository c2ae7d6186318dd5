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
import type { Cost as NightCost, Progress, RunObserver } from '../../core/run/index.ts';
import { head, parseJson } from '../../core/text/index.ts';
import { type CycleOutcome, consentMissing, listNights, nightCost, type OpenSleep } from '../../sleep/index.ts';
import {
  isRunLocked,
  JOBS_FOLDER,
  LOCK_FILE,
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

const Amounts = z.object({ calls: z.number(), tokens: z.number(), costUsd: z.number() });
const Cost = Amounts.extend({ isPriced: z.boolean(), mayHaveBeen: Amounts.optional() });

const JobState = z.object({
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  /** What is done now, in words; `done` of `total` while it is counted. */
  phase: z.string(),
  done: z.number().nullable(),
  total: z.number().nullable(),
  night: z.number().nullable(),
  /** What the night proposes, by id. */
  proposals: z.array(z.string()),
  cost: Cost.nullable(),
  /** Why it failed, or found no task, and what to do. */
  reason: z.string(),
  hint: z.string(),
});
type JobState = z.infer<typeof JobState>;

const BEGUN: JobState = {
  ...{ state: 'running', phase: 'starting', done: null, total: null },
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
  const lock = await takeLock(join(folder, JOBS_FOLDER, 'start.lock'), START_WORDS).catch(asBeingStarted); // of two starts at once, one is refused
  return startAlone(sleep, { planDigest, limits }).finally(lock.release);
}

const START_HINT = 'Wait a moment: sleep_status then shows it with its jobId, if it is a night of this project.';
const START_WORDS = { whenOwn: START_HINT, whenAlive: START_HINT, mode: 0o600 };

function asBeingStarted(cause: unknown): never {
  if (!(cause instanceof SkillError) || cause.code !== 'RUN_LOCKED') throw cause;
  throw new SkillError('RUN_LOCKED', 'a night is being started right now', { cause, hint: START_HINT });
}

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
  const state = record && (await readState(folder));
  if (!state) {
    const hint = 'The night that was started last is in the status of its project.';
    throw new SkillError('USAGE', `there is no job ${JSON.stringify(head(id, 100))}`, { hint });
  }
  if (state.state !== 'running' || (await isAlive(folder, record))) return { id, ...record, ...state };
  const last = (await readState(folder)) ?? state; // it may have ended in between
  return { id, ...record, ...(last.state === 'running' ? await cutOff(last, stateFolder, record.project) : last) };
}

const readState = async (folder: string) =>
  JobState.safeParse(parseJson((await readPrivate(join(folder, STATE))) ?? '')).data;

/** Its process was killed: more was spent since it wrote its state, and the ledger of the night knows it. */
async function cutOff(state: JobState, stateFolder: string, project: string): Promise<JobState> {
  const spent = await spentSoFar(stateFolder, project, state.night);
  const isMore = spent !== null && spent.cost.calls >= (state.cost?.calls ?? 0);
  return {
    ...{ ...state, ...(isMore ? spent : {}), state: 'failed', phase: 'over', done: null, total: null },
    reason: 'its process ended without a word',
    hint: 'Nothing is lost: show the plan and run it again, and the night resumes.',
  };
}

const STARTS_WITHIN_MS = 30_000;

/** It takes its lock a moment after it was started. Asked again at the end: it may have been taken between two looks. */
async function isAlive(folder: string, { startedAt }: JobRecord): Promise<boolean> {
  if (await isRunLocked(folder)) return true;
  const mayStart = Date.now() - Date.parse(startedAt) < STARTS_WITHIN_MS;
  return (mayStart && !existsSync(join(folder, LOCK_FILE))) || isRunLocked(folder);
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
      set(uncounted('stopping'));
      stopping.abort(new SkillError('USAGE', 'it was cancelled'));
    }
    const spent = await spentSoFar(stateFolder, project);
    if (state.state !== 'running') return; // it has ended meanwhile, and its end knows the whole cost
    set(spent ?? {});
    await write(state);
  }, TICK_MS);
  try {
    const observers = [{ onProgress: (progress) => set(phaseOf(progress)) } satisfies RunObserver];
    const onEvent = (event: NightEvent) => set(gatheringOf(event));
    set(endOf(await work({ observers, onEvent, planDigest, signal: stopping.signal })));
  } catch (error) {
    const spent = (await spentSoFar(stateFolder, project)) ?? (await spentSoFar(stateFolder, project, state.night));
    set({ ...spent, ...failureOf(error, stopping.signal.aborted) });
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

/**
 * What a night has cost over all its starts, also while it finds its tasks: the one with this number, otherwise the one that is under
 * way. Nothing where the last one is over.
 */
async function spentSoFar(stateFolder: string, project: string, night: number | null = null) {
  try {
    const found =
      night === null
        ? await lastNight(stateFolder, project)
        : (await listNights(stateFolder, project)).find((one) => one.night === night);
    if (found === undefined || ('isOver' in found && found.isOver)) return null;
    return { night: found.night, cost: await nightCost(found.path) };
  } catch {
    return null; // it may be written right now
  }
}

async function requireRecord(folder: string): Promise<JobRecord> {
  const record = JobRecord.safeParse(parseJson((await readPrivate(join(folder, RECORD))) ?? '')).data;
  if (record) return record;
  throw new SkillError('USAGE', `${folder} holds no job`, { hint: 'A job is started by the MCP server.' });
}

const uncounted = (phase: string): Partial<JobState> => ({ phase, done: null, total: null });

function gatheringOf(event: NightEvent): Partial<JobState> {
  if (event.type === 'gather-start') return uncounted('reading sessions');
  if (event.type === 'transcript-read') return { phase: 'reading sessions', done: event.done, total: event.total };
  if (event.type === 'sessions-chosen') return uncounted('finding tasks');
  if (event.type === 'session-mined')
    return { phase: 'finding tasks in sessions', done: event.sessionsDone, total: event.sessions };
  return event.type === 'tasks-ready' ? uncounted('beginning with the tasks') : {};
}

/** In words for each step of a search; each counts its own. */
const PHASES: Readonly<Record<Progress['phase'], string>> = {
  baseline: 'measuring the document as it is',
  rollout: 'trying tasks',
  reflect: 'reading results',
  aggregate: 'joining edits',
  select: 'choosing edits',
  update: 'writing the edits',
  evaluate: 'measuring an edit',
  salvage: 'measuring parts of an edit',
  removal: 'trying to remove lines',
  'slow update': 'comparing rounds',
  shorten: 'trying to remove lines that nothing supports',
  prune: 'trying to shorten the document',
  'final measurement': 'measuring the best document',
  test: 'measuring on the sealed test',
};

const phaseOf = ({ phase, done, total }: Progress): Partial<JobState> =>
  total > 0 ? { phase: PHASES[phase], done, total } : uncounted(PHASES[phase]);

function endOf({ report, proposals }: CycleOutcome): Partial<JobState> {
  const { calls, tokensUsed: tokens, costUsd = 0, isPriced = false, mayHaveBeen } = report;
  const cost = { calls, tokens, costUsd, isPriced, ...(mayHaveBeen && { mayHaveBeen }) } satisfies NightCost;
  const why = report.nTasks === 0 && proposals.length === 0 ? { reason: report.noEditsReason, hint: report.needs } : {};
  return { ...OVER, ...why, state: 'done', night: report.night, proposals: proposals.map(({ id }) => id), cost };
}

const OVER = uncounted('over');

function failureOf(error: unknown, isCancelled: boolean): Partial<JobState> {
  if (isCancelled)
    return { ...OVER, state: 'cancelled', hint: 'Nothing is lost: run the plan again, and the night resumes.' };
  const { message, hint = '' } = error as Partial<SkillError>;
  return { ...OVER, state: 'failed', reason: String(message ?? error), hint };
}
