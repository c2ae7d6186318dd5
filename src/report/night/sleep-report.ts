import type { EditRecord } from '../../core/document/index.ts';
import type { UsageTable } from '../../core/run/index.ts';

export type GateAction = 'accept_new_best' | 'reject' | 'reject_unverified' | 'greedy_applied' | 'greedy_noop';

/** What one validation task scores before and after. */
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
  /** The share of the error that it had to pass. */
  readonly error: number | null;
  readonly passes: number;
  readonly taskDeltas: readonly (TaskDelta & { readonly status: 'improved' | 'regressed' | 'unchanged' })[];
};

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
  /** What became of it, in words. */
  readonly verdict: string;
  readonly calls: number;
  readonly tokensUsed: number;
  readonly costUsd: number;
};

/** A document that had too few tasks, or ones that prove nothing. */
type UntrainedReport = Pick<DocumentReport, 'kind' | 'name' | 'path'> & {
  readonly tasks: number;
  /** With what it would take. */
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
  readonly calls: number;
  readonly tokensUsed: number;
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

/** More than a skill and the memory: then each says what became of it and what it cost. */
export const isOfSeveral = ({ documents, untrained }: SleepReport) =>
  untrained.length > 0 || documents.filter(({ kind }) => kind === 'skill').length > 1;

/** Such as: 12 tasks replayed with tools (sandbox: bubblewrap), 4 of which need files or tools. Empty, where none was. */
export function withToolsText(withTools: WithTools | null | undefined): string {
  if (!withTools) return '';
  const { tasks, needFiles, sandbox } = withTools;
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'} replayed with tools (sandbox: ${sandbox}), ${needFiles} of which ${needFiles === 1 ? 'needs' : 'need'} files or tools`;
}

/** How tasks that need files come to be attempted. */
const HOW_TO_REPLAY =
  'name an agent as the target, and it does them in a copy of this project: target: { agent: claude }';

/** Of tasks that are left out, and what to do about it. Empty, where there are none. */
export const notReplayableText = (tasks: number): string =>
  tasks === 0
    ? ''
    : `${tasks} ${tasks === 1 ? 'task needs' : 'tasks need'} files or tools: not replayable yet; ${HOW_TO_REPLAY}`;
