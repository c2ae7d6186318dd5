import { z } from 'zod';
import { toCamelCase, toSnakeCase } from '../core/text/index.ts';

const text = z.string().default('');
const texts = z.array(z.string()).default([]);

export const SLEEP_SPLITS = ['train', 'val', 'test'] as const;
export type SleepSplit = (typeof SLEEP_SPLITS)[number];

/** Names of before. */
const LEGACY_SPLITS = new Map<unknown, SleepSplit>([
  ['replay', 'train'],
  ['holdout', 'val'],
]);

const TaskFields = z.object({
  id: z.string().min(1),
  project: z.string(),
  /** What was asked, in words that make sense without the session. */
  intent: z.string(),
  /** What was said before it. */
  contextExcerpt: text,
  /** A system prompt of the task's own, word for word. */
  system: text,
  /** What the agent answered then. */
  attemptedSolution: text,
  outcome: z.enum(['success', 'fail', 'mixed', 'unknown']).default('unknown'),
  referenceKind: z.enum(['exact', 'rubric', 'rule', 'command', 'none']).default('none'),
  /** What a good answer is measured by. Of `none`: what the person said after the answer of then, if anything. No agent that attempts the task reads it. */
  reference: text,
  /** For `rule`: `{ checks: [{ op, arg }] }`; for `command`: what is run. The keys in it are the judge's own. */
  judge: z.record(z.string(), z.unknown()).default({}),
  tags: texts,
  sourceSessions: texts,
  split: z.preprocess((name) => LEGACY_SPLITS.get(name) ?? name, z.enum(SLEEP_SPLITS)).default('train'),
  origin: z.enum(['real', 'dream']).default('real'),
  derivedFrom: text,
  /** `skill`, or `plugin:skill`: a name to look for, never a path. */
  skillHint: text,
});

/** A task made from transcripts. Read in both spellings; unknown keys are dropped. */
export const TaskRecord = z.preprocess((value) => withoutLaterContext(toTaskFields(value)), TaskFields);
export type TaskRecord = z.infer<typeof TaskFields>;

/** Tasks that no model mined had their follow-ups as context once, and still do in files of the system that ours began as. */
function withoutLaterContext(fields: unknown): unknown {
  const { id, referenceKind = 'none', reference = '', contextExcerpt } = (fields ?? {}) as Partial<TaskRecord>;
  const isMinedByRule = /^task_[0-9a-f]{12}$/.test(String(id)) && referenceKind === 'none' && reference === '';
  const isLater = isMinedByRule && typeof contextExcerpt === 'string' && contextExcerpt.startsWith('- ');
  return isLater ? { ...(fields as object), contextExcerpt: '', reference: contextExcerpt } : fields;
}

/** What the person said after the answer of then, where that is all there is to measure by. */
export const followUpsOf = ({ referenceKind, reference }: Pick<TaskRecord, 'referenceKind' | 'reference'>) =>
  referenceKind === 'none' ? reference : '';

/** The keys of a task as code spells them. */
export function toTaskFields(value: unknown): unknown {
  return renameAround(value, toCamelCase);
}

/** As files spell them. */
export function toTaskJson(task: TaskRecord): unknown {
  return renameAround(task, toSnakeCase);
}

/** What is in `judge` keeps its spelling. */
function renameAround(value: unknown, rename: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || !('judge' in value)) return rename(value);
  const { judge, ...rest } = value;
  return { ...(rename({ ...rest, judge: null }) as object), judge };
}

/** Tools that change or read files, or run something: an answer in words alone cannot do what they did. */
const HANDS_ON =
  /(?:^|[+_.-])(?:bash|shell|exec(?:_command|ute)?|terminal|powershell|write(?:_file)?|edit(?:_file)?|multiedit|notebookedit|apply_?patch|patch|create_file|str_replace\w*|run_\w+|task)(?:$|[+_.-])/i;

/** Set by a miner that saw that a task cannot be done without files. */
export const NEEDS_FILES_TAG = 'needs:files';

/**
 * Whether a task can be attempted in words. One that a model wrote makes sense by itself unless it says otherwise; one that
 * is a session's first prompt, word for word, needs what the session had.
 */
export function isReplayable({ tags, referenceKind }: TaskRecord): boolean {
  if (tags.includes(NEEDS_FILES_TAG)) return false;
  return referenceKind !== 'none' || !toolsIn(tags).some((names) => HANDS_ON.test(names));
}

const TOOLS_TAG = 'tools:';

/** Names of tools that the session used, joined by `+`. */
const toolsIn = (tags: readonly string[]) =>
  tags.filter((tag) => tag.startsWith(TOOLS_TAG)).map((tag) => tag.slice(TOOLS_TAG.length));
