import {
  BUDGET_LINES,
  type ChatMessage,
  COMPARISON_TITLES,
  DRAFT_REPLY_KEYS,
  FENCE_KINDS,
  HEADINGS,
  OUTCOMES,
  REPLY_KEYS,
  TRAJECTORY_FIELDS,
  type TrajectoryField,
} from '../../core/contracts/index.ts';
import type { UpdateMode } from '../../core/document/index.ts';
import { textOf } from '../simulated-model.ts';
import type { Reading, Variant } from '../world/topic.ts';
import { readQuestion } from '../world/world.ts';

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

/** What one attempt teaches: a question, and the style in which the reference answers it. */
export type Lesson = {
  readonly id: string;
  readonly reading: Reading;
  /** The style that gives the reference; `undefined` is the usual way of writing. */
  readonly wanted: Variant | undefined;
  readonly reference: string;
  readonly predicted: string;
};

const FIELD = new RegExp(`^(${TRAJECTORY_FIELDS.join('|')}):`);

/** The lesson of a trajectory block, or `undefined` when it is not about a fact, or no known style gives its reference. */
export function readTrajectory(block: string): Lesson | undefined {
  const fields = readFields(block);
  const reading = readQuestion(fields.get('question') ?? '');
  if (!reading) return undefined;
  const references = readReferences(fields);
  const styles = [undefined, ...reading.topic.variants];
  const style = styles.findIndex((candidate) => references.includes(reading.answer(candidate)));
  if (style === -1) return undefined;
  const wanted = styles[style];
  const id = fields.get('id') ?? '';
  return { id, reading, wanted, reference: reading.answer(wanted), predicted: fields.get('predicted') ?? '' };
}

type Fields = ReadonlyMap<TrajectoryField | '', string>;

/** Values by field name; a line that starts no field continues the one before. The first of a name holds. */
function readFields(block: string): Fields {
  const fields = new Map<TrajectoryField | '', string>();
  let name: TrajectoryField | '' = '';
  for (const line of block.split('\n')) {
    const found: TrajectoryField | undefined =
      name === 'conversation' ? undefined : (line.match(FIELD)?.[1] as TrajectoryField | undefined);
    if (found === undefined || fields.has(found)) {
      fields.set(name, `${fields.get(name) ?? ''}\n${line}`.trim());
    } else {
      name = found;
      fields.set(name, line.slice(name.length + 1).trim());
    }
  }
  return fields;
}

function readReferences(fields: Fields): string[] {
  const reference = fields.get('reference') ?? fields.get('failure')?.match(/expected "([^"]*)"/)?.[1] ?? '';
  return reference.split(' | ').map((answer) => answer.trim());
}

/** What the comparison of two epochs teaches, by what became of a task. */
type Compared = {
  readonly regressed: readonly Lesson[];
  readonly persistent: readonly Lesson[];
  readonly improved: readonly Lesson[];
};

const PART = /^### (.*)$|<trajectory-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/trajectory-\2>/gm;

/** Each task comes with two trajectories, before and now; the later one counts. */
export function readComparison(comparison: string): Compared {
  const blocks = new Map<string, string[]>();
  let title = '';
  for (const [, heading, , body = ''] of comparison.matchAll(PART)) {
    if (heading !== undefined) title = heading;
    else blocks.set(title, [...(blocks.get(title) ?? []), body]);
  }
  const lessonsUnder = (wanted: string) =>
    (blocks.get(wanted) ?? []).flatMap((block, place) => (place % 2 === 1 ? (readTrajectory(block) ?? []) : []));
  return {
    regressed: lessonsUnder(COMPARISON_TITLES.regressed),
    persistent: lessonsUnder(COMPARISON_TITLES.persistent_fail),
    improved: lessonsUnder(COMPARISON_TITLES.improved),
  };
}
