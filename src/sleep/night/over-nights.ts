import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type ChatModel,
  COMPARISON_TITLES,
  dataSection,
  guidanceSection,
  HEADINGS,
  type PairCategory,
  parseConfig,
  type SkillOptConfigInput,
  skillSection,
} from '../../core/contracts/index.ts';
import { findPoison } from '../../core/guard/index.ts';
import type { RunStore } from '../../core/run/index.ts';
import type { TestedNight } from '../../core/stats/index.ts';
import { head, parseJson, skillHash } from '../../core/text/index.ts';
import type { Budget } from '../../models/index.ts';
import { askForJson, createStop } from '../../pipeline/index.ts';
import { reportMarkdown, type SleepReport } from '../../report/index.ts';
import { readPrivate, writePrivate } from '../../stores/index.ts';
import { wrapModels } from '../../train/index.ts';
import type { Trained } from '../replay/sleep-env.ts';
import { type Proposal, supersede } from '../staging/proposal.ts';
import { listNights, type NightRecord, readNight, writeNight } from '../state/nights.ts';
import { retain } from '../state/purge.ts';
import {
  modelKeyOf,
  nightOf,
  type OverNights,
  openSleepState,
  recordNight,
  type SleepState,
} from '../state/sleep-state.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';
import { type ConsolidationResult, isUnread, sortEdits } from './consolidation-result.ts';
import { type CycleInput, type NightInput, nightConfigOf, type StoreOf } from './cycle-input.ts';
import { diagnosticsOf } from './night-report.ts';
import { labelOf } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

const rowsOf = ({ history }: SleepState, project: string) => history.filter((row) => row.project === project);

export const testedNights = (state: SleepState, project: string): TestedNight[] =>
  rowsOf(state, project)
    .filter(({ isTested }) => isTested === true)
    .map(({ accepted }) => ({ isProven: accepted }));

const MOST_REJECTED = 20;

type Rejected = { readonly target: string; readonly content: string; readonly named?: string };

/** What a night has tried in vain for a document, as later nights read it in the history. */
const rejectedIn = (document: TrainedDocument): Rejected[] =>
  sortEdits(document).rejectedEdits.map(({ target, content }) =>
    document.named === '' ? { target, content } : { target, content, named: document.named },
  );

/** What analysts should know: what the person wants, and what earlier nights have tried in vain. */
export function nightNotes({ state, project, settings }: NightInput, trained: Trained, named: string): string[] {
  const preferences = settings.preferences.trim();
  const rejected = rowsOf(state, project).flatMap((row) => (row.rejected as Rejected[] | undefined) ?? []);
  const isOfIt = (one: Rejected) => one.target === trained && (one.named ?? '') === named;
  const lines = rejected.filter(isOfIt).map(({ content }) => content.trim());
  const last = [...new Set(lines)].slice(-MOST_REJECTED);
  const known = state.overNights.find((one) => one.project === project && one.document === labelOf({ trained, named }));
  return [
    ...(known === undefined || known.guidance === '' ? [] : [`Noticed over several nights:\n${known.guidance}`]),
    ...(preferences === '' ? [] : [`What the person wants of it:\n${preferences}`]),
    ...(last.length === 0 ? [] : [`Rejected on earlier nights, since it did not help:\n${last.join('\n')}`]),
  ];
}

/** A task that was attempted on an earlier night and on this one, each time under the document as it was then. */
type Recurring = {
  readonly task: TaskRecord;
  readonly before: number;
  readonly now: number;
  readonly category: PairCategory;
};

type ComparedNight = {
  readonly project: string;
  readonly night: number;
  readonly tasks: Tasks;
  readonly known: readonly OverNights[];
  /** `undefined`: only scores are kept. */
  readonly optimizer: ChatModel | undefined;
  readonly config: SkillOptConfigInput;
  readonly budget?: Budget | undefined;
  readonly store: RunStore;
  readonly signal?: AbortSignal | undefined;
};

type KeptGuidance = { readonly overNights: OverNights; readonly notes: readonly string[] };

/** The night's result with what is known over nights. Scores of other models cannot be compared. */
export async function overNightsOf(
  { project, night, tasks }: NightRecord,
  result: ConsolidationResult,
  input: NightInput & { readonly storeOf: StoreOf },
) {
  const { state, settings, models, handoff, budget, signal, modelKey } = input;
  const known = modelKeyOf(state, project) === modelKey ? state.overNights : state.overNights.map(withoutScores);
  const optimizer = handoff ? undefined : models.optimizer;
  const shared = { project, night, tasks, known, optimizer, config: nightConfigOf(input), budget, signal };
  const kept: KeptGuidance[] = [];
  for (const document of settings.slowUpdate ? result.documents : []) {
    const store = input.storeOf(document.trained, document.named);
    kept.push(await lookOverNights(document, { ...shared, store }));
  }
  const notes = [...result.notes, ...kept.flatMap((one) => one.notes)];
  return { result: { ...result, notes }, overNights: kept.map(({ overNights }) => overNights) };
}

const withoutScores = (one: OverNights): OverNights => ({ ...one, scores: {} });

/** While the document does not change, nights between two comparisons. */
const NIGHTS_BETWEEN = 3;
const MOST_CHARACTERS = 1_200;
const MOST_TASKS = 12;

/**
 * Adds the scores of training tasks to what is known over nights. If tasks that came back got worse or still fail, asks for
 * guidance for later analysts, which neither gate nor document sees. Held-out tasks take no part: analysts must not read them.
 */
async function lookOverNights(document: TrainedDocument, night: ComparedNight): Promise<KeptGuidance> {
  const { project, night: number, known } = night;
  const before = known.find((one) => one.project === project && one.document === labelOf(document));
  const digest = skillHash(document.baseBlock);
  const scores = Object.fromEntries(
    Object.entries(document.attempted).map(([id, score]) => [id, { score, night: number, digest }]),
  );
  const recurring = compare(before, document, night.tasks);
  const kept: OverNights = {
    ...{ project, document: labelOf(document), digest, guidance: before?.guidance ?? '' },
    ...{ askedNight: before?.askedNight ?? 0, scores: { ...before?.scores, ...scores } },
  };
  const isDue = before !== undefined && (before.digest !== digest || number - before.askedNight >= NIGHTS_BETWEEN);
  const isBad = recurring.some(({ category }) => category === 'regressed' || category === 'persistent_fail');
  if (!isDue || !isBad || night.optimizer === undefined)
    return { overNights: isDue ? kept : { ...kept, digest: before?.digest ?? digest }, notes: [] };
  return withGuidance({ ...kept, askedNight: number }, recurring, document, night);
}

function compare(before: OverNights | undefined, { attempted }: TrainedDocument, tasks: Tasks): Recurring[] {
  return tasks.flatMap((task) => {
    const [was, now] = [before?.scores[task.id]?.score, attempted[task.id]];
    return was === undefined || now === undefined ? [] : [{ task, before: was, now, category: categoryOf(was, now) }];
  });
}

const categoryOf = (before: number, now: number): PairCategory =>
  before >= 0.5 ? (now >= 0.5 ? 'stable_success' : 'regressed') : now >= 0.5 ? 'improved' : 'persistent_fail';

const Reply = z.object({ reasoning: z.string().nullish(), slowUpdateContent: z.string().nullish() });

/** If the model fails, the night goes without guidance. */
async function withGuidance(
  kept: OverNights,
  recurring: readonly Recurring[],
  document: TrainedDocument,
  night: ComparedNight,
) {
  const changed = recurring.filter(({ category }) => category !== 'stable_success').length;
  const what = `Over nights, ${changed} of ${recurring.length} tasks that came back changed or still fail (${labelOf(document)})`;
  const asked = await ask(question(kept, recurring, document), night).catch((error: Error) => {
    night.signal?.throwIfAborted();
    return error;
  });
  if (asked instanceof Error) return { overNights: kept, notes: [`${what}; no guidance: ${asked.message}`] };
  const guidance = head((asked?.slowUpdateContent ?? '').trim(), MOST_CHARACTERS);
  const poison = findPoison(guidance);
  if (poison) return { overNights: kept, notes: [`${what}; guidance was quarantined: ${poison.reason}`] };
  if (guidance === '') return { overNights: kept, notes: [] };
  return { overNights: { ...kept, guidance }, notes: [`${what}. Guidance for later nights: ${guidance}`] };
}

function question({ guidance }: OverNights, recurring: readonly Recurring[], { baseBlock }: TrainedDocument): string {
  const groups = (['regressed', 'persistent_fail', 'improved'] as const).flatMap((category) => {
    const members = recurring.filter((one) => one.category === category).slice(0, MOST_TASKS);
    const lines = members.map(
      ({ task, before, now }) => `- ${task.intent} (${before.toFixed(2)}, now ${now.toFixed(2)})`,
    );
    return lines.length === 0 ? [] : [`### ${COMPARISON_TITLES[category]}\n${lines.join('\n')}`];
  });
  return [
    skillSection(baseBlock),
    guidanceSection(guidance),
    dataSection(HEADINGS.comparison, 'comparison', groups.join('\n\n'), `${recurring.length} tasks`),
  ].join('\n\n');
}

let prompt: string | undefined;

async function ask(user: string, { optimizer, config: given, budget: shared, store, signal }: ComparedNight) {
  prompt ??= readFileSync(new URL('./prompts/over-nights.md', import.meta.url), 'utf8');
  const config = parseConfig(given);
  await using open = await store.open();
  using stop = createStop(signal);
  const models = { target: optimizer!, optimizer: optimizer! };
  const wrapped = wrapModels({ ...models, config, caches: open.caches, observers: [], stop, shared });
  const asked = { system: prompt, user, stage: 'slow_update', schema: Reply, maxOutputTokens: 1_024 };
  return await askForJson(asked, { model: wrapped.optimizer, stop }); // while the caches are open
}

type FinishedNight = {
  readonly record: NightRecord;
  readonly folder: string;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly report: SleepReport;
  readonly overNights: readonly OverNights[];
};

/** Writes the files for people, then the state, which makes the night count. */
export async function finishNight(finished: FinishedNight, input: CycleInput): Promise<void> {
  const { record, folder, result, proposals, report, overNights } = finished;
  const write = (name: string, text: string) => writePrivate(join(folder, name), text);
  await write('report.json', `${JSON.stringify(report, null, 1)}\n`);
  await write('report.md', reportMarkdown(report));
  await write('diagnostics.json', `${JSON.stringify(diagnosticsOf(record, result), null, 1)}\n`);
  const cursors = isUnread(result) ? undefined : record.cursors; // nothing was learned from sessions that no model read
  const tasks = record.tasks.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === '');
  await using open = await openSleepState(input.folder, { redact: input.redact });
  await open.update((state) => {
    const known = new Set(state.taskArchive.map(({ task }) => task.id));
    const fresh = tasks.filter(({ id }) => !known.has(id));
    const { modelKey } = input;
    const after = recordNight(state, { row: rowOf(finished), cursors, tasks: fresh, modelKey });
    return proposals.reduce(supersede, keepOverNights(learnedFrom(tasks, after), overNights));
  });
  await writeNight(folder, { ...record, status: 'done' });
  await retain(open, input.settings.retention, Date.parse(report.endedAt));
}

export type CycleOutcome = {
  readonly report: SleepReport;
  readonly proposals: readonly Proposal[];
  /** The folder of the night; `undefined` for a dry run. */
  readonly folder: string | undefined;
};

/** Later the same command asks for another night. */
const TONIGHT_MS = 3_600_000;

/** The last night, if it was killed between the state and its own record: it is over, and its report is written. */
export async function findRecorded({ folder, project, state, now }: NightInput): Promise<CycleOutcome | undefined> {
  const kept = (await listNights(folder, project)).at(-1);
  const record = kept && (await readNight(kept.path));
  if (!kept || record?.status !== 'running' || nightOf(state, project) < kept.night) return undefined;
  await writeNight(kept.path, { ...record, status: 'done' });
  const report = parseJson((await readPrivate(join(kept.path, 'report.json'))) ?? '') as SleepReport | undefined;
  const proposals = state.proposals.filter((one) => one.project === project && one.night === kept.night);
  const isTonight = report && Number(now()) - Date.parse(report.endedAt) < TONIGHT_MS;
  return isTonight ? { report, proposals, folder: kept.path } : undefined;
}

function rowOf({ record: { project, night }, result: { documents }, report }: FinishedNight) {
  const {
    accepted,
    nTasks,
    gateAction,
    calls,
    costUsd,
    isPriced,
    withTools,
    notReplayable,
    needs,
    endedAt: at,
  } = report;
  const isTested = documents.some(({ proof }) => proof !== undefined);
  const row = { project, night, at, accepted, nTasks, isTested, gateAction, calls, costUsd, isPriced };
  return { ...row, rejected: documents.flatMap(rejectedIn), notReplayable, ...(withTools ? { withTools } : {}), needs };
}

/** A task that was held out before and learned from tonight proves nothing any more. */
function learnedFrom(tasks: Tasks, state: SleepState): SleepState {
  const learned = new Set(tasks.filter(({ split }) => split === 'train').map(({ id }) => id));
  const taskArchive = state.taskArchive.map((one) =>
    learned.has(one.task.id) ? { ...one, task: { ...one.task, split: 'train' as const } } : one,
  );
  return { ...state, taskArchive };
}

/** Keeps scores of archived tasks alone: the others cannot come back. */
function keepOverNights(state: SleepState, news: readonly OverNights[]): SleepState {
  const archived = new Set(state.taskArchive.map(({ task }) => task.id));
  const isNew = ({ project, document }: OverNights) =>
    news.some((other) => other.project === project && other.document === document);
  const kept = news.map((one) => ({
    ...one,
    scores: Object.fromEntries(Object.entries(one.scores).filter(([id]) => archived.has(id))),
  }));
  return { ...state, overNights: [...state.overNights.filter((one) => !isNew(one)), ...kept] };
}
