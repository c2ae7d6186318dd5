import { type ErrorCode, SkillError } from '../core/contracts/index.ts';
import { Answered } from './answered.ts';
import { Interrupted } from './interrupt.ts';
import { systemErrorOf } from './system-error.ts';

/** Exit codes, in the order of the help text. */
export const EXIT_CODES = {
  0: 'done',
  1: 'done, and errors were found, or a check failed',
  2: 'user error, with a hint',
  3: 'budget exhausted',
  4: 'model or environment out of order, or nothing measured',
  5: 'locked by another run',
  6: 'waiting for an answer',
  70: 'a bug in skillopt',
  129: 'hung up (the terminal was closed)',
  130: 'interrupted (Ctrl-C)',
  143: 'terminated',
} as const;
export type ExitCode = keyof typeof EXIT_CODES;

const special: { readonly [code in ErrorCode]?: ExitCode } = {
  BUDGET_EXHAUSTED: 3,
  MODEL_CALL_FAILED: 4,
  ENV_FAILED: 4,
  PROMPT_TOO_LONG: 4,
  RUN_LOCKED: 5,
  ANSWER_PENDING: 6,
};

/** An error thrown on purpose is the user's to mend, and so is what the operating system refuses; anything else is a bug. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Answered || error instanceof Interrupted) return error.exitCode;
  if (error instanceof SkillError) return special[error.code] ?? 2;
  return systemErrorOf(error) === undefined ? 70 : 2;
}
