import type { Usage } from './model.ts';

/** Stable names for everything that can go wrong on purpose. Messages may change; these do not. */
export type ErrorCode =
  | 'CONFIG_INVALID'
  | 'TASKS_INVALID'
  | 'ENV_INVALID'
  | 'ENV_FAILED'
  | 'SKILL_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'RUN_MISMATCH'
  | 'RUN_LOCKED'
  | 'RUN_UNWRITABLE'
  | 'JOURNAL_CORRUPT'
  | 'STATE_UNUSABLE'
  | 'CONSENT_MISSING'
  | 'DOCUMENT_REFUSED'
  | 'MODEL_CALL_FAILED'
  | 'PROMPT_TOO_LONG'
  | 'MODEL_REPLY_INVALID'
  | 'ANSWER_PENDING'
  | 'BUDGET_EXHAUSTED'
  | 'SANDBOX_UNAVAILABLE'
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
  readonly usage?: Usage | undefined;
  readonly cause?: unknown;
  readonly hint?: string;
};

/** A model provider refused, dropped or mangled a call. Never a statement about the skill. */
export class ModelCallError extends SkillError {
  override readonly name: string = 'ModelCallError';
  readonly status: number | undefined;
  readonly isRetryable: boolean;
  /** Every other call would fail in the same way: a refused key, an unknown model. One is enough to stop a run. */
  readonly isFatal: boolean;
  readonly retryAfterMs: number | undefined;
  /** What the call cost all the same, if that is known. */
  readonly usage: Usage | undefined;

  constructor(message: string, details: ModelCallDetails = {}) {
    super('MODEL_CALL_FAILED', message, details);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.usage = details.usage;
    this.isRetryable = details.isRetryable ?? isRetryableStatus(details.status);
    this.isFatal = details.isFatal ?? [401, 402, 403, 404].includes(details.status ?? 0);
  }
}

type PromptSizes = {
  readonly status?: number | undefined;
  readonly promptTokens?: number | undefined;
  readonly maxTokens?: number | undefined;
};

/** A prompt that does not fit into the model's context. Neither another try nor another task would change that. */
export class PromptTooLongError extends ModelCallError {
  override readonly name = 'PromptTooLongError';
  override readonly code = 'PROMPT_TOO_LONG';
  /** As the provider counted, if it said. */
  readonly promptTokens: number | undefined;
  /** What the provider allows, if it said. */
  readonly maxTokens: number | undefined;

  constructor(message: string, { status, promptTokens, maxTokens }: PromptSizes = {}) {
    super(message, { status, isRetryable: false, isFatal: false, hint: SHORTER });
    this.promptTokens = promptTokens;
    this.maxTokens = maxTokens;
  }
}

const SHORTER =
  'Use a model with a larger context, or shorten the prompt: shorter items or skill for the target, a smaller minibatchSize or mergeBatchSize for the optimizer.';

/** No status means that no answer came, which is worth another try. */
function isRetryableStatus(status: number | undefined): boolean {
  return status === undefined || [408, 409, 425, 429].includes(status) || status >= 500;
}
