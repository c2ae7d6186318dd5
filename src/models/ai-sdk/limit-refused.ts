import { ModelCallError } from '../../core/contracts/index.ts';
import type { TokenLimitName } from '../http/endpoint-fetch.ts';
import type { FailedCall, SdkError } from './failed-call.ts';
import { providerWords } from './provider-words.ts';

const REFUSED = /unrecogni[sz]ed|unknown|unsupported|not supported|not permitted|unexpected|extra (?:input|field)/i;

/** A server that calls the limit of a reply otherwise. The same request under that name is worth a try at once. */
export class LimitRefused extends ModelCallError {
  readonly limitName: TokenLimitName;

  constructor(thrown: SdkError, status: number, limitName: TokenLimitName, { who, secrets }: FailedCall) {
    const words = providerWords(thrown.responseBody ?? '', secrets);
    super(`${who} answered ${status}, and is sent ${limitName} from now on: ${words}`, {
      status,
      isRetryable: true,
      isFatal: false,
      retryAfterMs: 0,
      hint: `Set maxTokensParameter to '${limitName}'.`,
    });
    this.limitName = limitName;
  }
}

/** What a refusal says that the limit of a reply is called, if it does. */
export function wantedLimitName({ responseBody = '' }: SdkError, status: number): TokenLimitName | undefined {
  if (status !== 400 && status !== 422) return undefined;
  if (/use ['"`\\]{0,3}max_completion_tokens/i.test(responseBody)) return 'max_completion_tokens';
  return responseBody.includes('max_completion_tokens') && REFUSED.test(responseBody) ? 'max_tokens' : undefined;
}
