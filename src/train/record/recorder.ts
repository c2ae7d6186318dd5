import { setImmediate as turn } from 'node:timers/promises';
import { splitPackage, trainsPackage } from '../../core/document/index.ts';
import {
  type Amounts,
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
  toFact,
  type Views,
  WHOLE_FOLDER,
} from '../../core/run/index.ts';
import { reportView } from '../../report/index.ts';

/** Has a fact written down, and answers with the state after it. */
export type Commit = (fact: RunFact, detail?: Detail) => Promise<RunState>;

type RecorderOptions = {
  readonly store: OpenRunStore;
  readonly outRoot: string;
  readonly journal: readonly RunEvent[];
  readonly observers: readonly RunObserver[];
  readonly takeUsage: () => Pick<Stamp, 'usage' | 'counted'>;
  /** Keeps what was spent in all, for a run that is left before its end, and answers with it. */
  readonly keepSpent: (usage: RunState['usage']) => Amounts;
  readonly takeAnswers: () => NonNullable<Stamp['answers']>;
  readonly takeThrown: () => number;
  readonly takeFailures: () => NonNullable<Stamp['failures']>;
  /** Is notified when something could not be written, so that no more is paid for. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Keeps a run: the journal first, then the files for people, then the observers. All that follows the run at most a step
 * behind, so that no call waits for the disk. A run that was cut off in the middle of a step takes that step again; what
 * the journal already says about it is recognised, not repeated.
 */
export function createRecorder(options: RecorderOptions) {
  const { store, outRoot, journal, observers, onFailure, keepSpent, takeAnswers } = options;
  const stamp = stamper(options);
  let { state, whole, pending, last } = foldJournal(journal);
  const lastSettled = last;
  const behind = createWriteBehind(onFailure);
  let lastStep = Promise.resolve();
  let isSlow = false;

  const commit: Commit = async (fact, detail = {}) => {
    const known = recognise(fact, pending[0]);
    if (!known) state = whole; // what is pending happened all the same: the state is a fold of the journal
    pending = known ? pending.slice(1) : [];
    const answers = takeAnswers(); // those to a question that is asked again are in the journal
    const event = known ?? stamp(fact, answers);
    const after = reduce(state, event);
    [state, last] = [after, event];
    if (!known) whole = after;
    const written = behind.write(async () => {
      if (isSlow) await turn(); // the calls that come next are sent before files are made
      await writeEvent({ detail, event, isNew: !known, after }, options);
    });
    if (fact.type === 'step-end') {
      await lastStep; // a disk that cannot keep up holds the run up before much waits for it
      lastStep = written;
    }
    // A store that has it at once, such as memory, is waited for: then the next call finds observers that know of it.
    if (!isSlow) isSlow = await Promise.race([written.then(() => false), turn(true)]);
    return after;
  };

  const report = (phase: Progress['phase'], ...[done, total, result]: ProgressCount): void => {
    const notice = { phase, step: state.draft.step ?? 0, done, total };
    behind.tell(() => tellProgress(notice, result, options));
  };

  return {
    state,
    commit,
    /** Makes the files about the state again: a crash may have come between the journal and them. */
    async refreshViews(): Promise<void> {
      if (lastSettled) await store.writeViews(viewsOf(lastSettled, state, outRoot));
      notify(observers, 'onOpen', state);
    },
    progress: (...[done, total, result, phase = phaseAfter(last)]: [...ProgressCount, phase?: Progress['phase']]) =>
      report(phase, done, total, result),
    progressOf: report,
    /** After the events before it. */
    warn: (message: string) => behind.tell(() => notify(observers, 'onWarning', message)),
    /** Resolves once everything so far is safe and was told. */
    written: behind.done,
    /** The same at the end of a run. One that is not done leaves the files about where it stands. */
    async close(): Promise<void> {
      await behind.done();
      if (last && !state.isDone) await store.writeViews(viewsOf(last, state, outRoot, keepSpent(whole.usage)));
      await store.keepState?.(whole, { isLast: true });
    },
  };
}

const recognise = (fact: RunFact, next: RunEvent | undefined) =>
  next !== undefined && JSON.stringify(toFact(next)) === JSON.stringify(fact) ? next : undefined;

/** The state at the last settled event, and the events after it, which the run makes again: they are recognised then. */
function foldJournal(journal: readonly RunEvent[]) {
  const settledCount = journal.findLastIndex(isSettled) + 1;
  const unsettled = journal.slice(settledCount);
  const settled = journal.slice(0, settledCount).reduce(reduce, emptyRun);
  return {
    state: unsettled.filter(isAside).reduce(reduce, settled),
    /** The fold of every line of the journal, also of those that are still to be recognised. */
    whole: unsettled.reduce(reduce, settled),
    pending: unsettled.filter((event) => !isAside(event)),
    last: journal[settledCount - 1],
  };
}

/** The journal, then the files about the event and the state, then the observers. */
async function writeEvent({ detail, event, isNew, after }: WrittenEvent, options: RecorderOptions): Promise<void> {
  const { store, outRoot, observers } = options;
  await store.writeViews(detailViews(event, detail));
  if (isNew) await store.append(event);
  if (isCheckpoint(event)) await store.writeViews(viewsOf(event, after, outRoot));
  notify(observers, 'onEvent', event, after);
  if (isNew && isCheckpoint(event)) await store.keepState?.(after);
}

function tellProgress(notice: Progress, result: Progress['result'], { store, observers }: RecorderOptions): void {
  store.noteProgress?.(result ? { ...notice, result: marksOf(result) } : notice);
  notify(observers, 'onProgress', result ? { ...notice, result } : notice);
}

/** Makes events of facts, with the time since the last one and what was counted since. */
function stamper({ takeUsage, takeThrown, takeFailures }: RecorderOptions) {
  let lastTime = performance.now();
  return (fact: RunFact, answers: NonNullable<Stamp['answers']>): RunEvent => {
    const ms = Math.round(performance.now() - lastTime);
    lastTime = performance.now();
    const asked = Object.keys(answers).length > 0 ? { answers } : {};
    const threw = takeThrown();
    const thrown = threw > 0 ? { threw } : {};
    const failures = takeFailures();
    const failed = Object.keys(failures).length > 0 ? { failures } : {};
    return { ...fact, at: new Date().toISOString(), ms, ...takeUsage(), ...thrown, ...failed, ...asked };
  };
}

/** The files about where the run stands, and what a person should read first. */
const viewsOf = (event: RunEvent, state: RunState, outRoot: string, spent?: Amounts) => ({
  ...stateViews(event, state, outRoot),
  ...packageViews(state),
  'report.md': reportView(state, outRoot, spent),
});

/** The files of the best package, as they would lie in its folder. */
function packageViews({ config, best }: RunState): Views {
  if (!config || !trainsPackage(config)) return {};
  return Object.fromEntries(
    Object.entries(splitPackage(best.skill)).map(([path, text]) => [`${WHOLE_FOLDER}${path}`, text]),
  );
}

type WrittenEvent = {
  readonly detail: Detail;
  readonly event: RunEvent;
  /** Not in the journal yet. */
  readonly isNew: boolean;
  readonly after: RunState;
};

/** What others are shown of a result: its texts may be long. */
const marksOf = ({ id, hard, soft, errored }: NonNullable<Progress['result']>) => ({
  ...{ id, hard, soft },
  ...(errored ? { errored } : {}),
});

type ProgressCount = [done: number, total: number, result?: Progress['result'] | undefined];

/** A budget that is used up has the winner so far measured in the middle of a step, which is taken again all the same. */
const isAside = (event: RunFact) => event.type === 'final-measurement-end';
const isSettled = (event: RunFact) => isCheckpoint(event) && !isAside(event);

/** What a run is doing when `last` is the last thing it wrote down. */
function phaseAfter(last: RunFact | undefined): Progress['phase'] {
  if (last === undefined || last.type === 'run-start') return 'baseline';
  if (last.type === 'step-start') return 'rollout';
  if (last.type === 'stage-end') return STAGES[STAGES.indexOf(last.stage) + 1] ?? 'salvage';
  if (last.type === 'lr-decision') return 'select';
  if (last.type === 'step-end' || last.type === 'slow-update-end' || last.type === 'meta-skill-end')
    return 'slow update';
  return last.type === 'final-selection-end' ? 'prune' : 'test';
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
