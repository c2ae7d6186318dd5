import { z } from 'zod';
import { AgentLimitsSpec, isPlainPath } from '../contracts/index.ts';
import { pattern } from './checks.ts';

const text = z.string('must be text').min(1, 'must be non-empty text');
const count = z.number('must be a number').nonnegative();
const texts = z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(text).min(1).readonly());

const assertion = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

export const Assertion = z.discriminatedUnion(
  'type',
  [
    assertion('output_contains', { value: text }),
    assertion('output_not_contains', { value: text }),
    assertion('output_matches', { value: pattern }),
    assertion('output_not_matches', { value: pattern }),
    assertion('file_exists', { path: text }),
    assertion('file_not_exists', { path: text }),
    assertion('file_contains', { path: text, value: text }),
    assertion('file_not_contains', { path: text, value: text }),
    assertion('exit_success', {}),
    assertion('expect_tools', { value: texts }),
    assertion('reject_tools', { value: texts }),
    assertion('max_turns', { value: count }),
    assertion('max_tokens', { value: count }),
    assertion('max_cost_usd', { value: count }),
    assertion('skill_used', { value: text.optional() }),
    assertion('skill_not_used', { value: text.optional() }),
    assertion('diff_only', { value: texts }),
  ],
  'must have a type that there is, such as output_contains or file_exists',
);
export type Assertion = z.output<typeof Assertion>;

const filled = z.string('must be text').refine((text) => text.trim() !== '', 'must be non-empty text');
const path = z.string().refine(isPlainPath, 'must be relative paths, such as src/main.py');

/** A line for the shell, or a program with its arguments. */
export const Command = z.union([filled, z.array(z.string()).min(1).readonly()], 'must be text or a list of words');
export type Command = z.output<typeof Command>;

const Files = z.record(path, z.string('must be text'));
const Binaries = z.record(path, z.base64('must be base64'));

/** Names that a sandbox gives to something else. */
const TAKEN = 'usr bin sbin lib lib32 lib64 opt nix etc dev proc sys tmp run work workspace skillopt logs'.split(' ');
const place = z
  .string()
  .regex(/^(?:\/[\w-][\w.-]*)+$/, 'must be an absolute path, such as /app')
  .refine((path) => !TAKEN.includes(path.split('/')[1]!), 'must be a place that the system does not use, such as /app');

const milliseconds = z.number('must be a number').int().positive().max(3_600_000, 'must be at most an hour');

const VERDICTS = ['exit-code', 'reward', 'junit', 'json'] as const;

export const Verify = z.preprocess(
  (value) => (typeof value === 'string' || Array.isArray(value) ? { command: value } : value),
  z.strictObject({
    command: Command,
    /** Laid into the workspace when the agent is gone. It never sees them. */
    files: Files.optional(),
    binaries: Binaries.optional(),
    from: filled.optional(),
    /** Where the verifier finds them, unchangeable, in place of the workspace. */
    at: place.optional(),
    env: z.record(z.string(), z.string('must be text')).optional(),
    verdict: z.enum(VERDICTS, `must be one of ${VERDICTS.join(', ')}`).default('exit-code'),
    report: path.optional(),
    timeoutMs: milliseconds.default(600_000),
  }),
);
export type Verify = z.output<typeof Verify>;

/**
 * What becomes of work on which a verifier crashes, hangs or gives no verdict, though it gives one where nobody has worked: it
 * has failed, or it has no score and the run stops.
 */
export const ON_VERIFIER_CRASH = ['fail', 'stop'] as const;
export type OnVerifierCrash = (typeof ON_VERIFIER_CRASH)[number];

/** Something to do in a workspace, and how to check it. */
export const WorkspaceTask = z
  .strictObject({
    id: z.coerce.string().min(1),
    prompt: filled,
    files: Files.optional(),
    binaries: Binaries.optional(),
    /** A folder beside the task file, which the workspace is a copy of. Files come on top. */
    from: filled.optional(),
    /** Another path of the workspace, if the prompt or the verifier names one. */
    at: place.optional(),
    setup: Command.optional(),
    /** Keeps the history of the repository. Answers are often in it. */
    keepHistory: z.boolean().default(false),
    verify: Verify.optional(),
    assertions: z.array(Assertion).readonly().default([]),
    rubric: z.union([filled.transform((one) => [one]), z.array(filled).min(1)]).optional(),
    /** In place of the target's or the project's limits. */
    limits: AgentLimitsSpec.optional(),
    taskType: z.string().optional(),
  })
  .refine(
    ({ verify, assertions, rubric }) => verify !== undefined || assertions.length > 0 || rubric !== undefined,
    'must have verify, assertions or a rubric: otherwise nobody can tell whether it was done',
  );
export type WorkspaceTask = z.output<typeof WorkspaceTask>;
export type WorkspaceTaskInput = z.input<typeof WorkspaceTask>;

export const WORKSPACE_TASK_HINT =
  'A task is a line such as {"id": "1", "prompt": "…", "files": {"a.txt": "…"}, "verify": "test -f b.txt"}.';
