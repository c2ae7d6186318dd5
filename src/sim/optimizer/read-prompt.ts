import {
  BUDGET_LINES,
  type ChatMessage,
  DRAFT_REPLY_KEYS,
  FENCE_KINDS,
  HEADINGS,
  OUTCOMES,
  REPLY_KEYS,
} from '../../core/contracts/index.ts';
import type { UpdateMode } from '../../core/document/index.ts';
import { textOf } from '../simulated-model.ts';

/** What an optimizer is asked to do. */
export type Assignment =
  | 'read-failures'
  | 'read-successes'
  | 'merge'
  | 'rank'
  | 'decide-rate'
  | 'rewrite'
  | 'write-guidance'
  | 'write-notes'
  | 'shorten-reminders';

/** What it is asked to do about tasks, where it is about them. */
export type TaskAssignment = 'outline' | 'draft' | 'solve';

/** The parts of an optimizer prompt that a reader needs, taken out of their fences. */
export type OptimizerPrompt = {
  readonly assignment: Assignment;
  readonly taskAssignment: TaskAssignment | undefined;
  /** The words in which changes are to be given. */
  readonly mode: UpdateMode;
  /** Whether slips shall become reminders. */
  readonly wantsReminders: boolean;
  readonly skill: string;
  /** What stands around the skill, and what else an analyst should know. */
  readonly surroundings: string;
  /** The skill of the epoch before, in a comparison. */
  readonly previousSkill: string;
  /** The number in «at most N»: of changes to propose, or to keep. Infinite when nothing limits them. */
  readonly limit: number;
  readonly trajectories: readonly string[];
  readonly patches: readonly string[];
  /** Changes to choose from, to count, or to carry out. */
  readonly edits: string;
  /** What earlier steps of the epoch tried. */
  readonly steps: string;
  /** What earlier epochs have taught; or the reminders of an appendix. */
  readonly notes: string;
  readonly guidance: string;
  readonly comparison: string;
  /** What drafted tasks are to test; nothing where they are to lie beside the skill's field. */
  readonly topic: string | undefined;
  /** Tasks that a draft must not repeat. */
  readonly questions: string;
  /** The task itself, where it is to be solved. */
  readonly question: string;
};

const BLOCK = new RegExp(String.raw`<(${FENCE_KINDS.join('|')})-([0-9a-f]{8})>\n?([\s\S]*?)\n?</\1-\2>`, 'g');
/** As the target is asked. */
const ANSWER_TAGS = '<answer></answer>';
const QUESTION = /(?:^|\n)Question: ([\s\S]+)$/;
const DEFAULT_LIMIT = 4;

/** Reads a prompt by its text alone, since nothing else crosses HTTP. Total: missing parts are empty. */
export function readPrompt(messages: readonly ChatMessage[]): OptimizerPrompt {
  const system = textOf(messages, 'system');
  const user = textOf(messages, 'user');
  const blocks = [...user.matchAll(BLOCK)].map(([, kind, , body = '']) => ({ kind, body }));
  const bodies = (...wanted: (typeof FENCE_KINDS)[number][]) =>
    blocks.flatMap(({ kind, body }) => (wanted.some((name) => name === kind) ? [body] : []));
  const headings = user.replace(BLOCK, '');
  const question = system.includes(ANSWER_TAGS) ? (user.match(QUESTION)?.[1] ?? '') : '';
  return {
    assignment: tellAssignment(system, headings),
    taskAssignment: question === '' ? tellTaskAssignment(system) : 'solve',
    mode: tellMode(system, headings),
    wantsReminders: system.includes(REPLY_KEYS.reminders),
    skill: question === '' ? (bodies('skill')[0] ?? '') : system,
    surroundings: bodies('surroundings').join('\n'),
    previousSkill: bodies('skill')[1] ?? '',
    limit: tellLimit(headings),
    trajectories: bodies('trajectory'),
    patches: bodies('patches'),
    edits: bodies('edits', 'suggestions', 'items').join('\n'),
    steps: bodies('steps').join('\n\n'),
    notes: bodies('notes')[0] ?? '',
    guidance: bodies('guidance')[0] ?? '',
    comparison: bodies('comparison')[0] ?? '',
    topic: bodies('topic')[0],
    questions: bodies('questions')[0] ?? '',
    question,
  };
}

/** The key of the reply that the system text asks for, and the work that it stands for. The first that is found holds. */
const BY_REPLY: readonly (readonly [string, Assignment])[] = [
  [REPLY_KEYS.ranking, 'rank'],
  [REPLY_KEYS.merge, 'merge'],
  [REPLY_KEYS.failures, 'read-failures'],
  [REPLY_KEYS.successes, 'read-successes'],
  [REPLY_KEYS.guidance, 'write-guidance'],
  [REPLY_KEYS.metaSkill, 'write-notes'],
  [REPLY_KEYS.learningRate, 'decide-rate'],
  [REPLY_KEYS.rewrite, 'rewrite'],
  [REPLY_KEYS.notes, 'shorten-reminders'],
];

/** A prompt in words of a user's own is recognised by its headings. */
const BY_HEADING: readonly (readonly [RegExp, Assignment])[] = [
  [headed([HEADINGS.edits, HEADINGS.suggestions], String.raw` \(\d+, keep`), 'rank'],
  [headed([HEADINGS.patches, HEADINGS.failurePatch, HEADINGS.successPatch]), 'merge'],
  [headed([HEADINGS.proposedChanges]), 'decide-rate'],
  [headed([HEADINGS.suggestions]), 'rewrite'],
  [headed([HEADINGS.guidance]), 'write-guidance'],
  [headed([HEADINGS.comparison]), 'write-notes'],
  [headed([HEADINGS.notes]), 'shorten-reminders'],
  [headed([HEADINGS.trajectories], String.raw` \(\d+ ${OUTCOMES.success}\)`), 'read-successes'],
];

/** Finds one of the headings, followed by what a pattern says. */
function headed(headings: readonly string[], followedBy = ''): RegExp {
  return new RegExp(`^## (?:${headings.join('|')})${followedBy}`, 'm');
}

function tellAssignment(system: string, headings: string): Assignment {
  const asked =
    BY_REPLY.find(([key]) => system.includes(key)) ?? BY_HEADING.find(([heading]) => heading.test(headings));
  return asked?.[1] ?? 'read-failures';
}

function tellTaskAssignment(system: string): TaskAssignment | undefined {
  if (system.includes(DRAFT_REPLY_KEYS.outline)) return 'outline';
  return system.includes(DRAFT_REPLY_KEYS.drafts) ? 'draft' : undefined;
}

function tellMode(system: string, headings: string): UpdateMode {
  const isWhole = system.includes(REPLY_KEYS.candidates) || hasLine(headings, BUDGET_LINES.wholeReplacement);
  if (isWhole) return 'full_rewrite_minibatch';
  const isSuggested = /^At most \d+ suggestions?\./m.test(headings) || headed([HEADINGS.suggestions]).test(headings);
  return system.includes(REPLY_KEYS.suggestions) || isSuggested ? 'rewrite_from_suggestions' : 'patch';
}

function tellLimit(headings: string): number {
  const unlimited = [BUDGET_LINES.unlimited, BUDGET_LINES.wholeReplacement];
  if (unlimited.some((line) => hasLine(headings, line))) return Number.POSITIVE_INFINITY;
  return Number(headings.match(/\bat most (\d{1,6})\b/i)?.[1] ?? DEFAULT_LIMIT);
}

/** Whether a line begins so. */
const hasLine = (text: string, start: string) => `\n${text}`.includes(`\n${start}`);
