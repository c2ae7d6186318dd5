import type { Amounts, UsageTable } from '../../core/run/index.ts';
import type { SleepReport, WithTools } from '../../report/index.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { NightRecord } from '../state/nights.ts';
import { isReplayable } from '../task-record.ts';
import { type ConsolidationResult, isUnread, sortEdits, unreadReply } from './consolidation-result.ts';
import type { Proof } from './prove.ts';
import { labelOf } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

type Reported = Pick<SleepReport, 'documents' | 'untrained' | 'quarantined' | 'endedAt'> & {
  readonly spent?: Amounts | undefined;
};

export function toReport(record: NightRecord, result: ConsolidationResult, given: Reported): SleepReport {
  const { spent, ...reported } = given;
  const { night, project, startedAt, nSessions, tasks, notReplayable, pooled, recurring } = record;
  const { accepted, gateAction, baselineScore, candidateScore, holdoutLeaked } = result;
  const usage = Object.assign({}, ...result.documents.map(usageOf)) as ReturnType<typeof usageOf>;
  const { calls, tokensUsed } = costOf(usage);
  const noEditsReason = accepted ? '' : whyNothing(record, result);
  const notes = [...record.notes, ...searchCut(record), ...result.notes, ...warningsOf(result)];
  return {
    ...{ night, project, startedAt, nSessions, notReplayable, pooled, recurring },
    ...{ accepted, gateAction, baselineScore, candidateScore, holdoutLeaked },
    withTools: withToolsOf(record),
    nTasks: tasks.length - pooled,
    nReplayed: tasks.length,
    noEditsReason,
    needs: accepted ? '' : whatItTakes(record, result),
    edits: result.appliedEdits,
    rejectedEdits: result.rejectedEdits,
    unmatchedEdits: result.unmatchedEdits,
    gateTrials: result.gateTrials,
    intents: Object.fromEntries(tasks.filter(({ split }) => split === 'val').map(({ id, intent }) => [id, intent])),
    calls: Math.max(spent?.calls ?? 0, calls),
    tokensUsed: Math.max(spent?.totalTokens ?? 0, tokensUsed),
    usage,
    notes: notes.filter((note) => note !== noEditsReason), // said once
    ...reported,
  };
}

/** By document and stage. */
export function usageOf({ trained, named, summary, proof }: TrainedDocument): UsageTable {
  const label = labelOf({ trained, named });
  return Object.fromEntries([
    ...Object.entries(summary.tokenSummary).map(([stage, usage]) => [`${label} ${stage}`, usage] as const),
    ...Object.entries(proof?.usage ?? {}).map(([stage, usage]) => [`${label} proof ${stage}`, usage] as const),
  ]);
}

export const costOf = (usage: UsageTable) =>
  Object.values(usage).reduce(
    ({ calls, tokensUsed, costUsd }, one) => ({
      calls: calls + one.replies - one.cacheHits,
      tokensUsed: tokensUsed + one.input + one.output,
      costUsd: costUsd + one.costUsd,
    }),
    { calls: 0, tokensUsed: 0, costUsd: 0 },
  );

const warningsOf = ({ documents }: ConsolidationResult) => [
  ...new Set(documents.flatMap(({ summary }) => summary.warnings)),
];

/** In the order in which a night can come to nothing. */
function whyNothing(record: NightRecord, { gateAction, documents, reflectRaw, notes }: ConsolidationResult): string {
  if (gateAction === 'reject_unverified' || documents.length === 0)
    return [notes[0] ?? 'There was nothing to learn from.', ...searchCut(record)].join(' ');
  if (documents.every(isDoneWell)) return DONE_WELL;
  if (isUnread({ documents }))
    return 'The optimizer gave no answer that could be read. The next night considers these sessions again.';
  const proof = documents.find((document) => document.proof)?.proof;
  const ended = endedBy(documents.find(({ cut }) => cut !== undefined));
  if (ended) return proof ? `${couldBeChance(proof)} ${ended}` : ended;
  return proof ? couldBeChance(proof) : whyUnproven(documents.map(sortEdits), reflectRaw);
}

const searchCut = ({ cut }: NightRecord) => (cut === '' ? [] : [`A limit ended the search for tasks early: ${cut}.`]);

/** What was measured or proposed until then is not why nothing is. */
const endedBy = (document: TrainedDocument | undefined) =>
  document?.cut && `A limit ended the work at the ${labelOf(document)} before anything was proven: ${document.cut}.`;

/** What became of one document. */
export function verdictOf(document: TrainedDocument): string {
  if (document.isTaken) return document.proof ? 'Proven better.' : 'Taken without a gate.';
  if (isDoneWell(document)) return DONE_WELL;
  const ended = endedBy(document);
  if (ended) return document.proof ? `${couldBeChance(document.proof)} ${ended}` : ended;
  return document.proof
    ? couldBeChance(document.proof)
    : whyUnproven([sortEdits(document)], unreadReply(document.state));
}

const DONE_WELL = 'Every held-out task is done well already: there is nothing left to gain.';
const isDoneWell = ({ state }: TrainedDocument) => state.baseline !== undefined && state.baseline.score >= 1;

function couldBeChance({ gain, pValue }: Proof): string {
  const points = (100 * gain.value).toFixed(1);
  return `A change measured ${points} points over the tasks that were held out, which could be chance (${(100 * pValue).toFixed(1)} %).`;
}

function whyUnproven(sorted: readonly ReturnType<typeof sortEdits>[], reflectRaw: string): string {
  if (sorted.some(({ rejectedEdits }) => rejectedEdits.length > 0))
    return 'What was proposed did not do better on the tasks that were held out.';
  if (sorted.some(({ unmatchedEdits }) => unmatchedEdits.length > 0))
    return 'What was proposed changed nothing in the document.';
  if (reflectRaw !== '') return 'The optimizer gave no answer that could be read.';
  return 'Nothing was proposed.';
}

/** Such as: 3 sessions, 1 recurring; about 8 more. */
function whatItTakes(record: NightRecord, { documents }: ConsolidationResult): string {
  const { nSessions, recurring, tasks, skills, cut } = record;
  if (documents.some((document) => document.cut) || (cut !== '' && documents.length === 0))
    return 'Raise that limit for the next night.';
  if (skills.length > 0 && documents.length === 0) return ''; // each of them is told what it takes

  const held = tasks.filter(({ split }) => split === 'val').length;
  const perSession = nSessions === 0 ? 0 : held / nSessions;
  const have = `${nSessions} ${nSessions === 1 ? 'session' : 'sessions'}, ${recurring.length} recurring`;
  if (held < LEAST_HELD_OUT) {
    const more = Math.ceil((LEAST_HELD_OUT - held) / Math.max(0.2, perSession));
    return `${have}; about ${more} more until something can be proven.`;
  }
  const isClose = documents.some(({ proof }) => proof !== undefined && proof.pValue < 0.2);
  return isClose ? `${have}; the same again on another night would be measured with more tasks.` : '';
}

/** What an agent with tools attempted, if there was one. */
function withToolsOf({ tasks, work }: Pick<NightRecord, 'tasks' | 'work'>): WithTools | null {
  if (work === undefined) return null;
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  return { tasks: tasks.length, needFiles, agent: work.agent, sandbox: work.sandbox };
}
