import type { RolloutResult, RunCaches } from '../contracts/index.ts';
import type { RunEvent } from './event.ts';
import type { Stage } from './events/event-data.ts';
import type { Ledger } from './ledger.ts';
import type { RunState } from './run-state.ts';

/** Files of a run directory by path, made from the journal. */
export type Views = Readonly<Record<string, string>>;

/** The views in this folder are always written together: other files in it are of an earlier state, and are removed. */
export const WHOLE_FOLDER = 'best_skill/';

export type OpenOptions = {
  /** The largest size of the caches, in megabytes. The oldest texts are dropped. */
  readonly maxCacheMb?: number | undefined;
  /** Called now or later, with a sentence, when something had to be given up, such as a damaged cache. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

/** A run's one look at the test tasks. */
export type TestLook = {
  /** Hash of the models and the skills. The same again shows nothing new. */
  readonly measurement: string;
  /** Hash of the tasks: looks at other tasks are counted apart. */
  readonly tasks: string;
  /** Hashes of the measured skills, by name. */
  readonly subjects: Readonly<Record<string, string>>;
};

/** Where a run is kept. One writer at a time. */
export interface RunStore {
  /** What messages call it, usually its path. */
  readonly name: string;
  /** The journal so far. Reads only; changes nothing, not even a torn last line. */
  read(): Promise<RunEvent[]>;
  /** Takes the store for writing, or throws `RUN_LOCKED`. */
  open(options?: OpenOptions): Promise<OpenRunStore>;
}

export interface OpenRunStore extends AsyncDisposable {
  readonly caches: RunCaches;
  /** Without one, limits count what the journal knows, and a killed run forgets what its last step had spent. */
  readonly ledger?: Ledger;
  /** Resolves once the event would survive a crash. */
  append(event: RunEvent): Promise<void>;
  writeViews(views: Views): Promise<void>;
  /** Offered the fold of all events so far. A store may keep it, so that readers need not fold a long journal. */
  keepState?(state: RunState, offer?: { readonly isLast?: boolean }): Promise<void>;
  /** Shows progress to other processes. Returns at once, never fails, and is not needed to resume. */
  noteProgress?(progress: Progress): void;
  /** The same for retries, pauses and an agent's spending. */
  noteNotice?(notice: RunNotice): void;
  /** Counts a look at the test tasks once, and answers its number among all looks at these tasks. */
  lookAtTest?(look: TestLook): Promise<number>;
}

/** More or fewer calls at once from now on, or none for a while. */
export type RateLimitChange =
  | { readonly type: 'limit'; readonly reason: 'raised' | 'cut'; readonly calls: number }
  | { readonly type: 'pause'; readonly reason: 'asked' | 'refused'; readonly pauseMs: number };

/** Single rollouts and calls as they finish. Not journaled, and never needed to resume. */
export type Progress = {
  readonly phase:
    | Stage
    | 'baseline'
    | 'salvage'
    | 'removal'
    | 'slow update'
    | 'shorten'
    | 'prune'
    | 'final measurement'
    | 'test';
  readonly step: number;
  readonly done: number;
  readonly total: number;
  /** The latest result, when the phase rolls out tasks. */
  readonly result?: Pick<RolloutResult, 'id' | 'hard' | 'soft' | 'errored'>;
};

/** What agents have spent since the run was opened, attempts under way included. Dollars as far as a price is known. */
export type AgentsSpent = {
  readonly calls: number;
  readonly costUsd: number;
  /** Attempts that have ended, and their part of the dollars: what one attempt costs. */
  readonly ended: { readonly attempts: number; readonly costUsd: number };
};

/** Watches a run. Notified after an event is safe on disk; can neither change nor break the run. */
export interface RunObserver {
  /** Called once, first: with what the run already holds. */
  onOpen?(state: RunState): void;
  onEvent?(event: RunEvent, state: RunState): void;
  onProgress?(progress: Progress): void;
  /** At each call of an agent's model, and when an attempt has ended. Events count the same later. */
  onSpend?(spent: AgentsSpent): void;
  /** A model call that is about to be tried again. */
  onRetry?(retry: { readonly error: Error; readonly attempt: number; readonly delayMs: number }): void;
  onRateLimit?(change: RateLimitChange & { readonly account: string }): void;
  onWarning?(message: string): void;
}

/** What observers are notified of besides events and progress, as data for another process. */
export type RunNotice =
  | { readonly type: 'retry'; readonly message: string; readonly attempt: number; readonly delayMs: number }
  | { readonly type: 'rate-limit'; readonly account: string; readonly change: RateLimitChange }
  | { readonly type: 'spend'; readonly spent: AgentsSpent };

/** Hears notices. Watchers in another process have them too. */
export type NoticeObserver = Pick<RunObserver, 'onRetry' | 'onRateLimit' | 'onSpend'>;
