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
import { type Reading, stylesOf, type Variant } from '../world/topic.ts';
import { readQuestion } from '../world/world.ts';

export type Assignment =
  | ('read-failures' | 'read-successes' | 'merge' | 'rank' | 'decide-rate' | 'rewrite')
  | ('write-guidance' | 'write-notes' | 'shorten-reminders');

export type TaskAssignment = 'outline' | 'draft' | 'solve';

const BLOCK = new RegExp(String.raw`<(${FENCE_KINDS.join('|')})-([0-9a-f]{8})>\n?([\s\S]*?)\n?</\1-\2>`, 'g');
const ANSWER_TAGS = '<answer></answer>';
const QUESTION = /(?:^|\n)Question: ([\s\S]+)$/;

/** Reads a prompt by its text alone, since nothing else crosses HTTP. Missing parts are empty. */
export function readPrompt(messages: readonly ChatMessage[]) {
  const system = textOf(messages, 'system');
  const user = textOf(messages, 'user');
  const blocks = [...user.matchAll(BLOCK)].map(([, kind, , body = '']) => ({ kind, body }));
  const bodies = (...wanted: (typeof FENCE_KINDS)[number][]) =>
    blocks.flatMap(({ kind, body }) => (wanted.some((name) => name === kind) ? [body] : []));
  const headings = user.replace(BLOCK, '');
  const question = system.includes(ANSWER_TAGS) ? (user.match(QUESTION)?.[1] ?? '') : '';
  return {
    assignment: tellAssignment(system, headings),
    taskAssignment: question === '' ? tellTaskAssignment(system) : ('solve' as const),
    mode: tellMode(system, headings),
    wantsReminders: system.includes(REPLY_KEYS.reminders),
    skill: question === '' ? (bodies('skill')[0] ?? '') : system,
    surroundings: bodies('surroundings').join('\n'),
    previousSkill: bodies('skill')[1] ?? '',
    limit: tellLimit(headings), // the number in «at most N»; infinite when nothing limits it
    trajectories: bodies('trajectory'),
    patches: bodies('patches'),
    edits: bodies('edits', 'suggestions', 'items').join('\n'), // to choose from, to count, or to carry out
    steps: bodies('steps').join('\n\n'),
    notes: bodies('notes')[0] ?? '', // of earlier epochs, or the reminders of an appendix
    guidance: bodies('guidance')[0] ?? '',
    comparison: bodies('comparison')[0] ?? '',
    topic: bodies('topic')[0], // what drafted tasks are to test
    questions: bodies('questions')[0] ?? '',
    question,
  };
}

export type OptimizerPrompt = Readonly<ReturnType<typeof readPrompt>>;

/** The first reply key in the system text says what the work is. */
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

/** A user's own prompt is recognised by its headings. */
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
  return Number(headings.match(/\bat most (\d{1,6})\b/i)?.[1] ?? 4);
}

const hasLine = (text: string, start: string) => `\n${text}`.includes(`\n${start}`);

/** A question, and the style in which the reference answers it. */
export type Lesson = {
  readonly id: string;
  readonly reading: Reading;
  readonly wanted: Variant | undefined;
  readonly reference: string;
  readonly predicted: string;
};

const FIELD = new RegExp(`^(${TRAJECTORY_FIELDS.join('|')}):`);

/** `undefined` when it is not about a fact, or no known style gives its reference. */
export function readTrajectory(block: string): Lesson | undefined {
  const fields = readFields(block);
  const reading = readQuestion(fields.get('question') ?? '');
  if (!reading) return undefined;
  const references = readReferences(fields);
  const styles = stylesOf(reading);
  const style = styles.findIndex((candidate) => references.includes(reading.answer(candidate)));
  if (style === -1) return undefined;
  const wanted = styles[style];
  const id = fields.get('id') ?? '';
  return { id, reading, wanted, reference: reading.answer(wanted), predicted: fields.get('predicted') ?? '' };
}

type Fields = ReadonlyMap<TrajectoryField | '', string>;

/** A line that starts no field continues the one before. The first of a name holds. */
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

type Compared = Readonly<Record<'regressed' | 'persistent' | 'improved', readonly Lesson[]>>;

const PART = /^### (.*)$|<trajectory-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/trajectory-\2>/gm;

/** Each task has two trajectories, before and now; the later one counts. */
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
