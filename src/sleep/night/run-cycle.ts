import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConfig } from '../../core/contracts/index.ts';
import { writeBlock } from '../../core/document/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { nextError } from '../../core/stats/index.ts';
import { memoize } from '../../core/text/index.ts';
import { whyFewer } from '../../models/index.ts';
import {
  makeFolderBelow,
  memoryRun,
  openStateFolder,
  runDirectory,
  takeLock,
  writePrivate,
} from '../../stores/index.ts';
import { notify } from '../../train/index.ts';
import { describeKeptBack } from '../../workspaces/index.ts';
import { type LiveDocument, readText } from '../documents/live-document.ts';
import { documentOf, noChoice, ownerAmong, placeOf, runNameOf } from '../documents/skills.ts';
import { HANDOFF_CONFIG, HANDOFF_LOOKS } from '../handoff/foresee.ts';
import { HandoffPending } from '../handoff/handoff.ts';
import { type Quarantine, quarantining, type Trained } from '../replay/sleep-env.ts';
import { nightWork, type OpenedWork } from '../replay/work.ts';
import { builtOn, onPending, type Proposal } from '../staging/proposal.ts';
import { stage } from '../staging/stage.ts';
import { HANDOFF_FOLDER, projectFolder } from '../state/folders.ts';
import {
  evidenceLog,
  hasRecord,
  type KeptNight,
  listNights,
  makeNight,
  type NightRecord,
  readNight,
  writeNight,
} from '../state/nights.ts';
import { modelKeyOf, nightOf, readSleepState, redactTask } from '../state/sleep-state.ts';
import type { Tasks } from '../task-record.ts';
import { consolidate, criticised } from './consolidate.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import { type CycleInput, type GatheredNight, type NightInput, nightConfigOf, type StoreOf } from './cycle-input.ts';
import { isSpent, keepingHalf, limitsKey, nightBudget, requireRaised, withinLimits } from './night-limits.ts';
import { diagnosticsOf, reportNight } from './night-report.ts';
import { type CycleOutcome, findRecorded, finishNight, nightNotes, overNightsOf, testedNights } from './over-nights.ts';
import { gainOf } from './prove.ts';

/**
 * One night: sessions become tasks, tasks are replayed, what helps is staged. A project runs one night at a time. A night
 * that was cut off is resumed with the tasks that it began with, and pays for nothing twice.
 */
export async function runCycle(given: CycleInput): Promise<CycleOutcome> {
  const state = await readSleepState(given.folder);
  const documents = given.documents.map(({ userWide, ...document }) => ({
    ...onPending(document, state.proposals),
    userWide: userWide && onPending(userWide, state.proposals),
  }));
  const redact = memoize(given.redact, { maxEntries: 2_000 }); // the same tasks go into several files
  const input = { ...given, documents, redact };
  const limits = limitsOf(input);
  if (input.isDryRun) return carryOutInMemory({ ...input, state, budget: nightBudget(limits) });
  await openStateFolder(input.folder);
  const nights = projectFolder(input.folder, input.project);
  await makeFolderBelow(input.folder, nights);
  // RUN_LOCKED before anything is gathered or paid. The lock of a process that is gone is taken over.
  const lock = await takeLock(join(nights, 'night.lock'), LOCK_WORDS);
  try {
    const locked = { ...input, state: await readSleepState(input.folder) };
    const over = await findRecorded(locked);
    if (over) return over;
    const unfinished = await findUnfinished(locked);
    const kept = unfinished?.kept ?? (await newNight(locked));
    // `night-spent.json` there counts calls, tokens and dollars over all starts. Minutes count from this start.
    return await withinLimits(kept.path, limits, async (budget) => {
      const night = { ...locked, budget };
      for (const why of whyFewer(budget, parseConfig(limits).workers)) notify(input.observers ?? [], 'onWarning', why);
      return carryOut(unfinished ?? (await beginNight(night, kept)), night);
    });
  } finally {
    await lock.release();
  }
}

const LOCK_WORDS = {
  whenOwn: 'Wait until the other night of this process ends.',
  whenAlive: 'Wait until it ends, or stop it: what it has done is kept, and the next run resumes it.',
  mode: 0o600,
};

const limitsOf = (input: CycleInput) => ({ ...nightConfigOf(input), ...(input.handoff ? HANDOFF_CONFIG : {}) });

type OpenNight = {
  readonly kept: KeptNight;
  readonly record: NightRecord;
  readonly documents: readonly LiveDocument[];
  readonly work: OpenedWork | undefined;
};

/** The last night, if it was cut off and would begin with the same models, documents and files. */
async function findUnfinished(input: NightInput): Promise<OpenNight | undefined> {
  const { folder, project, modelKey, tasksFrom = '' } = input;
  const kept = (await listNights(folder, project)).at(-1);
  const record = kept && (await readNight(kept.path));
  if (!kept || record?.status !== 'running' || record.modelKey !== modelKey) return undefined;
  const { documents } = await documentsFor(record.tasks, input);
  const isStuck = record.spent !== '' && record.spent === limitsKey(limitsOf(input));
  if (isStuck) {
    requireRaised(record.startedAt, input.now());
    await writeNight(kept.path, { ...record, status: 'failed' });
  }
  if (isStuck || !beganWith(record, documents) || record.tasksFrom !== tasksFrom) return undefined;
  const work = await input.openWork?.(record.work?.commit || undefined);
  return record.work?.key === work?.project.template.key ? { kept, record, documents, work } : undefined;
}

/** The last night's folder, if that night was cut off while it looked for tasks: its cost is part of this one. */
async function newNight({ folder, project, state }: NightInput): Promise<KeptNight> {
  const last = (await listNights(folder, project)).at(-1);
  const isNew = last === undefined || (await hasRecord(last.path));
  return isNew ? makeNight(folder, state, project) : last;
}

async function beginNight(input: NightInput, kept: KeptNight): Promise<OpenNight> {
  const { record, documents, work } = await prepareNight(input, kept.night).catch(async (error) => {
    await rmdir(kept.path).catch(() => undefined); // the folder stays if it holds what was spent
    throw error;
  });
  await writeNight(kept.path, record);
  // As it was written: a file keeps fewer keys of a task, and a resumed night must find the same tasks.
  return { kept, record: (await readNight(kept.path)) ?? record, documents, work };
}

/** Gathers the tasks, and fixes what the night works with whatever happens meanwhile. */
async function prepareNight(input: NightInput, night: number) {
  const { state, budget } = input;
  const work = await input.openWork?.(); // first, so that a project that cannot be copied costs nothing
  const gathered = await keepingHalf(budget, limitsOf(input), () => input.gather(state, budget));
  const { documents, notes } = await documentsFor(gathered.tasks, input);
  return { documents, work, record: recordOf(input, gathered, { night, documents, notes, work }) };
}

/**
 * The given documents and the existing skills that tasks name, each as it will be once pending proposals are adopted. A name for which
 * no file, or more than one, is found, or one of a plugin or a package, becomes a note. `planShots` decides later which have tasks enough.
 */
async function documentsFor(tasks: Tasks, { documents, chooseSkills, state }: NightInput) {
  const { skills, notes } = (await chooseSkills?.(tasks)) ?? noChoice;
  return { documents: [...documents, ...skills.map((skill) => onPending(skill, state.proposals))], notes };
}

type NightStart = Pick<OpenNight, 'documents' | 'work'> & { readonly night: number; readonly notes: readonly string[] };

function recordOf(input: NightInput, gathered: GatheredNight, start: NightStart): NightRecord {
  const { night, documents, notes, work } = start;
  const { project, agent, modelKey, settings, now, redact, state } = input;
  const last = modelKeyOf(state, project);
  const otherModels = `The models are not those of the last night (${last}): scores cannot be compared with it.`;
  return {
    format: 'skillopt_sleep.night.v1',
    ...{ project, night, agent, modelKey, status: 'running', startedAt: now().toISOString() },
    ...{ tasksFrom: input.tasksFrom ?? '', spent: '', cut: '', unreadSessions: 0 },
    error: settings.gateMode === 'off' ? null : nextError(testedNights(state, project)),
    digests: digestsOf(documents),
    skills: documents.flatMap(({ name, hints }) => (hints ? [{ name, hints: [...hints] }] : [])),
    ...gathered,
    tasks: gathered.tasks.map((task) => redactTask(task, redact)), // a reviewed file may contain secrets
    ...(work ? { work: workRecord(work) } : {}),
    notes: [
      ...gathered.notes,
      ...notes,
      ...(work ? keptBack(work).map(redact) : []),
      ...builtOn(documents, state.proposals),
      ...(last !== '' && last !== modelKey ? [otherModels] : []),
    ],
  };
}

const workRecord = ({ agent, sandbox, project: { commit = '', template } }: OpenedWork) => ({
  ...{ agent: agent.id, sandbox: sandbox.id, commit, key: template.key },
});

const keptBack = ({ project: { files, leftOut } }: OpenedWork) =>
  leftOut.length === 0
    ? []
    : [`The agent has a copy of the project with ${files} files. Left out: ${describeKeptBack(leftOut)}.`];

const digestsOf = (documents: readonly LiveDocument[]) =>
  Object.fromEntries(
    documents.map(({ kind, name, hints, live }) => [hints ? `${kind}:${name}` : kind, live.digest ?? '']),
  );

function beganWith({ digests, skills }: NightRecord, documents: readonly LiveDocument[]): boolean {
  const isSame = Object.entries(digestsOf(documents)).every(([key, digest]) => digests[key] === digest);
  return isSame && skills.length === documents.filter(({ hints }) => hints !== undefined).length;
}

async function carryOut({ kept, record, documents, work }: OpenNight, given: NightInput): Promise<CycleOutcome> {
  const folder = kept.path;
  const input = { ...given, documents };
  const quarantine = quarantining();
  const storeOf: StoreOf = (trained, named) => runDirectory(`${folder}${runNameOf(trained, named)}`);
  await using log = await evidenceLog(folder, input.redact);
  log.write('cycle', 'start', { night: record.night, tasks: record.tasks.length, error: record.error });
  await input.handoff?.open({ stateFolder: input.folder, folder: join(folder, HANDOFF_FOLDER), redact: input.redact });
  try {
    const learned = await learn(record, { ...input, storeOf, quarantine, work, observer: log.observer });
    const read = await criticised(learned, { ...input, storeOf });
    const { result, overNights } = await overNightsOf(record, read, { ...input, storeOf });
    const proposals = await stageNight(record, result, input);
    const report = reportNight({ record, result, proposals, quarantined: quarantine.list() }, input);
    await finishNight({ record, folder, result, proposals, report, overNights }, input);
    await input.handoff?.close();
    return { report, proposals, folder };
  } catch (error) {
    if (error instanceof HandoffPending) throw await input.handoff!.pending(); // nothing has failed
    if (isSpent(error)) await writeNight(folder, { ...record, spent: limitsKey(limitsOf(input)) });
    const why = JSON.stringify(diagnosticsOf(record, undefined, error), null, 1);
    await writePrivate(join(folder, 'diagnostics.json'), `${input.redact(why)}\n`);
    throw error; // a failed night is not a night without a gain
  }
}

async function stageNight(
  { project, night, tasks }: NightRecord,
  { documents }: ConsolidationResult,
  input: CycleInput,
): Promise<Proposal[]> {
  const proposals: Proposal[] = [];
  for (const found of documents) {
    const { trained, named, isTaken, proof, concerns } = found;
    const document = documentOf(input.documents, trained, named);
    if (!isTaken || !document) continue;
    const place = input.settings.skillScope === 'auto' ? placeOf(document, found, tasks) : { document, ...found };
    const { live, roots, isNewAllowed, text } = place.document;
    proposals.push(
      await stage({
        ...{ stateFolder: input.folder, project, night, document: place.document, live, roots, isNewAllowed },
        id: `${night}${runNameOf(trained, named)}`,
        at: input.now().toISOString(),
        gain: gainOf(proof),
        confidence: proof ? 1 - proof.error : null,
        concerns: concerns ?? [],
        text: writeBlock(text, 'learned', place.block),
      }),
    );
  }
  return proposals;
}

type Learning = NightInput & {
  readonly storeOf: StoreOf;
  readonly quarantine: Quarantine;
  readonly work: OpenedWork | undefined;
  readonly observer?: RunObserver;
};

function learn(record: NightRecord, input: Learning): Promise<ConsolidationResult> {
  const { models, documents, settings, storeOf, quarantine, observer, observers = [] } = input;
  const [skill, memory] = (['skill', 'memory'] as const).map((kind: Trained) => documentOf(documents, kind, ''));
  const { own, others } = tasksBySkill(record, documents);
  const { editBudget, gateMetric, gateMixedWeight, dreamRollouts: rolloutsK } = settings;
  const evolveMemory = settings.evolveMemory && memory !== undefined;
  const texts = { skill: skill ? readText(skill) : '', memory: memory?.text ?? '' };
  return consolidate(models, own, texts, {
    ...{ editBudget, gateMetric, gateMixedWeight, rolloutsK, night: record.night, storeOf, others, quarantine },
    ...{ scorers: input.scorers, runner: input.runner, signal: input.signal, budget: input.budget },
    work: input.work && nightWork(input.work, { documents, folder: input.project }),
    ...(record.error === null ? { gateMode: 'off' as const } : { error: record.error }),
    evolveSkill: settings.evolveSkill && skill !== undefined,
    evolveMemory,
    config: limitsOf(input),
    ...(input.handoff && { proofLooks: HANDOFF_LOOKS, asksAhead: { handoff: input.handoff, evolveMemory } }),
    notesOf: (trained, named) => nightNotes(input, trained, named),
    prompt: settings.promptOverrides.attempt,
    observers: observer ? [...observers, observer] : observers,
  });
}

function tasksBySkill({ tasks, skills }: NightRecord, documents: readonly LiveDocument[]) {
  const ownerOf = ownerAmong(skills);
  const tasksOf = (name: string) => tasks.filter((task) => ownerOf(task) === name);
  const textOf = (name: string) => documentOf(documents, 'skill', name)!.text;
  return { own: tasksOf(''), others: skills.map(({ name }) => ({ name, text: textOf(name), tasks: tasksOf(name) })) };
}

/** A dry run keeps nothing: no folder, no state, no proposal. */
async function carryOutInMemory(input: NightInput): Promise<CycleOutcome> {
  const { documents, work, record } = await prepareNight(input, nightOf(input.state, input.project) + 1);
  const quarantine = quarantining();
  const night = { ...input, documents };
  const result = await learn(record, { ...night, work, quarantine, storeOf: () => memoryRun() });
  const report = reportNight({ record, result, proposals: [], quarantined: quarantine.list() }, night);
  return { report, proposals: [], folder: undefined };
}
