import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunObserver, RunStore } from '../../core/run/index.ts';
import { memoize } from '../../core/text/index.ts';
import type { Budget } from '../../models/index.ts';
import type { SleepReport } from '../../report/index.ts';
import {
  makeFolderBelow,
  memoryRun,
  openStateFolder,
  runDirectory,
  takeLock,
  writePrivate,
} from '../../stores/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { documentOf, runNameOf } from '../documents/skills.ts';
import { handoffNight } from '../handoff/foresee.ts';
import { HANDOFF_FOLDER, HandoffPending } from '../handoff/handoff.ts';
import { type Quarantine, quarantining, type Trained } from '../replay/sleep-env.ts';
import { nightWork, type OpenedWork } from '../replay/work.ts';
import type { Proposal } from '../staging/proposal.ts';
import { listNights, type NightRecord, projectFolder, readNight, writeNight } from '../state/nights.ts';
import { nightOf, readSleepState, type SleepState } from '../state/sleep-state.ts';
import {
  documentsFor,
  gatherWith,
  hasSame,
  hasSameWork,
  limitsOf,
  type NewNight,
  newNight,
  recordOf,
  tasksBySkill,
} from './begin-night.ts';
import { consolidate } from './consolidate.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import { diagnosticsOf, evidenceLog, finishNight, onPending, reportNight, stageNight } from './finish-night.ts';
import { isSpent, limitsKey, nightBudget, requireRaised, withinLimits } from './night-limits.ts';
import { nightNotes, overNightsOf } from './over-nights.ts';

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
export async function runCycle(given: CycleInput): Promise<CycleOutcome> {
  const { proposals } = await readSleepState(given.folder);
  const documents = given.documents.map((document) => onPending(document, proposals));
  const redact = memoize(given.redact, { maxEntries: 2_000 }); // tasks pass it on their way to each file
  const input = { ...given, documents, redact };
  if (input.isDryRun) return carryOutInMemory(input);
  await openStateFolder(input.folder);
  const place = projectFolder(input.folder, input.project);
  await makeFolderBelow(input.folder, place);
  const lock = await takeLock(join(place, 'night.lock'), LOCK_WORDS);
  try {
    const unfinished = await findUnfinished(input);
    const begun = unfinished ? undefined : await newNight(input);
    return await withinLimits((unfinished ?? begun)!.folder, limitsOf(input), async (budget) =>
      carryOut(unfinished ?? (await beginNight(input, begun!, budget)), { ...input, budget }),
    );
  } finally {
    await lock.release();
  }
}

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
  readonly work: OpenedWork | undefined;
};

/** The last night, if it was cut off and would begin with the same models, documents and files. */
async function findUnfinished(input: CycleInput): Promise<OpenNight | undefined> {
  const { folder, project, modelKey, tasksFrom = '' } = input;
  const last = (await listNights(folder, project)).at(-1);
  const record = last && (await readNight(last.path));
  if (!last || record?.status !== 'running' || record.modelKey !== modelKey) return undefined;
  const state = await readSleepState(folder);
  const { documents } = await documentsFor(record.tasks, input, state.proposals);
  const isStuck = record.spent !== '' && record.spent === limitsKey(limitsOf(input));
  if (isStuck) {
    requireRaised(record.startedAt, input.now());
    await writeNight(last.path, { ...record, status: 'failed' });
  }
  if (!hasSame(record, documents) || isStuck || record.tasksFrom !== tasksFrom) return undefined;
  const work = await input.openWork?.(record.work?.commit || undefined);
  return hasSameWork(record, work) ? { record, folder: last.path, state, documents, work } : undefined;
}

async function beginNight(input: CycleInput, { folder, state, night }: NewNight, budget?: Budget): Promise<OpenNight> {
  const { work, gathered } = await gatherWith(input, state, budget).catch(async (error) => {
    await rmdir(folder).catch(() => undefined); // Stays while it holds what was spent.
    throw error;
  });
  const chosen = await documentsFor(gathered.tasks, input, state.proposals);
  const record = recordOf(input, { gathered, night, state, work, ...chosen });
  await writeNight(folder, record);
  // As it was written: tasks may have keys that a file does not keep, and a resumed night must find the same tasks.
  return { record: (await readNight(folder)) ?? record, folder, state, documents: chosen.documents, work };
}

async function carryOut(night: OpenNight, given: LimitedInput): Promise<CycleOutcome> {
  const { record, folder, state, documents, work } = night;
  const input = { ...given, documents };
  const quarantine = quarantining();
  const storeOf = (trained: Trained, named: string) => runDirectory(`${folder}${runNameOf(trained, named)}`);
  await using log = await evidenceLog(folder, input.redact);
  log.write('cycle', 'start', { night: record.night, tasks: record.tasks.length, error: record.error });
  await input.handoff?.open({ stateFolder: input.folder, folder: join(folder, HANDOFF_FOLDER), redact: input.redact });
  try {
    const learned = await learn(record, { ...input, storeOf, quarantine, state, work, observer: log.observer });
    const { result, overNights } = await overNightsOf(record, learned, { ...input, storeOf, state });
    const proposals = await stageNight(record, result, input);
    const told = { record, result, proposals, quarantined: quarantine.list(), spent: input.budget?.spent() };
    const report = reportNight(told, input);
    await finishNight({ record, folder, result, proposals, report, overNights }, input);
    await input.handoff?.close();
    return { report, proposals, folder };
  } catch (error) {
    if (error instanceof HandoffPending) throw await input.handoff!.pending(); // nothing has failed
    if (isSpent(error)) await writeNight(folder, { ...record, spent: limitsKey(limitsOf(input)) });
    const why = JSON.stringify(diagnosticsOf(record, undefined, error), null, 1);
    await writePrivate(join(folder, 'diagnostics.json'), `${input.redact(why)}\n`);
    throw error; // a failed night is no night without a gain
  }
}

type LimitedInput = CycleInput & { readonly budget?: Budget | undefined };

type Learning = LimitedInput & {
  readonly state: SleepState;
  readonly storeOf: (trained: Trained, named: string) => RunStore;
  readonly quarantine: Quarantine;
  readonly work: OpenedWork | undefined;
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
    ...{ scorers: input.scorers, runner: input.runner, signal: input.signal, budget: input.budget },
    work: input.work && nightWork(input.work, { documents, folder: input.project }),
    ...(record.error === null ? { gateMode: 'off' as const } : { error: record.error }),
    evolveSkill: settings.evolveSkill && find('skill') !== undefined,
    evolveMemory,
    others,
    config: limitsOf(input),
    ...(input.handoff ? handoffNight(input.handoff, evolveMemory) : {}),
    notesOf: (trained, named) => nightNotes(state, record.project, settings, trained, named),
    quarantine,
    prompt: settings.promptOverrides.attempt,
    observers: observer ? [...observers, observer] : observers,
  });
}

/** A night of which nothing is kept: no folder, no state, no proposal. */
async function carryOutInMemory(input: CycleInput): Promise<CycleOutcome> {
  const state = await readSleepState(input.folder);
  const budget = nightBudget(limitsOf(input));
  const { work, gathered } = await gatherWith(input, state, budget);
  const { documents, notes } = await documentsFor(gathered.tasks, input, state.proposals);
  const night = nightOf(state, input.project) + 1;
  const record = recordOf(input, { gathered, night, state, documents, notes, work });
  const quarantine = quarantining();
  const result = await learn(record, {
    ...input,
    budget,
    documents,
    state,
    work,
    quarantine,
    storeOf: () => memoryRun(),
  });
  const told = { record, result, proposals: [], quarantined: quarantine.list(), spent: budget?.spent() };
  return { report: reportNight(told, { ...input, documents }), proposals: [], folder: undefined };
}
