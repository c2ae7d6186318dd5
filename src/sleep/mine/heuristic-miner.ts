import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { head, strip } from '../../core/text/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import type { TaskRecord } from '../task-record.ts';

/** Lengths in code points. */
const [INTENT, FOLLOW_UP, FOLLOW_UPS, SOLUTION] = [800, 200, 600, 600];

/**
 * A session's first request as a task, without any model. What the person said afterwards answers an answer: it tells a judge
 * what was wanted, and would tell an agent that attempts the task what to say. `undefined`: the request is too short to say something.
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

type Common = Omit<
  TaskRecord,
  'id' | 'intent' | 'contextExcerpt' | 'outcome' | 'referenceKind' | 'reference' | 'judge'
>;

/** What a task has of its session, whoever mined it. */
export function commonFields(digest: SessionDigest): Common {
  return {
    project: digest.project,
    system: '',
    attemptedSolution: short(digest.assistantFinals.at(-1) ?? '', SOLUTION),
    tags: tagsOf(digest),
    sourceSessions: [digest.sessionId],
    split: 'train',
    origin: 'real',
    derivedFrom: '',
    skillHint: onlySkill(digest.skillsUsed),
  };
}

function tagsOf({ toolsUsed, gitBranch }: SessionDigest): string[] {
  const tools = toolsUsed.slice(0, 4).join('+');
  return [...(tools === '' ? [] : [`tools:${tools}`]), ...(gitBranch === '' ? [] : [`branch:${gitBranch}`])];
}

/** What the person thought of it in the end: the last word counts. Without one, many turns are a sign of trouble. */
export function outcomeOf(digest: SessionDigest): TaskRecord['outcome'] {
  const last = digest.feedbackSignals.filter((signal) => isFeedback(signal, digest)).at(-1);
  if (last !== undefined) return last.startsWith('pos:') ? 'success' : 'fail';
  return digest.nUserTurns >= 3 ? 'mixed' : 'unknown';
}

/** The first request asks for something; it cannot say how that went. */
function isFeedback(signal: string, { userPrompts: [first = '', ...later] }: SessionDigest): boolean {
  const phrase = /^(?:pos|neg):(.+)$/s.exec(signal)?.[1]?.toLowerCase();
  if (phrase === undefined) return false;
  return !first.toLowerCase().includes(phrase) || later.some((prompt) => prompt.toLowerCase().includes(phrase));
}

/** All that a miner model sees of a session: requests, the last answer, feedback. No name, no path, no tool, nothing quoted. */
export type SessionExcerpt = {
  readonly requests: readonly string[];
  readonly answer: string;
  readonly feedback: readonly string[];
};

/** The one place that decides it: the plan that a person reads, and the prompt, are both made from this. */
export function excerptOf({ userPrompts, assistantFinals, feedbackSignals }: SessionDigest): SessionExcerpt {
  return {
    requests: userPrompts.slice(0, 6).map((text) => short(withoutQuotes(text), 240)),
    answer: short(withoutQuotes(assistantFinals.at(-1) ?? ''), 400),
    feedback: feedbackSignals.slice(0, 6).map((signal) => short(signal, 80)),
  };
}

/** Below this an intent says nothing. In code points, as all lengths here. */
const SHORTEST_INTENT = 8;

/** The beginning of a text, with a mark where something is missing. */
export function short(text: string, length: number): string {
  const stripped = strip(text);
  const start = head(stripped, length);
  return start.length === stripped.length ? stripped : `${start} …`;
}

export const isTooShort = (text: string) => [...head(strip(text), SHORTEST_INTENT)].length < SHORTEST_INTENT;

/** The same request in the same project is the same task on every night. */
export const heuristicTaskId = (project: string, intent: string) => `task_${digest(`${project}::${intent}`)}`;
export const minedTaskId = (project: string, intent: string) => `llm_${digest(`${project}${intent}`)}`;

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 12);

/** A fence of code to its end, or to the end of the text when it is not closed. */
const CODE_FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*(?:\n[ \t]*\1[`~]*|$)/gm;
const QUOTED_LINES = /^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*/gm;

/** Without code blocks and quotations: what is pasted is somebody else's words, and may not become a rule. */
export function withoutQuotes(text: string): string {
  return text.replace(CODE_FENCE, LEFT_OUT).replace(QUOTED_LINES, LEFT_OUT);
}

const LEFT_OUT = '(quoted text left out)';

/** Which skill a session used: data from a transcript. Looked up among skills that are there, never made into a path. */
type SkillHint = { readonly plugin?: string; readonly skill: string };

/** Letters, digits and a few marks; nothing that separates folders, hides, or climbs. */
const NAME = /^(?!.*\.\.)[\p{L}\p{N}_][\p{L}\p{M}\p{N}_. -]{0,63}$/u;

/** `deploy`, or `plugin:deploy`. `undefined` for what is no such name. */
export function readSkillHint(text: string): SkillHint | undefined {
  const parts = strip(text).split(':');
  if (parts.length > 2 || !parts.every(isName)) return undefined;
  const [first, second] = parts as [string, string?];
  return second === undefined ? { skill: first } : { plugin: first, skill: second };
}

const isName = (part: string) => NAME.test(part) && !/[. ]$/.test(part);

/** As it is written into a task. */
const writeSkillHint = ({ plugin, skill }: SkillHint) => (plugin === undefined ? skill : `${plugin}:${skill}`);

/** The skill that was used, when it was only one; else nothing is known. */
export function onlySkill(names: readonly string[]): string {
  const distinct = [...new Set(names.map(strip))].filter((name) => name !== '');
  const hint = distinct.length === 1 ? readSkillHint(distinct[0]!) : undefined;
  return hint === undefined ? '' : writeSkillHint(hint);
}
