import { ModelCallError } from '../../core/contracts/index.ts';
import type { FailedCall, SdkError } from './failed-call.ts';
import { providerWords } from './provider-words.ts';

/** How providers speak of the schema that a call carried. */
const WORDS =
  /response.?(format|schema|mime)|output.?(format|config)|structured.?output|json.?(schema|mode)|\bschema\b|guided|grammar/i;

/**
 * A provider that takes no schema, or not this one. The same request without it is worth a try at once; as a retry,
 * since every attempt counts against a budget.
 */
export class FormatRefused extends ModelCallError {
  constructor(thrown: SdkError, status: number, { who, secrets }: FailedCall) {
    const words = providerWords(thrown.responseBody ?? '', secrets);
    super(`${who} answered ${status} to a schema for its reply, and is asked in words from now on: ${words}`, {
      status,
      isRetryable: true,
      isFatal: false,
      retryAfterMs: 0,
      hint: "Set structuredOutput to 'off' for this model.",
    });
  }
}

export function isFormatRefusal({ responseBody = '' }: SdkError, status: number): boolean {
  return (status === 400 || status === 422) && WORDS.test(responseBody);
}
