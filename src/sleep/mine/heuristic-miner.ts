import { createHash } from 'node:crypto';
import { head, strip } from '../../core/text/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import type { TaskRecord } from '../task-record.ts';

const [INTENT, FOLLOW_UP, FOLLOW_UPS, SOLUTION] = [800, 200, 600, 600];

/**
 * A session's first request as a task, without any model. Later requests become the reference for a judge: an agent that
 * attempts the task must not read them. `undefined` if the request is too short.
 */
export function heuristicTask(digest: SessionDigest): TaskRecord | undefined {
  const [first = '', ...later] = digest.userPrompts;
  if (isTooShort(first)) return undefined;
  const intent = short(first, INTENT);
  const followUps = later.slice(0, 3).map((prompt) => `- ${short(prompt, FOLLOW_UP)}`);
  return {
    ...commonFields(digest),
    id: heuristicTaskId(digest.project, intent),
    intent,
    contextExcerpt: '',
    outcome: outcomeOf(digest),
    referenceKind: 'none',
    reference: short(followUps.join('\n'), FOLLOW_UPS),
    judge: {},
  };
}

export function commonFields({ project, sessionId, ...digest }: SessionDigest) {
  const tools = digest.toolsUsed.slice(0, 4).join('+');
  const branch = digest.gitBranch;
  return {
    ...{ project, system: '', sourceSessions: [sessionId], derivedFrom: '', skillHint: onlySkill(digest.skillsUsed) },
    ...{ split: 'train' as const, origin: 'real' as const },
    attemptedSolution: short(digest.assistantFinals.at(-1) ?? '', SOLUTION),
    tags: [...(tools === '' ? [] : [`tools:${tools}`]), ...(branch === '' ? [] : [`branch:${branch}`])],
  };
}

/** The person's last feedback counts. Without any, many turns are a sign of trouble. */
export function outcomeOf(digest: SessionDigest): TaskRecord['outcome'] {
  const last = digest.feedbackSignals.filter((signal) => isFeedback(signal, digest)).at(-1);
  if (last !== undefined) return last.startsWith('pos:') ? 'success' : 'fail';
  return digest.nUserTurns >= 3 ? 'mixed' : 'unknown';
}

/** The first request cannot say how its answer went. */
function isFeedback(signal: string, { userPrompts: [first = '', ...later] }: SessionDigest): boolean {
  const phrase = /^(?:pos|neg):(.+)$/s.exec(signal)?.[1]?.toLowerCase();
  if (phrase === undefined) return false;
  return !first.toLowerCase().includes(phrase) || later.some((prompt) => prompt.toLowerCase().includes(phrase));
}

/** All that a miner model reads of a session. It has no names, paths, tools or quotations. */
export type SessionExcerpt = {
  readonly requests: readonly string[];
  readonly answer: string;
  readonly feedback: readonly string[];
};

/** Both the plan that a person reads and the prompt of the miner are made from this. */
export function excerptOf({ userPrompts, assistantFinals, feedbackSignals }: SessionDigest): SessionExcerpt {
  return {
    requests: userPrompts.slice(0, 6).map((text) => short(withoutQuotes(text), 240)),
    answer: short(withoutQuotes(assistantFinals.at(-1) ?? ''), 400),
    feedback: feedbackSignals.slice(0, 6).map((signal) => short(signal, 80)),
  };
}

const SHORTEST_INTENT = 8;

export function short(text: string, length: number): string {
  const stripped = strip(text);
  const start = head(stripped, length);
  return start.length === stripped.length ? stripped : `${start} …`;
}

export const isTooShort = (text: string) => [...head(strip(text), SHORTEST_INTENT)].length < SHORTEST_INTENT;

/** The same request in the same project has the same id on every night. */
export const heuristicTaskId = (project: string, intent: string) => `task_${digest(`${project}::${intent}`)}`;
export const minedTaskId = (project: string, intent: string) => `llm_${digest(`${project}${intent}`)}`;

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** A code fence up to its end, or to the end of the text if it is not closed. */
const CODE_FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*(?:\n[ \t]*\1[`~]*|$)/gm;
const QUOTED_LINES = /^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*/gm;

const LEFT_OUT = '(quoted text left out)';

/** Without code blocks and quotations: pasted text is not the person's, and must not become a rule. */
export const withoutQuotes = (text: string) => text.replace(CODE_FENCE, LEFT_OUT).replace(QUOTED_LINES, LEFT_OUT);

/** The skill that a session used, as its transcript says. It is looked up among existing skills, never made into a path. */
type SkillHint = { readonly plugin?: string; readonly skill: string };

/** Letters, digits and a few marks; no folder separators, no leading dot, no `..`. */
const NAME = /^(?!.*\.\.)[\p{L}\p{N}_][\p{L}\p{M}\p{N}_. -]{0,63}$/u;

/** Reads `deploy` or `plugin:deploy`; `undefined` for anything else. */
export function readSkillHint(text: string): SkillHint | undefined {
  const parts = strip(text).split(':');
  if (parts.length > 2 || !parts.every(isName)) return undefined;
  const [first, second] = parts as [string, string?];
  return second === undefined ? { skill: first } : { plugin: first, skill: second };
}

const isName = (part: string) => NAME.test(part) && !/[. ]$/.test(part);

export function onlySkill(names: readonly string[]): string {
  const [name = '', ...others] = new Set(names.map(strip).filter((one) => one !== ''));
  return others.length === 0 && readSkillHint(name) ? name : '';
}
