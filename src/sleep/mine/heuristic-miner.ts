import type { SessionDigest } from '../../transcripts/index.ts';
import type { TaskRecord } from '../task-record.ts';
import { onlySkill } from './skill-hint.ts';
import { heuristicTaskId, isTooShort, short } from './task-text.ts';

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
