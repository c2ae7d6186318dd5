import type { ChatMessage } from '../../core/model.ts';
import type { UpdateMode } from '../../core/skill/update-mode.ts';
import { textOf } from '../text-of.ts';

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

/** The parts of an optimizer prompt that a reader needs, taken out of their fences. */
export type OptimizerPrompt = {
  readonly assignment: Assignment;
  /** The words in which changes are to be given. */
  readonly mode: UpdateMode;
  /** Whether slips shall become reminders. */
  readonly wantsReminders: boolean;
  readonly skill: string;
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
};

const KINDS = 'skill|trajectory|patches|edits|suggestions|items|steps|notes|guidance|comparison';
const BLOCK = new RegExp(String.raw`<(${KINDS})-([0-9a-f]{8})>\n?([\s\S]*?)\n?</\1-\2>`, 'g');
const DEFAULT_LIMIT = 4;

/** Reads a prompt by its text alone, since nothing else crosses HTTP. Total: missing parts are empty. */
export function readPrompt(messages: readonly ChatMessage[]): OptimizerPrompt {
  const system = textOf(messages, 'system');
  const user = textOf(messages, 'user');
  const blocks = [...user.matchAll(BLOCK)].map(([, kind, , body = '']) => ({ kind, body }));
  const bodies = (...wanted: string[]) =>
    blocks.flatMap(({ kind = '', body }) => (wanted.includes(kind) ? [body] : []));
  const headings = user.replace(BLOCK, '');
  return {
    assignment: tellAssignment(system, headings),
    mode: tellMode(system, headings),
    wantsReminders: system.includes('appendix_notes'),
    skill: bodies('skill')[0] ?? '',
    previousSkill: bodies('skill')[1] ?? '',
    limit: tellLimit(headings),
    trajectories: bodies('trajectory'),
    patches: bodies('patches'),
    edits: bodies('edits', 'suggestions', 'items').join('\n'),
    steps: bodies('steps').join('\n\n'),
    notes: bodies('notes')[0] ?? '',
    guidance: bodies('guidance')[0] ?? '',
    comparison: bodies('comparison')[0] ?? '',
  };
}

/** The key of the reply that the system text asks for, and whose work it is. The first that is found holds. */
const BY_REPLY: readonly (readonly [string, Assignment])[] = [
  ['selected_indices', 'rank'],
  ['support_count', 'merge'],
  ['failure_summary', 'read-failures'],
  ['success_patterns', 'read-successes'],
  ['slow_update_content', 'write-guidance'],
  ['meta_skill_content', 'write-notes'],
  ['"learning_rate"', 'decide-rate'],
  ['"new_skill"', 'rewrite'],
  ['"notes"', 'shorten-reminders'],
];

/** A prompt in other words is told by its headings. */
const BY_HEADING: readonly (readonly [RegExp, Assignment])[] = [
  [/^## (?:Edits|Suggestions) \(\d+, keep/m, 'rank'],
  [/^## (?:Patches|Failure patch|Success patch)/m, 'merge'],
  [/^## Proposed changes/m, 'decide-rate'],
  [/^## Suggestions/m, 'rewrite'],
  [/^## Guidance so far/m, 'write-guidance'],
  [/^## Comparison/m, 'write-notes'],
  [/^## Notes/m, 'shorten-reminders'],
  [/^## Trajectories \(\d+ succeeded\)/m, 'read-successes'],
];

function tellAssignment(system: string, headings: string): Assignment {
  const asked =
    BY_REPLY.find(([key]) => system.includes(key)) ?? BY_HEADING.find(([heading]) => heading.test(headings));
  return asked?.[1] ?? 'read-failures';
}

function tellMode(system: string, headings: string): UpdateMode {
  const says = (key: string, heading: RegExp) => system.includes(key) || heading.test(headings);
  if (says('skill_candidates', /^Exactly one whole replacement/m)) return 'full_rewrite_minibatch';
  if (says('revise_suggestions', /^At most \d+ suggestions?\.|^## Suggestions/m)) return 'rewrite_from_suggestions';
  return 'patch';
}

function tellLimit(headings: string): number {
  if (/^(?:No limit|Exactly one whole replacement)\./m.test(headings)) return Number.POSITIVE_INFINITY;
  return Number(headings.match(/\bat most (\d{1,6})\b/i)?.[1] ?? DEFAULT_LIMIT);
}
