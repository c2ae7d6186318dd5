/** Stable names for everything that can go wrong on purpose. Messages may change; these do not. */
export type ErrorCode =
  | 'CONFIG_INVALID'
  | 'TASKS_INVALID'
  | 'ENV_INVALID'
  | 'SKILL_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'RUN_MISMATCH'
  | 'RUN_LOCKED'
  | 'RUN_UNWRITABLE'
  | 'JOURNAL_CORRUPT'
  | 'MODEL_CALL_FAILED'
  | 'MODEL_REPLY_INVALID'
  | 'BUDGET_EXHAUSTED'
  | 'USAGE';

/** Every error this library throws on purpose. Anything else is a bug. */
export class SkillError extends Error {
  override readonly name: string = 'SkillError';
  readonly code: ErrorCode;
  /** What the user can do about it, printed below the message. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

type ModelCallDetails = {
  readonly status?: number | undefined;
  readonly isRetryable?: boolean;
  readonly isFatal?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  readonly hint?: string;
};

/** A model provider refused, dropped or mangled a call. Never a statement about the skill. */
export class ModelCallError extends SkillError {
  override readonly name = 'ModelCallError';
  readonly status: number | undefined;
  readonly isRetryable: boolean;
  /** Every other call would fail in the same way: a refused key, an unknown model. One is enough to stop a run. */
  readonly isFatal: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ModelCallDetails = {}) {
    super('MODEL_CALL_FAILED', message, details);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.isRetryable = details.isRetryable ?? isRetryableStatus(details.status);
    this.isFatal = details.isFatal ?? [401, 402, 403, 404].includes(details.status ?? 0);
  }
}

/** No status means that no answer came, which is worth another try. */
function isRetryableStatus(status: number | undefined): boolean {
  return status === undefined || [408, 409, 425, 429].includes(status) || status >= 500;
}
