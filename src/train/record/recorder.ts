import { setImmediate as turn } from 'node:timers/promises';
import { splitPackage, trainsPackage } from '../../core/document/index.ts';
import {
  type Detail,
  detailViews,
  emptyRun,
  isCheckpoint,
  type OpenRunStore,
  type Progress,
  type RunEvent,
  type RunFact,
  type RunObserver,
  type RunState,
  reduce,
  STAGES,
  type Stamp,
  stateViews,
  type TrialAttempts,
  toFact,
  trialViews,
  type Views,
  WHOLE_FOLDER,
} from '../../core/run/index.ts';
import { reportView } from '../../report/index.ts';

/** Writes a fact down, and answers with the state after it. */
export type Commit = (fact: RunFact, detail?: Detail) => Promise<RunState>;

type RecorderOptions = {
  readonly store: OpenRunStore;
  readonly outRoot: string;
  readonly journal: readonly RunEvent[];
  readonly observers: readonly RunObserver[];
  /** What was counted since the last event. */
  readonly takeCounts: () => Omit<Stamp, 'at' | 'ms' | 'answers'>;
  readonly takeAnswers: () => Pick<Stamp, 'answers'>;
  /** A usage with what no event has counted, for a run that stops before its end. */
  readonly usageWith: (usage: RunState['usage']) => RunState['usage'];
  /** Is notified when something could not be written, so that no more is paid for. */
  readonly onFailure: (error: unknown) => void;
};

type ProgressCount = [done: number, total: number, result?: Progress['result'] | undefined];

/**
 * Keeps a run: the journal first, then the files for people, then the observers. It follows the run at most a step
 * behind, so that no call waits for the disk. A run that was cut off in the middle of a step takes that step again; events
 * that the journal already holds are recognised, not repeated.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #behind: ReturnType<typeof createWriteBehind>;
  readonly #lastSettled: RunEvent | undefined;
  #state: RunState;
  /** The fold of every line of the journal, also of those that are still to be recognised. */
  #whole: RunState;
  #pending: readonly RunEvent[];
  #last: RunEvent | undefined;
  #lastStepWritten = Promise.resolve();
  #isSlow = false;
  #stampedAt = performance.now();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#behind = createWriteBehind(options.onFailure);
    const { state, whole, pending, last } = foldJournal(options.journal);
    [this.#state, this.#whole, this.#pending, this.#last] = [state, whole, pending, last];
    this.#lastSettled = last;
  }

  get state(): RunState {
    return this.#state;
  }

  readonly commit: Commit = async (fact, detail = {}) => {
    const { event, isNew } = this.#fold(fact);
    const after = this.#state;
    const written = this.#behind.write(async () => {
      if (this.#isSlow) await turn(); // the calls that come next are sent before files are made
      await writeEvent({ detail, event, isNew, after }, this.#options);
    });
    if (fact.type === 'step-end') {
      await this.#lastStepWritten; // a disk that cannot keep up stops the run before much waits for it
      this.#lastStepWritten = written;
    }
    // A store that writes at once, such as memory, is waited for: then observers know of the event before the next call.
    if (!this.#isSlow) this.#isSlow = await Promise.race([written.then(() => false), turn(true)]);
    return after;
  };

  readonly keepAttempts = (folder: string, attempts: TrialAttempts): Promise<void> =>
    this.#behind.write(() => this.#options.store.writeViews(trialViews(folder, attempts)));

  /** The event of a fact: the next one of the journal if it is the same, otherwise a new one. */
  #fold(fact: RunFact): { readonly event: RunEvent; readonly isNew: boolean } {
    const [next] = this.#pending;
    const known = next && isSameFact(toFact(next), fact) ? next : undefined;
    if (!known) this.#state = this.#whole; // pending events happened all the same: the state is a fold of the journal
    this.#pending = known ? this.#pending.slice(1) : [];
    const answers = this.#options.takeAnswers(); // those to a question that is asked again are in the journal
    const event = known ?? { ...fact, ...this.#stamp(), ...answers };
    this.#state = reduce(this.#state, event);
    if (!known) this.#whole = this.#state;
    this.#last = event;
    return { event, isNew: !known };
  }

  #stamp(): Omit<Stamp, 'answers'> {
    const [now, before] = [performance.now(), this.#stampedAt];
    this.#stampedAt = now;
    return { at: new Date().toISOString(), ms: Math.round(now - before), ...this.#options.takeCounts() };
  }

  /** Makes the files about the state again: a crash may have come between the journal and them. */
  async refreshViews(): Promise<void> {
    const { store, outRoot, observers } = this.#options;
    if (this.#lastSettled) await store.writeViews(viewsOf(this.#lastSettled, this.#state, outRoot));
    notify(observers, 'onOpen', this.#state);
  }

  readonly progress = (...[done, total, result, phase]: [...ProgressCount, phase?: Progress['phase']]): void =>
    this.progressOf(phase ?? phaseAfter(this.#last), done, total, result);

  progressOf(phase: Progress['phase'], ...[done, total, result]: ProgressCount): void {
    const { store, observers } = this.#options;
    const notice = { phase, step: this.#state.draft.step ?? 0, done, total };
    this.#behind.tell(() => {
      store.noteProgress?.(result ? { ...notice, result: withoutTexts(result) } : notice);
      notify(observers, 'onProgress', result ? { ...notice, result } : notice);
    });
  }

  /** After the events before it. */
  warn(message: string): void {
    this.#behind.tell(() => notify(this.#options.observers, 'onWarning', message));
  }

  /** Resolves once everything so far is safe, and observers know of it. */
  written(): Promise<void> {
    return this.#behind.done();
  }

  /** The same at the end of a run. One that is not done leaves files about where it stands. */
  readonly close = async (): Promise<void> => {
    const { store, outRoot, usageWith } = this.#options;
    await this.written();
    const [last, state, whole] = [this.#last, this.#state, this.#whole];
    if (last && !state.isDone) await store.writeViews(viewsOf(last, state, outRoot, usageWith(whole.usage)));
    await store.keepState?.(whole, { isLast: true });
  };
}

/** The state at the last settled event, and the events after it, which the run makes again: they are recognised then. */
function foldJournal(journal: readonly RunEvent[]) {
  const settledCount = journal.findLastIndex(isSettled) + 1;
  const unsettled = journal.slice(settledCount);
  const settled = journal.slice(0, settledCount).reduce(reduce, emptyRun);
  return {
    state: unsettled.filter(isAside).reduce(reduce, settled),
    whole: unsettled.reduce(reduce, settled),
    pending: unsettled.filter((event) => !isAside(event)),
    last: journal[settledCount - 1],
  };
}

/** Waves follow from the rest, and older journals lack them. */
const isSameFact = (...facts: [RunFact, RunFact]) => {
  const [one, other] = facts.map((fact) => JSON.stringify(fact, (key, value) => (key === 'waves' ? undefined : value)));
  return one === other;
};

/** Where a budget is used up in the middle of a step, the winner so far is measured. The step is still taken again. */
const isAside = (event: RunFact) => event.type === 'final-measurement-end';
const isSettled = (event: RunFact) => isCheckpoint(event) && !isAside(event);

type WrittenEvent = {
  readonly detail: Detail;
  readonly event: RunEvent;
  /** Not in the journal yet. */
  readonly isNew: boolean;
  readonly after: RunState;
};

/** The journal, then the files about the event and the state, then the observers. */
async function writeEvent({ detail, event, isNew, after }: WrittenEvent, options: RecorderOptions): Promise<void> {
  const { store, outRoot, observers } = options;
  await store.writeViews(detailViews(event, detail));
  if (isNew) await store.append(event);
  if (isCheckpoint(event)) await store.writeViews(viewsOf(event, after, outRoot));
  notify(observers, 'onEvent', event, after);
  if (isNew && isCheckpoint(event)) await store.keepState?.(after);
}

/** The files about where the run stands, and the report that a person should read first. */
const viewsOf = (event: RunEvent, state: RunState, outRoot: string, spent?: RunState['usage']) => ({
  ...stateViews(event, state, outRoot),
  ...packageViews(state),
  'report.md': reportView(state, outRoot, spent),
});

/** The files of the best package, as they would lie in its folder. */
function packageViews({ config, best }: RunState): Views {
  if (!config || !trainsPackage(config)) return {};
  const files = Object.entries(splitPackage(best.skill));
  return Object.fromEntries(files.map(([path, text]) => [`${WHOLE_FOLDER}${path}`, text]));
}

/** Texts of a result may be long. */
const withoutTexts = ({ id, hard, soft, errored }: NonNullable<Progress['result']>) => {
  return { id, hard, soft, ...(errored ? { errored } : {}) };
};

const PHASE_AFTER: { readonly [Type in RunFact['type']]?: Progress['phase'] } = {
  'run-start': 'baseline',
  'step-start': 'rollout',
  'lr-decision': 'select',
  'step-end': 'slow update',
  'slow-update-end': 'slow update',
  'meta-skill-end': 'slow update',
  'final-selection-end': 'prune',
};

/** What a run does after its last event. */
function phaseAfter(last: RunFact | undefined): Progress['phase'] {
  if (last === undefined) return 'baseline';
  if (last.type === 'stage-end') return STAGES[STAGES.indexOf(last.stage) + 1] ?? 'salvage';
  return PHASE_AFTER[last.type] ?? 'test';
}

const complainedOf = new WeakSet<RunObserver>();

/** An observer that throws is the observer's trouble: the run continues, and one warning says so. */
export function notify<Name extends keyof RunObserver>(
  observers: readonly RunObserver[],
  name: Name,
  ...args: Parameters<NonNullable<RunObserver[Name]>>
): void {
  for (const observer of observers) {
    try {
      (observer[name] as ((...args: unknown[]) => void) | undefined)?.apply(observer, args);
    } catch (error) {
      if (!complainedOf.has(observer)) process.emitWarning(`an observer failed in ${name}: ${error}`);
      complainedOf.add(observer);
    }
  }
}

/**
 * Writes in the order of the calls, one after the other, while the run continues. After a failure nothing more is written, and
 * `onFailure` is called once: nobody may be waiting.
 */
export function createWriteBehind(onFailure: (error: unknown) => void) {
  let last = Promise.resolve();
  let underWay = 0;
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (!hasFailed) onFailure(error);
    hasFailed = true;
  };
  const add = (work: () => unknown): Promise<void> => {
    underWay++;
    last = last.then(work).then(() => void underWay--);
    last.catch(fail);
    return last;
  };
  return {
    /** Does the work after all that was asked for before. Rejects when it fails, or when anything before it did. */
    write: add as (work: () => Promise<void>) => Promise<void>,
    /** Does what cannot fail after all writes so far; at once, when none is under way. */
    tell: (work: () => void) => (underWay === 0 ? work() : void add(work)),
    /** Resolves once all is written. */
    done: () => last,
  };
}
