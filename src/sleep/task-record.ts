import { z } from 'zod';
import { toCamelCase, toSnakeCase } from '../core/text/index.ts';

const text = z.string().default('');
const texts = z.array(z.string()).default([]);

export const SLEEP_SPLITS = ['train', 'val', 'test'] as const;
export type SleepSplit = (typeof SLEEP_SPLITS)[number];

const LEGACY_SPLITS = new Map<unknown, SleepSplit>(Object.entries({ replay: 'train', holdout: 'val' }));

const TaskFields = z.object({
  id: z.string().min(1),
  project: z.string(),
  /** What was asked, in words that make sense without the session. */
  intent: z.string(),
  contextExcerpt: text,
  /** The task's own system prompt, word for word. */
  system: text,
  attemptedSolution: text,
  outcome: z.enum(['success', 'fail', 'mixed', 'unknown']).default('unknown'),
  referenceKind: z.enum(['exact', 'rubric', 'rule', 'command', 'none']).default('none'),
  /** What a good answer is measured by. For `none`: what the person said after the answer. No agent that attempts the task reads it. */
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
export type Tasks = readonly TaskRecord[];

/** Files of SkillOpt-Sleep keep the follow-ups of tasks that rules mined as their context. */
function withoutLaterContext(fields: unknown): unknown {
  const { id, referenceKind = 'none', reference = '', contextExcerpt } = (fields ?? {}) as Partial<TaskRecord>;
  const isMinedByRule = /^task_[0-9a-f]{12}$/.test(String(id)) && referenceKind === 'none' && reference === '';
  const isLater = isMinedByRule && typeof contextExcerpt === 'string' && contextExcerpt.startsWith('- ');
  return isLater ? { ...(fields as object), contextExcerpt: '', reference: contextExcerpt } : fields;
}

/** What the person said after the first answer, if that is all there is to measure by. */
export const followUpsOf = ({ referenceKind, reference }: Pick<TaskRecord, 'referenceKind' | 'reference'>) =>
  referenceKind === 'none' ? reference : '';

/** The follow-ups that analysts may read: never those of held-out tasks. */
export const taughtBy = (task: TaskRecord) => (task.split === 'train' ? followUpsOf(task) : '');

export const toTaskFields = (value: unknown): unknown => renameAround(value, toCamelCase);

export const toTaskJson = (task: TaskRecord): unknown => renameAround(task, toSnakeCase);

/** Keys inside `judge` keep their spelling. */
function renameAround(value: unknown, rename: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || !('judge' in value)) return rename(value);
  const { judge, ...rest } = value;
  return { ...(rename({ ...rest, judge: null }) as object), judge };
}

/** Tools that change or read files or run something, which an answer in words cannot do. */
const HANDS_ON =
  /(?:^|[+_.-])(?:bash|shell|exec(?:_command|ute)?|terminal|powershell|write(?:_file)?|edit(?:_file)?|multiedit|notebookedit|apply_?patch|patch|create_file|str_replace\w*|run_\w+|task)(?:$|[+_.-])/i;

/** The miner's mark for a task that cannot be done without files. */
export const NEEDS_FILES_TAG = 'needs:files';

/**
 * Whether a task can be attempted in words. A task that a model wrote makes sense by itself unless it says otherwise; the
 * first prompt of a session needs the tools that the session used (`tools:NAME+NAME`).
 */
export function isReplayable({ tags, referenceKind }: TaskRecord): boolean {
  if (tags.includes(NEEDS_FILES_TAG)) return false;
  const isHandsOn = (tag: string) => tag.startsWith('tools:') && HANDS_ON.test(tag.slice('tools:'.length));
  return referenceKind !== 'none' || !tags.some(isHandsOn);
}
