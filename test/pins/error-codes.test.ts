import { type ErrorCode, ModelCallError, PromptTooLongError, SkillError } from 'skillopt';
import { describe, expect, it } from 'vitest';

/** A code that is taken away or renamed does not compile here; one that is new must be added. */
const codes = {
  CONFIG_INVALID: true,
  TASKS_INVALID: true,
  ENV_INVALID: true,
  ENV_FAILED: true,
  SKILL_NOT_FOUND: true,
  RUN_NOT_FOUND: true,
  RUN_MISMATCH: true,
  RUN_LOCKED: true,
  RUN_UNWRITABLE: true,
  JOURNAL_CORRUPT: true,
  STATE_UNUSABLE: true,
  CONSENT_MISSING: true,
  DOCUMENT_REFUSED: true,
  MODEL_CALL_FAILED: true,
  PROMPT_TOO_LONG: true,
  MODEL_REPLY_INVALID: true,
  ANSWER_PENDING: true,
  BUDGET_EXHAUSTED: true,
  SANDBOX_UNAVAILABLE: true,
  QUEUE_UNREACHABLE: true,
  WORKER_MISMATCH: true,
  PLUGIN_FAILED: true,
  USAGE: true,
} satisfies Record<ErrorCode, true>;

describe('errors on purpose', () => {
  it.each(Object.keys(codes) as ErrorCode[])(
    '%s is carried by a SkillError with its message, hint and cause',
    (code) => {
      const cause = new Error('below');
      const error = new SkillError(code, 'what came', { hint: 'what to do', cause });
      expect(error).toBeInstanceOf(Error);
      expect({ ...error, message: error.message, cause: error.cause }).toEqual({
        name: 'SkillError',
        code,
        message: 'what came',
        hint: 'what to do',
        cause,
      });
    },
  );

  it('has no hint unless it has one', () => {
    expect(new SkillError('USAGE', 'no').hint).toBeUndefined();
  });
});

describe('ModelCallError', () => {
  it('is a SkillError that knows about the call', () => {
    const error = new ModelCallError('429', { status: 429, retryAfterMs: 2_000, hint: 'wait' });
    expect(error).toBeInstanceOf(SkillError);
    expect({ ...error }).toEqual({
      name: 'ModelCallError',
      code: 'MODEL_CALL_FAILED',
      status: 429,
      isRetryable: true,
      isFatal: false,
      retryAfterMs: 2_000,
      hint: 'wait',
    });
  });

  it.each([
    [undefined, true],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [409, true],
    [422, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ])('of status %s is worth another try: %s', (status, isRetryable) => {
    expect(new ModelCallError('x', { status }).isRetryable).toBe(isRetryable);
  });

  it('believes the caller that knows better', () => {
    expect(new ModelCallError('x', { status: 500, isRetryable: false }).isRetryable).toBe(false);
    expect(new ModelCallError('x', { status: 400, isRetryable: true }).isRetryable).toBe(true);
  });
});

describe('PromptTooLongError', () => {
  it('is a ModelCallError with the sizes, and neither retryable nor fatal', () => {
    const error = new PromptTooLongError('too long', { status: 400, promptTokens: 9, maxTokens: 8 });
    expect(error).toBeInstanceOf(ModelCallError);
    expect({ ...error }).toEqual({
      name: 'PromptTooLongError',
      code: 'PROMPT_TOO_LONG',
      status: 400,
      isRetryable: false,
      isFatal: false,
      retryAfterMs: undefined,
      promptTokens: 9,
      maxTokens: 8,
      hint: expect.stringContaining('larger context'),
    });
  });
});
