import { z } from 'zod';
import { MOST_OUTPUT_TOKENS } from '../ask.ts';
import { scoreOfficial } from './score-official.ts';
import { scoreReference } from './score-reference.ts';

/** Configs in YAML and flags may give a number as text. */
const asNumber = (number: z.ZodNumber) =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    number,
  ) as unknown as z.ZodType<number>;

const OFFLINE =
  'only offline is known: no search engine is asked here. SkillOpt’s other modes send the questions to one, and score another task';

export const Settings = z.object({
  /** `official`: the benchmark's own rule. `reference`: SkillOpt's. */
  rule: z.enum(['official', 'reference']).default('official'),
  /** How far a number may be from the right one, as a share of it. For the official rule. */
  tolerance: asNumber(z.number().min(0).max(1)).default(0),
  /** Replies that may ask for documents. One more is asked for the answer. */
  maxToolTurns: asNumber(z.number().int().min(1).max(200)).default(24),
  searchMode: z
    .unknown()
    .optional()
    .refine((mode) => mode === undefined || String(mode).trim().toLowerCase() === 'offline', OFFLINE),
  maxCompletionTokens: asNumber(z.number().int().positive()).default(MOST_OUTPUT_TOKENS),
});
export type OfficeQaSettings = z.output<typeof Settings>;

/** The verdict of the rule, and the words in common with the right answer, which give partial credit under both rules. */
export function scoreWith({ rule, tolerance }: OfficeQaSettings, answer: string, gold: string) {
  const reference = scoreReference(answer, gold);
  if (rule === 'reference') return reference;
  const hard = scoreOfficial(answer, gold, tolerance);
  return { hard, soft: hard === 1 ? 1 : reference.soft };
}

export const ruleText = ({ rule, tolerance }: OfficeQaSettings): string =>
  rule === 'reference'
    ? 'SkillOpt’s normalised exact match (hard), token F1 (soft)'
    : `the benchmark’s own rule, numbers within ${tolerance * 100} % (hard), token F1 (soft)`;
