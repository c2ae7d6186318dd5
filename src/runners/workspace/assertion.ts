import { z } from 'zod';
import { pattern } from '../../core/judge/index.ts';

const text = z.string('must be text').min(1, 'must be non-empty text');
const texts = z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(text).min(1).readonly());
const count = z.number('must be a number').nonnegative();

/** What the last words must hold or match, what must be in the workspace, and how the agent must have worked. */
const value = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: text });
const file = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), path: text });
const fileText = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), path: text, value: text });
const limit = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: count });
const names = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: texts });
const skill = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: text.optional() });

export const Assertion = z.discriminatedUnion(
  'type',
  [
    value('output_contains'),
    value('output_not_contains'),
    z.strictObject({ type: z.literal('output_matches'), value: pattern }),
    z.strictObject({ type: z.literal('output_not_matches'), value: pattern }),
    file('file_exists'),
    file('file_not_exists'),
    fileText('file_contains'),
    fileText('file_not_contains'),
    z.strictObject({ type: z.literal('exit_success') }),
    names('expect_tools'),
    names('reject_tools'),
    limit('max_turns'),
    limit('max_tokens'),
    limit('max_cost_usd'),
    skill('skill_used'),
    skill('skill_not_used'),
    names('diff_only'),
  ],
  'must have a type that there is, such as output_contains or file_exists',
);
export type Assertion = z.output<typeof Assertion>;
