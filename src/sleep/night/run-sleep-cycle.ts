import { join } from 'node:path';
import { memoize } from '../../core/memoize.ts';
import type { RunObserver } from '../../core/run/observer.ts';
import type { RunStore } from '../../core/run/run-store.ts';
import { memoryRun, runDirectory } from '../../stores/index.ts';
import { takeLock } from '../../stores/run/run-lock.ts';
import { documentOf, runNameOf } from '../documents/choose-skills.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { foreseeing, HANDOFF_CONFIG, HANDOFF_LOOKS } from '../handoff/foresee.ts';
import { HANDOFF_FOLDER, type Handoff, HandoffPending } from '../handoff/handoff.ts';
import type { Trained } from '../replay/sleep-env.ts';
import type { Proposal } from '../staging/proposal.ts';
import { listNights, makeNight, projectFolder } from '../state/nights.ts';
import { writePrivate } from '../state/private-file.ts';
import { recordNight, type SleepState } from '../state/sleep-state.ts';
import { openSleepState, readSleepState } from '../state/state-file.ts';
import { makeFolderBelow, openStateFolder } from '../state/state-folder.ts';
import { documentsFor, hasSame, recordOf, tasksBySkill } from './begin-night.ts';
import { type ConsolidateOptions, consolidate } from './consolidate.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import { diagnosticsOf, evidenceLog } from './diagnostics.ts';
import { nightNotes, rejectedIn } from './night-history.ts';
import { isSpent, limitsKey } from './night-limits.ts';
import { type NightRecord, readNight, writeNight } from './night-record.ts';
import { type Quarantine, quarantining } from './quarantining.ts';
import { reportMarkdown } from './report-markdown.ts';
import type { SleepReport } from './sleep-report.ts';
import { onPending, reportNight, stageNight, supersede } from './stage-night.ts';
import { nightConfigOf } from './train-document.ts';

export type CycleOutcome = {
  readonly report: SleepReport;
  readonly proposals: readonly Proposal[];
  /** The folder of the night; of a dry run nothing is kept. */
  readonly folder: string | undefined;
};

/**
 * One night: sessions become tasks, tasks are replayed, what helps is staged. One at a time for a project; a night that
 * was cut off is resumed with the tasks that it began with, and pays for nothing twice.
 */
export async function runSleepCycle(given: CycleInput): Promise<CycleOutcome> {
  const { proposals } = await readSleepState(given.folder);
  const documents = given.documents.map((document) => onPending(document, proposals));
  const redact = memoize(given.redact, { maxEntries: KEPT_TEXTS }); // tasks pass it on their way to each file
  const input = { ...given, documents, redact };
  if (input.isDryRun) return carryOutInMemory(input);
  await openStateFolder(input.folder);
  const place = projectFolder(input.folder, input.project);
  await makeFolderBelow(input.folder, place);
  const lock = await takeLock(join(place, 'night.lock'), LOCK_WORDS);
  try {
    return await carryOut((await findUnfinished(input)) ?? (await beginNight(input)), input);
  } finally {
    await lock.release();
  }
}

const KEPT_TEXTS = 2_000;

const LOCK_WORDS = {
  whenOwn: 'Wait until the other night of this process ends.',
  whenAlive: 'Wait until it ends, or stop it: what it has done is kept, and the next run resumes it.',
  mode: 0o600,
};

type OpenNight = {
  readonly record: NightRecord;
  readonly folder: string;
  readonly state: SleepState;
  readonly documents: readonly LiveDocument[];
};

/** The last night, if it was cut off and would begin with the same models and documents. */
async function findUnfinished(input: CycleInput): Promise<OpenNight | undefined> {
  const { folder, project, modelKey, tasksFrom = '' } = input;
  const last = (await listNights(folder, project)).at(-1);
  const record = last && (await readNight(last.path));
  if (!last || record?.status !== 'running' || record.modelKey !== modelKey) return undefined;
  const state = await readSleepState(folder);
  const { documents } = await documentsFor(record.tasks, input, state.proposals);
  const isStuck = record.spent !== '' && record.spent === limitsKey(nightConfigOf(input));
  if (isStuck) await writeNight(last.path, { ...record, status: 'failed' });
  return hasSame(record, documents) && !isStuck && record.tasksFrom === tasksFrom
    ? { record, folder: last.path, state, documents }
    : undefined;
}

async function beginNight(input: CycleInput): Promise<OpenNight> {
  const state = await readSleepState(input.folder);
  const gathered = await input.gather(state);
  const chosen = await documentsFor(gathered.tasks, input, state.proposals);
  const { night, path } = await makeNight(input.folder, state, input.project);
  const record = recordOf(input, { gathered, night, state, ...chosen });
  await writeNight(path, record);
  return { record, folder: path, state, documents: chosen.documents };
}

async function carryOut({ record, folder, state, documents }: OpenNight, given: CycleInput): Promise<CycleOutcome> {
  const input = { ...given, documents };
  const quarantine = quarantining();
  const storeOf = (trained: Trained, named: string) => runDirectory(`${folder}${runNameOf(trained, named)}`);
  await using log = await evidenceLog(folder, input.redact);
  log.write('cycle', 'start', { night: record.night, tasks: record.tasks.length, error: record.error });
  await input.handoff?.open({ stateFolder: input.folder, folder: join(folder, HANDOFF_FOLDER), redact: input.redact });
  try {
    const result = await learn(record, { ...input, storeOf, quarantine, state, observer: log.observer });
    const proposals = await stageNight(record, result, input);
    const report = reportNight({ record, result, proposals, quarantined: quarantine.list() }, input);
    await finishNight({ record, folder, result, proposals, report }, input);
    await input.handoff?.close();
    return { report, proposals, folder };
  } catch (error) {
    if (error instanceof HandoffPending) throw await input.handoff!.pending(); // nothing has failed
    if (isSpent(error)) await writeNight(folder, { ...record, spent: limitsKey(nightConfigOf(input)) });
    const why = JSON.stringify(diagnosticsOf(record, undefined, error), null, 1);
    await writePrivate(join(folder, 'diagnostics.json'), `${input.redact(why)}\n`);
    throw error; // a failed night is no night without a gain
  }
}

type Learning = CycleInput & {
  readonly state: SleepState;
  readonly storeOf: (trained: Trained, named: string) => RunStore;
  readonly quarantine: Quarantine;
  readonly observer?: RunObserver;
};

function learn(record: NightRecord, input: Learning): Promise<ConsolidationResult> {
  const { models, documents, settings, state, storeOf, quarantine, observer, observers = [] } = input;
  const find = (kind: Trained) => documentOf(documents, kind, '');
  const { own, others } = tasksBySkill(record, documents);
  const { editBudget, gateMetric, gateMixedWeight, dreamRollouts: rolloutsK } = settings;
  const evolveMemory = settings.evolveMemory && find('memory') !== undefined;
  return consolidate(models, own, find('skill')?.text ?? '', find('memory')?.text ?? '', {
    ...{ editBudget, gateMetric, gateMixedWeight, rolloutsK, night: record.night, storeOf },
    ...{ scorers: input.scorers, runner: input.runner, signal: input.signal },
    ...(record.error === null ? { gateMode: 'off' as const } : { error: record.error }),
    evolveSkill: settings.evolveSkill && find('skill') !== undefined,
    evolveMemory,
    others,
    config: nightConfigOf(input),
    ...(input.handoff ? handoffNight(input.handoff, input, evolveMemory) : {}),
    notesOf: (trained, named) => nightNotes(state, record.project, settings, trained, named),
    quarantine,
    prompt: settings.promptOverrides.attempt,
    observers: observer ? [...observers, observer] : observers,
  });
}

function handoffNight(handoff: Handoff, input: CycleInput, evolveMemory: boolean): ConsolidateOptions {
  return {
    config: { ...nightConfigOf(input), ...HANDOFF_CONFIG },
    proofLooks: HANDOFF_LOOKS,
    foresee: (env, night, run) =>
      foreseeing(env, { ...night, ...run, hasNext: evolveMemory && night.trained === 'skill' }, handoff),
  };
}

type Finished = Omit<OpenNight, 'state' | 'documents'> &
  Pick<CycleOutcome, 'proposals' | 'report'> & { readonly result: ConsolidationResult };

/** The files for people first; then the state, which makes the night count. */
async function finishNight({ record, folder, result, proposals, report }: Finished, input: CycleInput): Promise<void> {
  const { project, night, cursors } = record;
  const write = (name: string, text: string) => writePrivate(join(folder, name), text);
  await write('report.json', `${JSON.stringify(report, null, 1)}\n`);
  await write('report.md', reportMarkdown(report));
  await write('diagnostics.json', `${JSON.stringify(diagnosticsOf(record, result), null, 1)}\n`);
  const { accepted, nTasks, gateAction, calls, endedAt: at } = report;
  const rejected = result.documents.flatMap(rejectedIn);
  const isTested = result.documents.some(({ proof }) => proof !== undefined);
  const row = { project, night, at, accepted, nTasks, isTested, gateAction, calls, rejected };
  const tasks = record.tasks.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === '');
  await using open = await openSleepState(input.folder, { redact: input.redact });
  await open.update((state) => {
    const known = new Set(state.taskArchive.map(({ task }) => task.id));
    const fresh = tasks.filter(({ id }) => !known.has(id));
    return proposals.reduce(supersede, recordNight(state, { row, cursors, tasks: fresh, modelKey: input.modelKey }));
  });
  await writeNight(folder, { ...record, status: 'done' });
}

/** A night of which nothing is kept: no folder, no state, no proposal. */
async function carryOutInMemory(input: CycleInput): Promise<CycleOutcome> {
  const state = await readSleepState(input.folder);
  const gathered = await input.gather(state);
  const { documents, notes } = await documentsFor(gathered.tasks, input, state.proposals);
  const record = recordOf(input, { gathered, night: 1, state, documents, notes });
  const quarantine = quarantining();
  const result = await learn(record, { ...input, documents, state, quarantine, storeOf: () => memoryRun() });
  const night = { record, result, proposals: [], quarantined: quarantine.list() };
  return { report: reportNight(night, { ...input, documents }), proposals: [], folder: undefined };
}
