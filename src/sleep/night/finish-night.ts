import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { redactValue } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { reportMarkdown, type SleepReport } from '../../report/index.ts';
import { createPrivate, writePrivate } from '../../stores/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { documentOf, runNameOf } from '../documents/skills.ts';
import { isFor, type Proposal, recordProposal } from '../staging/proposal.ts';
import { stage } from '../staging/stage.ts';
import { type NightRecord, writeNight } from '../state/nights.ts';
import { type OverNights, openSleepState, recordNight, type SleepState } from '../state/sleep-state.ts';
import type { Tasks } from '../task-record.ts';
import { type ConsolidationResult, isUnread } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import { diagnosticsOf } from './night-report.ts';
import { rejectedIn } from './over-nights.ts';
import { gainOf } from './prove.ts';

/** A document with its pending proposal, which a further night builds on; not if the learned block was changed by hand. */
export function onPending(document: LiveDocument, proposals: readonly Proposal[]): LiveDocument {
  const waiting = proposals.findLast((proposal) => proposal.status === 'pending' && isFor(proposal, document));
  if (waiting === undefined || readBlock(document.text, 'learned') !== waiting.baseBlock) return document;
  return { ...document, text: writeBlock(document.text, 'learned', waiting.block) };
}

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

export async function stageNight(
  { project, night }: NightRecord,
  { documents, newSkills, newSkill, newMemory }: ConsolidationResult,
  input: CycleInput,
): Promise<Proposal[]> {
  const proposals: Proposal[] = [];
  for (const { trained, named, isTaken, proof } of documents) {
    const document = documentOf(input.documents, trained, named);
    if (!isTaken || !document) continue;
    const { live, roots, isNewAllowed } = document;
    proposals.push(
      await stage({
        ...{ stateFolder: input.folder, project, night, document, live, roots, isNewAllowed },
        id: `${night}${runNameOf(trained, named)}`,
        at: input.now().toISOString(),
        gain: gainOf(proof),
        confidence: proof ? 1 - proof.error : null,
        text: newSkills[named] ?? (trained === 'skill' ? newSkill : newMemory),
      }),
    );
  }
  return proposals;
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
}

function rowOf({ record: { project, night }, result: { documents }, report }: FinishedNight) {
  const { accepted, nTasks, gateAction, calls, withTools, notReplayable, endedAt: at } = report;
  const isTested = documents.some(({ proof }) => proof !== undefined);
  const row = { project, night, at, accepted, nTasks, isTested, gateAction, calls };
  return { ...row, rejected: documents.flatMap(rejectedIn), notReplayable, ...(withTools ? { withTools } : {}) };
}

/** The state with a new proposal. Pending ones for the same document are superseded: the new one contains them. */
function supersede(state: SleepState, proposal: Proposal): SleepState {
  const proposals = state.proposals.map((earlier): Proposal => {
    const isSame = earlier.document.realPath === proposal.document.realPath && earlier.project === proposal.project;
    return isSame && earlier.status === 'pending' ? { ...earlier, status: 'superseded' } : earlier;
  });
  return recordProposal({ ...state, proposals }, proposal);
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

const MOST_CHARACTERS = 4_000;

/** Writes `evidence.jsonl`: one line per event, redacted and shortened. */
export async function evidenceLog(folder: string, redact: (text: string) => string) {
  const path = join(folder, 'evidence.jsonl');
  await createPrivate(path);
  let [waiting, seq, written] = ['', 0, Promise.resolve()];
  const flush = async () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') await appendFile(path, lines).catch(() => undefined); // a log must not end a night
  };
  const write = (stage: string, event: string, payload: object) => {
    const facts = shortened(redactValue(payload), redact) as object;
    waiting += `${JSON.stringify({ at: new Date().toISOString(), seq: seq++, stage, event, ...facts })}\n`;
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
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, redact)]));
}

const shortText = (text: string) =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} … (${text.length - MOST_CHARACTERS} more)`;
