import { totalCost, type UsageTable } from '../../core/run/index.ts';
import { head, plural } from '../../core/text/index.ts';
import type { SleepReport, WithTools } from '../../report/index.ts';
import { documentOf, runNameOf } from '../documents/skills.ts';
import type { QuarantinedText } from '../replay/sleep-env.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import { marksOf, type Proposal } from '../staging/proposal.ts';
import type { NightRecord } from '../state/nights.ts';
import { isReplayable } from '../task-record.ts';
import { type ConsolidationResult, isUnread, sortEdits, unreadReply } from './consolidation-result.ts';
import type { NightInput } from './cycle-input.ts';
import { gainOf, type Proof } from './prove.ts';
import { labelOf } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

type NightToReport = {
  readonly record: NightRecord;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly quarantined: readonly QuarantinedText[];
};

export function reportNight({ record, result, proposals, quarantined }: NightToReport, input: NightInput): SleepReport {
  const { night, project, startedAt, nSessions, tasks, notReplayable, pooled, recurring } = record;
  const { accepted, gateAction, baselineScore, candidateScore, holdoutLeaked } = result;
  const { rejectedEdits, unmatchedEdits, gateTrials } = result;
  const usage = Object.assign({}, ...result.documents.map(usageOf)) as UsageTable;
  // The ledger also has what mining took, and what was paid for before the night was cut off.
  const { calls, tokens, costUsd, isPriced, mayHaveBeen } = totalCost(input.budget?.ledger?.spent().usage ?? usage);
  const noEditsReason = accepted ? '' : whyNothing(record, result, input.models.optimizer.id);
  const warnings = new Set(result.documents.flatMap(({ summary }) => summary.warnings));
  const notes = [...record.notes, ...searchCut(record), ...result.notes, ...warnings];
  return {
    ...{ night, project, startedAt, nSessions, notReplayable, pooled, recurring },
    ...{ accepted, gateAction, baselineScore, candidateScore, holdoutLeaked },
    withTools: withToolsOf(record),
    nTasks: tasks.length - pooled,
    nReplayed: tasks.length,
    noEditsReason,
    needs: accepted ? '' : whatItTakes(record, result),
    ...{ edits: result.appliedEdits, rejectedEdits, unmatchedEdits, gateTrials },
    intents: Object.fromEntries(tasks.filter(({ split }) => split === 'val').map(({ id, intent }) => [id, intent])),
    ...{ calls, tokensUsed: tokens, costUsd, isPriced, ...(mayHaveBeen ? { mayHaveBeen } : {}), usage },
    notes: notes.filter((note) => note !== noEditsReason),
    documents: result.documents.map((trained) => documentReport(trained, record.night, proposals, input)),
    untrained: result.untrained.map(({ trained, named, tasks: own, note }) => {
      const { name, live } = documentOf(input.documents, trained, named)!;
      return { kind: trained, name, path: live.path, tasks: own.length, why: note };
    }),
    quarantined,
    endedAt: input.now().toISOString(),
  };
}

function documentReport(
  document: TrainedDocument,
  night: number,
  proposals: readonly Proposal[],
  { documents }: NightInput,
) {
  const { trained, named, baseBlock, block, isTaken, proof, state } = document;
  const { name, live } = documentOf(documents, trained, named)!;
  const staged = proposals.find(({ id }) => id === `${night}${runNameOf(trained, named)}`)?.document;
  const { baseline, best } = state.tests;
  const test = baseline && best && { before: baseline.hard, after: (isTaken ? best : baseline).hard, tasks: best.n };
  return {
    ...{ kind: trained, before: baseBlock, after: isTaken ? block : baseBlock },
    marked: isTaken ? marksOf({ baseBlock, block, concerns: document.concerns ?? [] }) : [],
    ...{ gain: gainOf(proof), test: test ?? null },
    ...{ verdict: verdictOf(document), ...costOf(usageOf(document)) },
    ...{ name: staged?.name ?? name, path: staged?.path ?? live.path, isStaged: staged !== undefined },
  };
}

function usageOf({ trained, named, summary, proof }: TrainedDocument): UsageTable {
  const label = labelOf({ trained, named });
  return Object.fromEntries([
    ...Object.entries(summary.tokenSummary).map(([stage, usage]) => [`${label} ${stage}`, usage] as const),
    ...Object.entries(proof?.usage ?? {}).map(([stage, usage]) => [`${label} proof ${stage}`, usage] as const),
  ]);
}

function costOf(usage: UsageTable) {
  const { calls, tokens: tokensUsed, costUsd } = totalCost(usage);
  return { calls, tokensUsed, costUsd };
}

/** In the order in which a night can come to nothing. */
function whyNothing(record: NightRecord, result: ConsolidationResult, miner: string): string {
  const { gateAction, documents, reflectRaw, notes } = result;
  if (isUnmined(record)) return unminedWords(record, miner);
  if (gateAction === 'reject_unverified' || documents.length === 0)
    return [notes[0] ?? 'There was nothing to learn from.', ...searchCut(record)].join(' ');
  if (documents.every(isDoneWell)) return DONE_WELL;
  if (isUnread({ documents }))
    return 'The optimizer gave no answer that could be read. The next night considers these sessions again.';
  const proof = documents.find((document) => document.proof)?.proof;
  const ended = endedBy(documents.find(({ cut }) => cut !== undefined));
  return whyUnproven(proof, ended) ?? whyNoEdits(documents.map(sortEdits), reflectRaw);
}

/** No task was found, and replies about sessions could not be read: that nothing was asked often would be a guess. */
const isUnmined = ({ tasks, unreadSessions }: NightRecord) => tasks.length === 0 && unreadSessions > 0;

function unminedWords({ unreadSessions }: NightRecord, miner: string): string {
  const replies = plural(2 * unreadSessions, 'reply', 'replies'); // each is asked for twice
  return `${replies} of ${miner} about ${plural(unreadSessions, 'session')} could not be read, so no task was found. The next night considers these sessions again.`;
}

const searchCut = ({ cut }: NightRecord) => (cut === '' ? [] : [`A limit ended the search for tasks early: ${cut}.`]);

function verdictOf(document: TrainedDocument): string {
  const { isTaken, proof, state } = document;
  if (isTaken) return proof ? 'Proven better.' : 'Taken without a gate.';
  if (isDoneWell(document)) return DONE_WELL;
  return whyUnproven(proof, endedBy(document)) ?? whyNoEdits([sortEdits(document)], unreadReply(state));
}

const DONE_WELL = 'Every held-out task is done well already: there is nothing left to gain.';
const isDoneWell = ({ state }: TrainedDocument) => state.baseline !== undefined && state.baseline.score >= 1;

const endedBy = (document: TrainedDocument | undefined) =>
  document?.cut && `A limit ended the work at the ${labelOf(document)} before anything was proven: ${document.cut}.`;

function whyUnproven(proof: Proof | undefined, ended: string | undefined): string | undefined {
  if (!proof) return ended;
  if (proof.isUnconfirmed)
    return 'A change did better in the attempts that tried it. The attempts that measure the gain did not confirm it.';
  const gain = `${(100 * proof.gain.value).toFixed(1)} points`;
  const chance = `${(100 * proof.pValue).toFixed(1)} %`;
  const measured = `A change measured ${gain} over the tasks that were held out, which could be chance (${chance}).`;
  return ended ? `${measured} ${ended}` : measured;
}

function whyNoEdits(sorted: readonly ReturnType<typeof sortEdits>[], reflectRaw: string): string {
  if (sorted.some(({ rejectedEdits }) => rejectedEdits.length > 0))
    return 'What was proposed did not do better on the tasks that were held out.';
  if (sorted.some(({ unmatchedEdits }) => unmatchedEdits.length > 0))
    return 'What was proposed changed nothing in the document.';
  return reflectRaw === '' ? 'Nothing was proposed.' : 'The optimizer gave no answer that could be read.';
}

/** Such as: 2 of 6 held-out tasks, from 3 sessions; about 6 sessions more. */
function whatItTakes(record: NightRecord, { documents }: ConsolidationResult) {
  const { nSessions, tasks, skills, cut } = record;
  if (isUnmined(record)) return 'Name another optimizer, or let rules find the tasks: llmMine: false.';
  if (documents.some((document) => document.cut) || (cut !== '' && documents.length === 0))
    return 'Raise that limit for the next night.';
  if (skills.length > 0 && documents.length === 0) return ''; // the report says it for each skill
  const held = tasks.filter(({ split }) => split === 'val').length;
  const perSession = nSessions === 0 ? 0 : held / nSessions;
  const from = `from ${plural(nSessions, 'session')}`;
  if (held < LEAST_HELD_OUT) {
    const more = Math.ceil((LEAST_HELD_OUT - held) / Math.max(0.2, perSession));
    const have = `${held} of ${LEAST_HELD_OUT} held-out tasks, ${from}`;
    return `${have}; about ${plural(more, 'session')} more until something can be proven.`;
  }
  const isClose = documents.some(({ proof }) => proof !== undefined && proof.pValue < 0.2);
  const have = `${plural(held, 'held-out task')} ${from}`;
  return isClose ? `${have}; the same again on another night would be measured with more tasks.` : '';
}

function withToolsOf({ tasks, work }: NightRecord): WithTools | null {
  if (work === undefined) return null;
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  return { tasks: tasks.length, needFiles, agent: work.agent, sandbox: work.sandbox };
}

const RAW_LENGTH = 1_200;

/** Enough to distinguish a night without a failure from one whose models answered nothing: both score 0. */
export function diagnosticsOf(record: NightRecord, result: ConsolidationResult | undefined, error?: unknown) {
  const { night, modelKey, tasks } = record;
  const of = (split: string) => tasks.filter((task) => task.split === split).length;
  return {
    ...{ night, modelKey, nTrain: of('train'), nVal: of('val'), nTest: of('test') },
    callError: error === undefined ? '' : (error as Error).message,
    ...(result && diagnosticsOfResult(result)),
  };
}

function diagnosticsOfResult(result: ConsolidationResult) {
  const { accepted, gateAction, holdoutLeaked, baselineScore, candidateScore } = result;
  return {
    ...{ accepted, gateAction, holdoutLeaked, baselineScore, candidateScore },
    nAppliedEdits: result.appliedEdits.length,
    nRejectedEdits: result.rejectedEdits.length,
    nUnmatchedEdits: result.unmatchedEdits.length,
    reflectRawHead: head(result.reflectRaw, RAW_LENGTH),
    ...{ holdoutDetail: result.holdoutDetail, gateTrials: result.gateTrials },
    optimizerReplies: result.documents.map(({ trained, named, summary }) => ({
      ...{ trained, named, ...summary.optimizerReplies },
    })),
    warnings: result.documents.flatMap(({ summary }) => summary.warnings),
  };
}
