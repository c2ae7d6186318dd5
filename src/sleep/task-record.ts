import { z } from 'zod';
import { toCamelCase } from '../core/text/snake-case.ts';

const text = z.string().default('');
const texts = z.array(z.string()).default([]);

export const SLEEP_SPLITS = ['train', 'val', 'test'] as const;
export type SleepSplit = (typeof SLEEP_SPLITS)[number];

/** Names of before. */
const LEGACY_SPLITS: Readonly<Record<string, SleepSplit>> = { replay: 'train', holdout: 'val' };

const TaskFields = z.object({
  id: z.string().min(1),
  project: z.string(),
  /** What was asked, in words that make sense without the session. */
  intent: z.string(),
  contextExcerpt: text,
  /** A system prompt of the task's own, word for word. */
  system: text,
  /** What the agent answered then. */
  attemptedSolution: text,
  outcome: z.enum(['success', 'fail', 'mixed', 'unknown']).default('unknown'),
  referenceKind: z.enum(['exact', 'rubric', 'rule', 'command', 'none']).default('none'),
  reference: text,
  /** For `rule`: `{ checks: [{ op, arg }] }`; for `command`: what is run. */
  judge: z.record(z.string(), z.unknown()).default({}),
  tags: texts,
  sourceSessions: texts,
  split: z.preprocess((name) => LEGACY_SPLITS[String(name)] ?? name, z.enum(SLEEP_SPLITS)).default('train'),
  origin: z.enum(['real', 'dream']).default('real'),
  derivedFrom: text,
  skillHint: text,
});

/** A task made from transcripts. Read in both spellings; unknown keys are dropped. */
export const TaskRecord = z.preprocess(toCamelCase, TaskFields);
export type TaskRecord = z.infer<typeof TaskFields>;
