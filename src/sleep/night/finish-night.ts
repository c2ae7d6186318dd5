import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { redactValue } from '../../core/guard/index.ts';
import type { Amounts, RunObserver } from '../../core/run/index.ts';
import { head } from '../../core/text/index.ts';
import { type DocumentReport, reportMarkdown, type SleepReport } from '../../report/index.ts';
import { createPrivate, writePrivate } from '../../stores/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { documentOf, runNameOf } from '../documents/skills.ts';
import type { QuarantinedText } from '../replay/sleep-env.ts';
import { type Proposal, recordProposal } from '../staging/proposal.ts';
import { stage } from '../staging/stage.ts';
import { type NightRecord, writeNight } from '../state/nights.ts';
import { type OverNights, openSleepState, recordNight, type SleepState } from '../state/sleep-state.ts';
import type { TaskRecord } from '../task-record.ts';
import { type ConsolidationResult, isUnread } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import { rejectedIn } from './over-nights.ts';
import type { Proof } from './prove.ts';
import { costOf, toReport, usageOf, verdictOf } from './sleep-report.ts';
import type { TrainedDocument } from './train-document.ts';

/**
 * A document as it will be when the person adopts what waits for them: a further night builds on it, and what it proposes
 * holds both. Not where the learned block was changed by hand since: then it starts from that.
 */
export function onPending(document: LiveDocument, proposals: readonly Proposal[]): LiveDocument {
  const waiting = proposals.findLast((proposal) => proposal.status === 'pending' && isFor(proposal, document));
  if (waiting === undefined || readBlock(document.text, 'learned') !== waiting.baseBlock) return document;
  return { ...document, text: writeBlock(document.text, 'learned', waiting.block) };
}

/** What is measured holds with it, which is no matter of course when another document waits. */
export function builtOn(documents: readonly LiveDocument[], proposals: readonly Proposal[]): string[] {
  const isUnder = (proposal: Proposal) =>
    documents.some((one) => isFor(proposal, one) && readBlock(one.text, 'learned') === proposal.block);
  return proposals
    .filter((proposal) => proposal.status === 'pending' && isUnder(proposal))
    .map(
      ({ night, document: { kind, name } }) =>
        `Built on what night ${night} proposed for the ${kind} ${name}, which still waits: what is measured here holds together with it.`,
    );
}

const isFor = ({ document }: Proposal, { live }: LiveDocument) => document.realPath === live.realPath;

/** The state with a new proposal, in place of those for the same document that it was built on. */
function supersede(state: SleepState, proposal: Proposal): SleepState {
  const proposals = state.proposals.map((earlier): Proposal => {
    const isSame = earlier.document.realPath === proposal.document.realPath && earlier.project === proposal.project;
    return isSame && earlier.status === 'pending' ? { ...earlier, status: 'superseded' } : earlier;
  });
  return recordProposal({ ...state, proposals }, proposal);
}

const gainOf = (proof: Proof | undefined) => (proof ? { value: proof.gain.value, ...proof.gain.interval } : null);

/** Everything that was proven, or is wanted without a gate, waits for a person from here on. */
export async function stageNight(
  record: NightRecord,
  result: ConsolidationResult,
  input: CycleInput,
): Promise<Proposal[]> {
  const { project, night } = record;
  const proposals: Proposal[] = [];
  for (const { trained, named, isTaken, proof } of result.documents) {
    const document = documentOf(input.documents, trained, named);
    if (!isTaken || !document) continue;
    proposals.push(
      await stage({
        ...{ stateFolder: input.folder, project, night, document },
        ...{ live: document.live, roots: document.roots, isNewAllowed: document.isNewAllowed },
        id: `${night}${runNameOf(trained, named)}`,
        at: input.now().toISOString(),
        gain: gainOf(proof),
        confidence: proof ? 1 - proof.error : null,
        text: result.newSkills[named] ?? (trained === 'skill' ? result.newSkill : result.newMemory),
      }),
    );
  }
  return proposals;
}

type Night = {
  readonly record: NightRecord;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly quarantined: readonly QuarantinedText[];
  /** Of the night's limits, where they are counted: mining too, and what was paid for before it was cut off. */
  readonly spent?: Amounts | undefined;
};

export function reportNight(
  { record, result, proposals, quarantined, spent }: Night,
  { documents, now }: CycleInput,
): SleepReport {
  const reported = result.documents.map((trained): DocumentReport => {
    const document = documentOf(documents, trained.trained, trained.named)!;
    const isStaged = proposals.some((proposal) => isFor(proposal, document));
    const { name, live } = document;
    return { ...documentReport(trained), name, path: live.path, isStaged };
  });
  const untrained = result.untrained.map(({ trained, named, tasks, note }) => {
    const { name, live } = documentOf(documents, trained, named)!;
    return { kind: trained, name, path: live.path, tasks: tasks.length, why: note };
  });
  const endedAt = now().toISOString();
  return toReport(record, result, { documents: reported, untrained, quarantined, spent, endedAt });
}

function documentReport(document: TrainedDocument) {
  const { trained, baseBlock, block, isTaken, proof, state } = document;
  const { baseline, best } = state.tests;
  const after = isTaken ? block : baseBlock;
  const test = baseline && best && { before: baseline.hard, after: (isTaken ? best : baseline).hard, tasks: best.n };
  const said = { verdict: verdictOf(document), ...costOf(usageOf(document)) };
  return { kind: trained, before: baseBlock, after, gain: gainOf(proof), test: test ?? null, ...said };
}

type Finished = {
  readonly record: NightRecord;
  readonly folder: string;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly report: SleepReport;
  /** What is known of its documents over nights, with this one. */
  readonly overNights: readonly OverNights[];
};

/** The files for people first; then the state, which makes the night count. */
export async function finishNight(
  { record, folder, result, proposals, report, overNights }: Finished,
  input: CycleInput,
): Promise<void> {
  const { project, night } = record;
  const cursors = isUnread(result) ? undefined : record.cursors; // then nobody has learned from its sessions

  const write = (name: string, text: string) => writePrivate(join(folder, name), text);
  await write('report.json', `${JSON.stringify(report, null, 1)}\n`);
  await write('report.md', reportMarkdown(report));
  await write('diagnostics.json', `${JSON.stringify(diagnosticsOf(record, result), null, 1)}\n`);
  const { accepted, nTasks, gateAction, calls, withTools, notReplayable, endedAt: at } = report;
  const rejected = result.documents.flatMap(rejectedIn);
  const isTested = result.documents.some(({ proof }) => proof !== undefined);
  const tools = { notReplayable, ...(withTools ? { withTools } : {}) };
  const row = { project, night, at, accepted, nTasks, isTested, gateAction, calls, rejected, ...tools };
  const tasks = record.tasks.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === '');
  await using open = await openSleepState(input.folder, { redact: input.redact });
  await open.update((state) => {
    const known = new Set(state.taskArchive.map(({ task }) => task.id));
    const fresh = tasks.filter(({ id }) => !known.has(id));
    const after = recordNight(state, { row, cursors, tasks: fresh, modelKey: input.modelKey });
    return proposals.reduce(supersede, keepOverNights(learnedFrom(tasks, after), overNights));
  });
  await writeNight(folder, { ...record, status: 'done' });
}

/** A file may have had a task learned from that was held out before: it proves nothing any more. */
function learnedFrom(tasks: readonly TaskRecord[], state: SleepState): SleepState {
  const learned = new Set(tasks.filter(({ split }) => split === 'train').map(({ id }) => id));
  const taskArchive = state.taskArchive.map((one) =>
    learned.has(one.task.id) ? { ...one, task: { ...one.task, split: 'train' as const } } : one,
  );
  return { ...state, taskArchive };
}

/** Of tasks that are archived; the others cannot come back. */
function keepOverNights(state: SleepState, news: readonly OverNights[]): SleepState {
  const archived = new Set(state.taskArchive.map(({ task }) => task.id));
  const isNew = (one: OverNights) => news.some((other) => nameOf(other) === nameOf(one));
  const kept = news.map((one) => ({
    ...one,
    scores: Object.fromEntries(Object.entries(one.scores).filter(([id]) => archived.has(id))),
  }));
  return { ...state, overNights: [...state.overNights.filter((one) => !isNew(one)), ...kept] };
}

const nameOf = ({ project, document }: OverNights) => `${document} ${project}`;

const RAW_LENGTH = 1_200;

/** Enough to tell a night without a failure from one whose models said nothing: both score 0. */
export function diagnosticsOf(record: NightRecord, result: ConsolidationResult | undefined, error?: unknown) {
  const { night, modelKey, tasks } = record;
  const of = (split: string) => tasks.filter((task) => task.split === split).length;
  return {
    ...{ night, modelKey, nTrain: of('train'), nVal: of('val'), nTest: of('test') },
    callError: error === undefined ? '' : (error as Error).message,
    ...(result && {
      accepted: result.accepted,
      gateAction: result.gateAction,
      holdoutLeaked: result.holdoutLeaked,
      baselineScore: result.baselineScore,
      candidateScore: result.candidateScore,
      nAppliedEdits: result.appliedEdits.length,
      nRejectedEdits: result.rejectedEdits.length,
      nUnmatchedEdits: result.unmatchedEdits.length,
      reflectRawHead: head(result.reflectRaw, RAW_LENGTH),
      holdoutDetail: result.holdoutDetail,
      gateTrials: result.gateTrials,
      optimizerReplies: result.documents.map(({ trained, named, summary }) => ({
        trained,
        named,
        ...summary.optimizerReplies,
      })),
      warnings: result.documents.flatMap(({ summary }) => summary.warnings),
    }),
  };
}

const EVIDENCE_FILE = 'evidence.jsonl';
const MOST_CHARACTERS = 4_000;

/** One line per thing that happened, redacted and bounded, for whoever wants to know why. */
export async function evidenceLog(folder: string, redact: (text: string) => string) {
  const path = join(folder, EVIDENCE_FILE);
  await createPrivate(path);
  let [waiting, seq, written] = ['', 0, Promise.resolve()];
  const flush = async () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') await appendFile(path, lines).catch(() => undefined); // it is not worth a night
  };
  const write = (stage: string, event: string, payload: object) => {
    const line = {
      at: new Date().toISOString(),
      seq: seq++,
      stage,
      event,
      ...(shortened(redactValue(payload), redact) as object),
    };
    waiting += `${JSON.stringify(line)}\n`;
    written = written.then(flush);
  };
  const observer: RunObserver = {
    onEvent: (event) => write('run', event.type, event),
    onWarning: (warning) => write('run', 'warning', { warning }),
  };
  return { write, observer, [Symbol.asyncDispose]: () => written };
}

function shortened(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return shortText(redact(value));
  if (Array.isArray(value)) return value.map((item) => shortened(item, redact));
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' && !Number.isFinite(value) ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, redact)]));
}

const shortText = (text: string) =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} … (${text.length - MOST_CHARACTERS} more)`;
