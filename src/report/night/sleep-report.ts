import type { EditRecord } from '../../core/document/index.ts';
import type { MarkedLine } from '../../core/guard/index.ts';
import { type Cost, callWords, costWords, type UsageTable } from '../../core/run/index.ts';
import { count, shellWord } from '../../core/text/index.ts';

export type GateAction = 'accept_new_best' | 'reject' | 'reject_unverified' | 'greedy_applied' | 'greedy_noop';

export type TaskDelta = { readonly id: string; readonly before: number; readonly after: number };

/** What a document's candidate did on the tasks that were held out. */
export type GateTrial = {
  readonly target: 'skill' | 'memory';
  /** The name of an existing skill; empty for the skill of our own, a target and the memory. */
  readonly named: string;
  readonly baselineScore: number | null;
  readonly candidateScore: number | null;
  readonly accepted: boolean;
  readonly blockedByRegression: boolean;
  readonly pValue: number | null;
  /** The error that its p-value had to stay below. */
  readonly error: number | null;
  readonly passes: number;
  readonly taskDeltas: readonly (TaskDelta & { readonly status: 'improved' | 'regressed' | 'unchanged' })[];
};

/** What a night came to for one document. */
export type DocumentReport = {
  readonly kind: 'skill' | 'memory';
  readonly name: string;
  readonly path: string;
  /** Whether a proposal waits for a person. */
  readonly isStaged: boolean;
  readonly before: string;
  readonly after: string;
  /** Lines of the change that a person should see before they are adopted. Not in reports of earlier versions. */
  readonly marked?: readonly MarkedLine[];
  readonly gain: { readonly value: number; readonly low: number; readonly high: number } | null;
  /** On tasks that no decision has used, if there are any. */
  readonly test: { readonly before: number; readonly after: number; readonly tasks: number } | null;
  readonly verdict: string;
  readonly calls: number;
  readonly tokensUsed: number;
  readonly costUsd: number;
};

/** A document that had too few tasks, or ones that prove nothing. */
type UntrainedReport = Pick<DocumentReport, 'kind' | 'name' | 'path'> & {
  readonly tasks: number;
  /** Also says what it would take. */
  readonly why: string;
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
  /** What an agent with tools attempted, and where; `null` without one. */
  readonly withTools: WithTools | null;
  readonly pooled: number;
  readonly recurring: readonly { readonly intent: string; readonly sessions: number; readonly days: number }[];
  readonly baselineScore: number | null;
  readonly candidateScore: number | null;
  readonly accepted: boolean;
  readonly gateAction: GateAction | 'failed';
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
  readonly untrained: readonly UntrainedReport[];
  readonly gateTrials: readonly GateTrial[];
  /** What was asked, of each held-out task by its id. */
  readonly intents: Readonly<Record<string, string>>;
  /** Of calls that were answered. */
  readonly calls: number;
  readonly tokensUsed: number;
  /** Of the calls whose price is known, and whether that is all of them. Not in reports of earlier versions. */
  readonly costUsd?: number;
  readonly isPriced?: boolean;
  /** Calls in flight when the night was killed, at most: the provider may have answered them. */
  readonly mayHaveBeen?: Cost['mayHaveBeen'];
  readonly usage: UsageTable;
  readonly notes: readonly string[];
};

/** Tasks that an agent attempted with tools, and how many of them could not have been attempted otherwise. */
export type WithTools = {
  readonly tasks: number;
  readonly needFiles: number;
  readonly agent: string;
  readonly sandbox: string;
};

/** Whether there is more than a skill and the memory: each document then shows its verdict and its cost. */
export const isOfSeveral = ({ documents, untrained }: SleepReport) =>
  untrained.length > 0 || documents.filter(({ kind }) => kind === 'skill').length > 1;

export const signed = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

/** `+12.5 points on held-out tasks (+3.0 to +22.1)`; undefined if nothing was measured. */
export const gainText = (gain: DocumentReport['gain']) =>
  gain ? `${signed(gain.value)} points on held-out tasks (${signed(gain.low)} to ${signed(gain.high)})` : undefined;

/** About tasks that need files or tools. */
export const leftOutLines = ({ withTools, notReplayable }: SleepReport) =>
  [withToolsText(withTools), notReplayableText(notReplayable)].filter((line) => line !== '');

/** `12 tasks replayed with tools (sandbox: bubblewrap), 4 of which need files or tools`; empty if there is none. */
export function withToolsText(withTools: WithTools | null | undefined): string {
  if (!withTools) return '';
  const { tasks, needFiles, sandbox } = withTools;
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'} replayed with tools (sandbox: ${sandbox}), ${needFiles} of which ${needFiles === 1 ? 'needs' : 'need'} files or tools`;
}

/** About tasks that are left out, and what to do about it; empty if there is none. */
export function notReplayableText(tasks: number): string {
  if (tasks === 0) return '';
  const how = 'name an agent as the target, and it does them in a copy of this project: target: { agent: claude }';
  return `${tasks} ${tasks === 1 ? 'task needs' : 'tasks need'} files or tools: not replayable yet; ${how}`;
}

/** `185 calls, 12,400 tokens, $0.0088`, as a training says it; without dollars in reports of earlier versions. */
export function spentWords({ tokensUsed, costUsd, isPriced = false, ...cost }: NightCost): string {
  const dollars = costUsd === undefined ? '' : `, ${costWords({ costUsd, isPriced })}`;
  return `${callWords(cost)}, ${count(tokensUsed)} tokens${dollars}`;
}

type NightCost = Pick<SleepReport, 'calls' | 'tokensUsed' | 'costUsd' | 'isPriced' | 'mayHaveBeen'>;

export type ProposalCommand = 'adopt' | 'review' | 'rollback';

type ProposalName = {
  readonly night: number;
  readonly document: { readonly kind: 'skill' | 'memory'; readonly name: string };
};

/** The command for this proposal and no other. */
export function commandOf({ night, document: { kind, name } }: ProposalName, command: ProposalCommand): string {
  return `${nightCommandOf(night, command)} ${kind === 'memory' ? '--memory' : `--skill ${shellWord(name)}`}`;
}

/** The command for all proposals of a night. It always names the night: another proposal may come before it is typed. */
export function nightCommandOf(night: number, command: ProposalCommand): string {
  return `skillopt sleep ${command} --night ${night}`;
}
