import { type GateMetric, type ItemScore, SkillError } from '../../core/contracts/index.ts';
import type { Evidence, Knowledge, WaveJudgement } from '../../core/stats/index.ts';
import { isObject } from '../../core/text/index.ts';

/** One attempt at a task. `score` is by the metric of the gate; `null` where the attempt met an outage. */
export type GateAttempt = ItemScore & { readonly score: number | null };

/** What was seen of a candidate and of the current skill. */
export type RuleEvidence = {
  /** The candidate's attempts in the order in which they were made. A task may have several. */
  readonly attempts: readonly GateAttempt[];
  /** The same by task. */
  readonly candidate: Evidence;
  /** What is known of the current skill. `own` has all attempts of its text, also those that were made for this candidate. */
  readonly current: Knowledge;
  /** The same as it was before this candidate came. */
  readonly before: Knowledge;
  /** The tasks that were attempted in each round so far. */
  readonly rounds: readonly GateRound[];
};

/** Ids of the tasks that the candidate and the current skill attempt, once each. Both sides do so at the same time. */
export type GateRound = { readonly candidate: readonly string[]; readonly current: readonly string[] };

/** What a rule may want to know besides the evidence. */
export type RuleContext = {
  /** Ids of the validation tasks, in their order. */
  readonly ids: readonly string[];
  /** The same ids: those that tell most come first. */
  readonly order: readonly string[];
  /** Attempts that may still be made: at most twenty a task, and what `maxRollouts` leaves. */
  readonly rolloutsLeft: number;
  readonly currentScore: number;
  readonly bestScore: number;
  readonly metric: GateMetric;
  readonly mixedWeight: number;
  /** Training tasks that the next candidate will be made of: what a rollout could be spent on instead. */
  readonly batchSize: number;
  /** The rule asked for more than is left: what was seen must decide. */
  readonly isLast: boolean;
  /** The current skill may owe its place to luck: many candidates in a row have lost. */
  readonly isDoubted: boolean;
  /** The candidate only leaves something out. */
  readonly isShorter: boolean;
  /** The setting: what a winner of a small set must be ahead by, in tasks. */
  readonly leastLead?: number;
};

type Final = { readonly verdict: 'accept' | 'reject' | 'inconclusive'; readonly reason: string };

/** What a rule says. The journal keeps each reason. */
export type GateRuling =
  | (Final & {
      /** What would decide. */
      readonly needs?: WaveJudgement['needs'];
    })
  | (Partial<GateRound> & {
      readonly verdict: 'continue';
      readonly reason: string;
      /** The round is worth its price only if this many attempts are left. */
      readonly onlyIfLeft?: number;
    });

/**
 * Decides about a candidate, or asks for more attempts. It is asked before the first attempt and after each round. It must
 * be a function of its arguments alone: a resumed run asks again.
 */
export type AcceptanceRule = {
  (evidence: RuleEvidence, context: RuleContext): GateRuling;
  /** Names the rule in place of its text. A run resumes with the same one alone: raise it where the rule decides in another way. */
  readonly version?: string;
};

/** Asks a rule, which may be a stranger's: what it answers is checked. */
export function askRule(rule: AcceptanceRule, evidence: RuleEvidence, context: RuleContext): GateRuling {
  const ruling = checkRuling(answerOf(rule, evidence, context), context);
  if (ruling.verdict !== 'accept' || evidence.attempts.length > 0 || context.ids.length === 0) return ruling;
  throw badRule(
    'it accepted a candidate that has made no attempt',
    'Return verdict "continue" with tasks for it first.',
  );
}

function answerOf(rule: AcceptanceRule, evidence: RuleEvidence, context: RuleContext): unknown {
  try {
    return rule(evidence, context);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw badRule(
      `it threw: ${why}`,
      'Fix the rule. A run goes on with the same `version` of a rule, or with the same text: with neither, begin a run in a new folder.',
      cause,
    );
  }
}

const VERDICTS: readonly unknown[] = ['accept', 'reject', 'inconclusive', 'continue'] satisfies GateRuling['verdict'][];

function checkRuling(answer: unknown, context: RuleContext): GateRuling {
  if (answer instanceof Promise)
    throw badRule(
      'expected a ruling, got a promise',
      'A rule answers at once: it decides, the run makes the attempts.',
    );
  if (!isObject(answer)) throw badRule(`expected a ruling, got ${show(answer)}`, RULING_HINT);
  const { verdict, reason } = answer;
  if (!VERDICTS.includes(verdict)) {
    throw badRule(`"verdict" must be one of ${VERDICTS.join(', ')}, got ${show(verdict)}`, RULING_HINT);
  }
  if (typeof reason !== 'string' || reason.trim() === '') {
    throw badRule(`"reason" must be a text, got ${show(reason)}`, 'Say why: the journal and the reports show it.');
  }
  if (verdict === 'continue') checkRound(answer, context);
  return answer as GateRuling;
}

function checkRound(answer: Readonly<Record<string, unknown>>, { ids }: RuleContext): void {
  const known = new Set<unknown>(ids);
  const sides = (['candidate', 'current'] as const).map((side) => {
    const { [side]: asked = [] } = answer;
    if (!Array.isArray(asked)) throw badRule(`"${side}" must be a list of task ids, got ${show(asked)}`, ROUND_HINT);
    for (const [place, id] of asked.entries()) {
      if (!known.has(id)) throw badRule(`"${side}" names ${show(id)}, which is no validation task`, ROUND_HINT);
      if (asked.indexOf(id) === place) continue;
      throw badRule(`"${side}" names ${show(id)} twice`, 'Ask for one attempt of a task in a round.');
    }
    return asked.length;
  });
  const { onlyIfLeft } = answer;
  if (onlyIfLeft !== undefined && (typeof onlyIfLeft !== 'number' || Number.isNaN(onlyIfLeft))) {
    throw badRule(
      `"onlyIfLeft" must be a number, got ${show(onlyIfLeft)}`,
      'Say how many attempts must be left, or leave it out.',
    );
  }
  if (sides.every((count) => count === 0)) throw badRule('it said "continue" and named no task', ROUND_HINT);
}

const RULING_HINT =
  'Return { verdict, reason }; with "continue" also the ids of tasks to attempt, as candidate, as current, or as both.';
const ROUND_HINT = 'Name ids of `context.ids` as candidate, as current, or as both; or decide.';

function show(value: unknown): string {
  const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

const badRule = (what: string, hint: string, cause?: unknown) =>
  new SkillError('CONFIG_INVALID', `gate: the acceptance rule cannot be used: ${what}`, { hint, cause });
