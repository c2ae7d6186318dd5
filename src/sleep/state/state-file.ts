import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describeIssue } from '../../core/text/index.ts';
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
import type { TaskRecord } from '../task-record.ts';
import { emptyState, SleepState, STATE_VERSION } from './sleep-state.ts';

export const STATE_FILE = 'state.json';

type StateOptions = {
  /** What was wrong with the file, and what became of it. */
  readonly onWarning?: (warning: string) => void;
  /** For texts on their way to the disk: a task or a note may repeat what a person said. */
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

/** Takes the state for writing, or throws `RUN_LOCKED` and says who holds it. A damaged file is set aside, and reported. */
export async function openSleepState(folder: string, options: StateOptions = {}): Promise<OpenSleepState> {
  const { onWarning = () => undefined, redact = (text) => text } = options;
  await openStateFolder(folder);
  const path = join(folder, STATE_FILE);
  const lock = await takeLock(join(folder, 'state.lock'), LOCK_WORDS);
  try {
    let { state, damage } = await readState(path);
    if (damage !== undefined) onWarning(`${damage}; it is now ${await setAside(path)}, and a new one is begun`);
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

/** The state as it is now, without a lock: for looking. Changes nothing on disk, also when the file is damaged. */
export async function readSleepState(folder: string, { onWarning }: StateOptions = {}): Promise<SleepState> {
  const { state, damage } = await readState(join(folder, STATE_FILE));
  if (damage !== undefined) onWarning?.(`${damage}; the next night sets it aside`);
  return state;
}

type Read = { readonly state: SleepState; readonly damage?: string };

async function readState(path: string): Promise<Read> {
  const text = await readPrivate(path);
  if (text === undefined) return { state: emptyState };
  const damaged = (why: string) => ({ state: emptyState, damage: `${shownPath(path)} is damaged: ${why}` });
  const value = parseJson(text);
  if (value === undefined) return damaged('it is not JSON');
  refuseNewer(path, value);
  const { data, error } = SleepState.safeParse(value);
  return data ? { state: data } : damaged(describeIssue(error.issues[0]!, value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Set aside, it would be lost to the version that wrote it. */
function refuseNewer(path: string, value: unknown): void {
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version !== 'number' || version <= STATE_VERSION) return;
  const what = `is of version ${version}, but this skillopt writes version ${STATE_VERSION}`;
  throw unusable(path, what, 'Update skillopt, or choose another folder with the variable SKILLOPT_HOME.');
}

async function setAside(path: string): Promise<string> {
  const aside = freePath(`${path}.corrupt-`);
  await rename(path, aside);
  return shownPath(aside);
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

/** A task without secrets. What is one of few words stays, also when somebody is called so. */
export function redactTask(task: TaskRecord, redact: Redact): TaskRecord {
  const { id, split, origin, outcome, referenceKind } = task;
  return { ...mapTexts(task, redact), id, split, origin, outcome, referenceKind };
}

/** The same value with every text in it changed, however deep. Keys stay. */
function mapTexts<Value>(value: Value, change: Redact): Value {
  if (typeof value === 'string') return change(value) as Value;
  if (Array.isArray(value)) return value.map((entry) => mapTexts(entry, change)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, mapTexts(entry, change)])) as Value;
}
