import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { describeIssue, isObject, mapValues, parseJson } from '../../core/text/index.ts';
import {
  freePath,
  openStateFolder,
  readPrivate,
  shownPath,
  takeLock,
  unusable,
  writePrivate,
} from '../../stores/index.ts';
import type { Redact } from '../../transcripts/index.ts';
import { Proposal } from '../staging/proposal.ts';
import { TaskRecord, type Tasks } from '../task-record.ts';
import { STATE_FILE } from './folders.ts';

const STATE_VERSION = 1;

/** A considered session. If it grows, its end or its number of turns changes. */
const Considered = z.object({ sessionId: z.string(), endedAt: z.string(), turns: z.number().int().nonnegative() });

export const Cursor = z.object({
  /** In UTC. All sessions that ended before count as considered. */
  from: z.string(),
  /** Sessions that ended later and were considered. Any other one still waits. */
  considered: z.array(Considered).default([]),
});
export type Cursor = z.infer<typeof Cursor>;
export type Cursors = Readonly<Record<string, Cursor>>;

const ProjectState = z.object({
  night: z.number().int().nonnegative().default(0),
  cursors: z.record(z.string(), Cursor).default({}),
  /** The models of the last night: with others, scores cannot be compared. */
  modelKey: z.string().default(''),
});

/** The line of a night in the history. Other fields are the night's own. */
export const NightRow = z.looseObject({
  project: z.string(),
  night: z.number().int().positive(),
  at: z.string(),
  accepted: z.boolean().default(false),
  nTasks: z.number().int().nonnegative().default(0),
});
export type NightRow = z.infer<typeof NightRow>;

const ArchivedTask = z.object({ at: z.string(), night: z.number().int().nonnegative(), task: TaskRecord });

/** A person's consent to send texts of their sessions to a provider. */
export const Consent = z.object({
  provider: z.string().min(1),
  by: z.string(),
  at: z.string(),
  /** The wording they agreed to. Another wording needs a new consent. */
  textVersion: z.number().int().positive(),
});
export type Consent = z.infer<typeof Consent>;

const OverNights = z.object({
  project: z.string(),
  document: z.string(),
  /** For later analysts. It never becomes a part of the document by itself. */
  guidance: z.string().default(''),
  askedNight: z.number().int().nonnegative().default(0),
  /** Of the learned block that was last compared. */
  digest: z.string(),
  /** The last score of every training task, by id. */
  scores: z
    .record(z.string(), z.object({ score: z.number(), night: z.number().int(), digest: z.string() }))
    .default({}),
});
export type OverNights = z.infer<typeof OverNights>;

/** What sleep knows between nights. */
export const SleepState = z.object({
  version: z.literal(STATE_VERSION).default(STATE_VERSION),
  projects: z.record(z.string(), ProjectState).default({}),
  history: z.array(NightRow).default([]),
  taskArchive: z.array(ArchivedTask).default([]),
  consents: z.array(Consent).default([]),
  proposals: z.array(Proposal).default([]),
  overNights: z.array(OverNights).default([]),
});
export type SleepState = z.infer<typeof SleepState>;

export const emptyState: SleepState = SleepState.parse({});

const projectOf = (state: SleepState, project: string) => state.projects[project] ?? ProjectState.parse({});

export const nightOf = (state: SleepState, project: string): number => projectOf(state, project).night;
export const modelKeyOf = (state: SleepState, project: string): string => projectOf(state, project).modelKey;
export const cursorsOf = (state: SleepState, project: string): Cursors => projectOf(state, project).cursors;

type FinishedNight = {
  readonly row: NightRow;
  /** Where the harvest of this night got to; `undefined` when its tasks came from a file. */
  readonly cursors?: Cursors | undefined;
  readonly tasks?: Tasks | undefined;
  readonly modelKey?: string | undefined;
};

/** The state after a night. Sources that it did not harvest keep their cursors. */
export function recordNight(state: SleepState, { row, cursors, tasks = [], ...models }: FinishedNight): SleepState {
  const { project, night, at } = row;
  const before = projectOf(state, project);
  const { modelKey = before.modelKey } = models;
  const now = { night: Math.max(before.night, night), cursors: { ...before.cursors, ...cursors }, modelKey };
  const archived = tasks.filter(({ origin }) => origin !== 'dream').map((task) => ({ at, night, task }));
  return {
    ...state,
    projects: { ...state.projects, [project]: now },
    history: [...state.history, row],
    taskArchive: [...state.taskArchive, ...archived],
  };
}

export function giveConsent(state: SleepState, consent: Consent): SleepState {
  const others = state.consents.filter(({ provider }) => provider !== consent.provider);
  return { ...state, consents: [...others, consent] };
}

export const hasConsent = (state: SleepState, wanted: Pick<Consent, 'provider' | 'textVersion'>): boolean =>
  state.consents.some(
    ({ provider, textVersion }) => provider === wanted.provider && textVersion === wanted.textVersion,
  );

type StateOptions = {
  readonly onWarning?: (warning: string) => void;
  /** For texts before they are written: a task or a note may repeat a secret. */
  readonly redact?: Redact;
};

export interface OpenSleepState extends AsyncDisposable {
  readonly folder: string;
  readonly state: SleepState;
  /** Safe on disk when it returns. */
  update(change: (state: SleepState) => SleepState): Promise<SleepState>;
}

const LOCK_WORDS = {
  whenOwn: 'Dispose of the open state first.',
  whenAlive: 'Wait until it ends or stop it, or choose another folder with the variable SKILLOPT_HOME.',
  mode: 0o600,
};

/** Takes the state for writing, or throws `RUN_LOCKED`. A damaged file is set aside and reported. */
export async function openSleepState(folder: string, options: StateOptions = {}): Promise<OpenSleepState> {
  const { onWarning = () => undefined, redact = (text) => text } = options;
  await openStateFolder(folder);
  const path = join(folder, STATE_FILE);
  const lock = await takeLock(join(folder, 'state.lock'), LOCK_WORDS);
  try {
    let { state, damage } = await readState(path);
    if (damage !== undefined) {
      const aside = freePath(`${path}.corrupt-`);
      await rename(path, aside);
      onWarning(`${damage}; it is now ${shownPath(aside)}, and a new one is begun`);
    }
    return {
      folder,
      get state() {
        return state;
      },
      async update(change) {
        state = withoutSecrets(change(state), redact);
        await writePrivate(path, `${JSON.stringify(state, null, 1)}\n`);
        return state;
      },
      [Symbol.asyncDispose]: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The state as it is now, without a lock. Changes nothing on disk, even if the file is damaged. */
export async function readSleepState(folder: string, { onWarning }: StateOptions = {}): Promise<SleepState> {
  const { state, damage } = await readState(join(folder, STATE_FILE));
  if (damage !== undefined) onWarning?.(`${damage}; the next night sets it aside`);
  return state;
}

async function readState(path: string): Promise<{ readonly state: SleepState; readonly damage?: string }> {
  const text = await readPrivate(path);
  if (text === undefined) return { state: emptyState };
  const damaged = (why: string) => ({ state: emptyState, damage: `${shownPath(path)} is damaged: ${why}` });
  const value = parseJson(text);
  if (value === undefined) return damaged('it is not JSON');
  refuseNewer(path, value);
  const { data, error } = SleepState.safeParse(value);
  return data ? { state: data } : damaged(describeIssue(error.issues[0]!, value));
}

/** A newer file must not be set aside: the version that wrote it needs it. */
function refuseNewer(path: string, value: unknown): void {
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version !== 'number' || version <= STATE_VERSION) return;
  const what = `is of version ${version}, but this skillopt writes version ${STATE_VERSION}`;
  throw unusable(path, what, 'Update skillopt, or choose another folder with the variable SKILLOPT_HOME.');
}

/** Names, dates and numbers stay as they are. */
function withoutSecrets(state: SleepState, redact: Redact): SleepState {
  const taskArchive = state.taskArchive.map((archived) => ({ ...archived, task: redactTask(archived.task, redact) }));
  const history = state.history.map((row) => {
    const { project, night, at } = row;
    return { ...mapTexts(row, redact), project, night, at };
  });
  const overNights = state.overNights.map((one) => ({ ...one, guidance: redact(one.guidance) }));
  return { ...state, taskArchive, history, overNights };
}

/** A task without secrets. Enumerated words stay, even if a person has such a name. */
export function redactTask(task: TaskRecord, redact: Redact): TaskRecord {
  const { id, split, origin, outcome, referenceKind } = task;
  return { ...mapTexts(task, redact), id, split, origin, outcome, referenceKind };
}

export function mapTexts<Value>(value: Value, change: Redact): Value {
  if (typeof value === 'string') return change(value) as Value;
  if (Array.isArray(value)) return value.map((entry) => mapTexts(entry, change)) as Value;
  return isObject(value) ? (mapValues(value, (entry) => mapTexts(entry, change)) as Value) : value;
}
