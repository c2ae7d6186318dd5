import type { StageUsage } from '../../core/run/stage-usage.ts';
import type { EditRecord } from '../../core/skill/edit-record.ts';
import { LEAST_HELD_OUT } from './consolidate.ts';
import type { ConsolidationResult, GateTrial } from './consolidation-result.ts';
import type { NightRecord } from './night-record.ts';

/** What one document's night came to. */
export type DocumentReport = {
  readonly kind: 'skill' | 'memory';
  readonly name: string;
  readonly path: string;
  /** A proposal waits for a person. */
  readonly isStaged: boolean;
  readonly before: string;
  readonly after: string;
  readonly gain: { readonly value: number; readonly low: number; readonly high: number } | null;
  /** On tasks that no decision has seen, if there are any. */
  readonly test: { readonly before: number; readonly after: number; readonly tasks: number } | null;
};

/** The report of a night: what recurred, what is proposed, what it did, what it cost, and why nothing is proposed. */
export type SleepReport = {
  readonly night: number;
  readonly project: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly nSessions: number;
  readonly nTasks: number;
  readonly nReplayed: number;
  readonly notReplayable: number;
  readonly pooled: number;
  readonly recurring: NightRecord['recurring'];
  readonly baselineScore: number | null;
  readonly candidateScore: number | null;
  readonly accepted: boolean;
  readonly gateAction: ConsolidationResult['gateAction'] | 'failed';
  readonly holdoutLeaked: boolean;
  readonly noEditsReason: string;
  /** What it would take to prove something, in words; empty when something was proven. */
  readonly needs: string;
  readonly edits: readonly EditRecord[];
  readonly rejectedEdits: readonly EditRecord[];
  readonly unmatchedEdits: readonly EditRecord[];
  /** Edits that were refused because of what they say or hide. */
  readonly quarantined: readonly { readonly content: string; readonly reason: string }[];
  readonly documents: readonly DocumentReport[];
  readonly gateTrials: readonly GateTrial[];
  /** What was asked, of each held-out task by its id. */
  readonly intents: Readonly<Record<string, string>>;
  readonly calls: number;
  readonly tokensUsed: number;
  readonly usage: Readonly<Record<string, StageUsage>>;
  readonly notes: readonly string[];
};

type Reported = Pick<SleepReport, 'documents' | 'quarantined' | 'endedAt'>;

export function toReport(record: NightRecord, result: ConsolidationResult, reported: Reported): SleepReport {
  const { night, project, startedAt, nSessions, tasks, notReplayable, pooled, recurring } = record;
  const { accepted, gateAction, baselineScore, candidateScore, holdoutLeaked } = result;
  const usage = usageOf(result);
  return {
    ...{ night, project, startedAt, nSessions, notReplayable, pooled, recurring },
    ...{ accepted, gateAction, baselineScore, candidateScore, holdoutLeaked },
    nTasks: tasks.length - pooled,
    nReplayed: tasks.length,
    noEditsReason: accepted ? '' : whyNothing(result),
    needs: accepted ? '' : whatItTakes(record, result),
    edits: result.appliedEdits,
    rejectedEdits: result.rejectedEdits,
    unmatchedEdits: result.unmatchedEdits,
    gateTrials: result.gateTrials,
    intents: Object.fromEntries(tasks.filter(({ split }) => split === 'val').map(({ id, intent }) => [id, intent])),
    calls: Object.values(usage).reduce((sum, { replies, cacheHits }) => sum + replies - cacheHits, 0),
    tokensUsed: Object.values(usage).reduce((sum, { input, output }) => sum + input + output, 0),
    usage,
    notes: [...record.notes, ...result.notes, ...warningsOf(result)],
    ...reported,
  };
}

function usageOf({ documents }: ConsolidationResult): Readonly<Record<string, StageUsage>> {
  const rows = documents.flatMap(({ trained, summary, proof }) => [
    ...Object.entries(summary.tokenSummary).map(([stage, usage]) => [`${trained} ${stage}`, usage] as const),
    ...Object.entries(proof?.usage ?? {}).map(([stage, usage]) => [`${trained} proof ${stage}`, usage] as const),
  ]);
  return Object.fromEntries(rows);
}

const warningsOf = ({ documents }: ConsolidationResult) => [
  ...new Set(documents.flatMap(({ summary }) => summary.warnings)),
];

/** In the order in which a night can come to nothing. */
function whyNothing({
  gateAction,
  documents,
  rejectedEdits,
  unmatchedEdits,
  reflectRaw,
  notes,
}: ConsolidationResult): string {
  if (gateAction === 'reject_unverified' || documents.length === 0)
    return notes[0] ?? 'There was nothing to learn from.';
  if (documents.every(({ state }) => state.baseline !== undefined && state.baseline.score >= 1)) {
    return 'Every held-out task is done well already: there is nothing left to gain.';
  }
  const proof = documents.find((document) => document.proof)?.proof;
  if (proof) {
    const points = (100 * proof.gain.value).toFixed(1);
    return `A change measured ${points} points over the tasks that were held out, which could be chance (${(100 * proof.pValue).toFixed(1)} %).`;
  }
  if (rejectedEdits.length > 0) return 'What was proposed did not do better on the tasks that were held out.';
  if (unmatchedEdits.length > 0) return 'What was proposed changed nothing in the document.';
  if (reflectRaw !== '') return 'The optimizer gave no answer that could be read.';
  return 'Nothing was proposed.';
}

/** Such as: 3 sessions, 1 recurring; about 8 more. */
function whatItTakes({ nSessions, recurring, tasks }: NightRecord, { documents }: ConsolidationResult): string {
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
