import { z } from 'zod';
import { toCamelCase } from './text/snake-case.ts';

const unitInterval = z.number().min(0).max(1);

const RolloutFields = z.object({
  id: z.string(),
  hard: unitInterval,
  soft: unitInterval,
  errored: z.boolean().optional(),
  unjudged: z.boolean().optional(),
  threw: z.boolean().optional(),
  skillUnread: z.boolean().optional(),
  nTurns: z.number().optional(),
  failReason: z.string().optional(),
  taskType: z.string().optional(),
  taskDescription: z.string().optional(),
  predictedAnswer: z.string().optional(),
  question: z.string().optional(),
  referenceText: z.string().optional(),
  targetSystemPrompt: z.string().optional(),
  targetUserPrompt: z.string().optional(),
  conversation: z.array(z.unknown()).optional(),
  extras: z.record(z.string(), z.unknown()).optional(),
});

export const ROLLOUT_FIELDS = Object.keys(RolloutFields.shape);

/**
 * One task attempted once under one skill. `hard` is success, `soft` is partial credit, both from 0 to 1.
 * `errored` means that infrastructure failed: the result has no score and no analyst sees it. `unjudged` beside it says
 * that it was no outage: the judge answered, but gave no judgement that could be read. `threw` means that the environment's
 * own code failed on the task, which then counts as failed: but where most tasks throw, it is the environment that is broken.
 * `skillUnread` means that an agent never loaded the skill: what it did says nothing about the skill's text.
 * Read in both spellings, so that what stands in a view file can be read back.
 */
export const RolloutResult = z.preprocess(toCamelCase, RolloutFields);
export type RolloutResult = z.infer<typeof RolloutResult>;
