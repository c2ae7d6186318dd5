import type { Usage } from './model.ts';

/** Stable names of errors. Messages may change; these do not. */
export type ErrorCode =
  | ('CONFIG_INVALID' | 'TASKS_INVALID' | 'ENV_INVALID' | 'ENV_FAILED' | 'SKILL_NOT_FOUND' | 'USAGE')
  | ('RUN_NOT_FOUND' | 'RUN_MISMATCH' | 'RUN_LOCKED' | 'RUN_UNWRITABLE' | 'JOURNAL_CORRUPT' | 'STATE_UNUSABLE')
  | ('MODEL_CALL_FAILED' | 'PROMPT_TOO_LONG' | 'MODEL_REPLY_INVALID' | 'ANSWER_PENDING' | 'BUDGET_EXHAUSTED')
  | ('CONSENT_MISSING' | 'DOCUMENT_REFUSED' | 'SANDBOX_UNAVAILABLE' | 'QUEUE_UNREACHABLE' | 'WORKER_MISMATCH')
  | 'PLUGIN_FAILED';

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

export const isOutOfBudget = (error: unknown): error is SkillError =>
  error instanceof SkillError && error.code === 'BUDGET_EXHAUSTED';

type ModelCallDetails = { readonly cause?: unknown; readonly hint?: string } & Partial<
  Pick<ModelCallError, 'status' | 'isRetryable' | 'isFatal' | 'retryAfterMs' | 'usage'>
>;

/** A model provider refused, dropped or mangled a call. Never a statement about the skill. */
export class ModelCallError extends SkillError {
  override readonly name: string = 'ModelCallError';
  readonly status: number | undefined;
  readonly isRetryable: boolean;
  /** Every other call would fail in the same way: a refused key, an unknown model. */
  readonly isFatal: boolean;
  readonly retryAfterMs: number | undefined;
  /** What the call cost all the same, if known. */
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

type PromptSizes = Partial<Pick<PromptTooLongError, 'status' | 'promptTokens' | 'maxTokens'>>;

/** A prompt that does not fit into the model's context. */
export class PromptTooLongError extends ModelCallError {
  override readonly name = 'PromptTooLongError';
  override readonly code = 'PROMPT_TOO_LONG';
  /** Both as the provider counted, if it said. */
  readonly promptTokens: number | undefined;
  readonly maxTokens: number | undefined;

  constructor(message: string, { status, promptTokens, maxTokens }: PromptSizes = {}) {
    super(message, { status, isRetryable: false, isFatal: false, hint: SHORTER });
    this.promptTokens = promptTokens;
    this.maxTokens = maxTokens;
  }
}

const SHORTER =
  'Use a model with a larger context, or shorten the prompt: shorter items or skill for the target, a smaller minibatchSize or mergeBatchSize for the optimizer.';

const isRetryableStatus = (status: number | undefined): boolean =>
  status === undefined || [408, 409, 425, 429].includes(status) || status >= 500;

/** How providers say that an account has no credit left, or may spend no more. */
const STOPPED = [
  /insufficient[ _](?:quota|balance|credits?|funds)|requires more credits|out of credits?|used all available credits/i,
  /credit balance is too low|credits? (?:are|is|have been) (?:depleted|exhausted|used up)|余额不足|arrearage/i,
  /billing_(?:hard_limit_reached|not_active|error|disabled)|requires billing|billing (?:hard )?limit has been reached/i,
  /spend(?:ing)?[ _](?:limit|cap)|exceeded_current_quota|payment required|(?:hit|reached) your (?:specified API )?usage limit/i,
];

/** Unlike with a rate limit, waiting does not help. */
export function isOutOfCredit(words: string): boolean {
  if (STOPPED.some((pattern) => pattern.test(words)) || /perday/i.test(words)) return true;
  return /exceeded your current quota/i.test(words) && !/per ?minute|retry in \d/i.test(words);
}

export const CREDIT_HINT =
  'The account has no credit left, or has reached a limit of its own: waiting does not help. See to its billing, then start again.';

/**
 * Why a value is too deep or too large to be walked through. One that holds itself is too deep; parts that are used many times
 * count each time.
 */
export function whyTooMuch(value: unknown, { maxDepth = 100, maxValues = 100_000 } = {}): string | undefined {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let count = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.depth > maxDepth) return `nested more than ${maxDepth} levels deep, or in a circle`;
    if (++count > maxValues) return `more than ${maxValues.toLocaleString('en-US')} values`;
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const part of Object.values(next.value)) rest.push({ value: part, depth: next.depth + 1 });
  }
  return undefined;
}
