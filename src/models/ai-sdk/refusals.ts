import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { ModelCallError, PromptTooLongError } from '../../core/contracts/index.ts';
import type { TokenLimitName } from '../http/endpoint.ts';
import { type FailedCall, providerWords, type SdkError } from './provider-words.ts';

/** How providers say that a prompt does not fit. */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size|prompt is too long|string_above_max_length|context (length|limit|size|window)|exceeds? the maximum number of tokens|longer than the maximum model length|tokens exceed the configured limit/i;

/** A prompt larger than the tokens of a whole minute: waiting would not help. */
const LARGER_THAN_ALLOWED = /request too large/i;

export function isPromptTooLong({ responseBody = '' }: SdkError, status: number): boolean {
  if (status === 413) return true;
  if (status === 429) return LARGER_THAN_ALLOWED.test(responseBody);
  return (status === 400 || status === 422 || status === 500) && TOO_LONG.test(responseBody);
}

/** The tokens of the prompt, in the words of OpenAI, Anthropic, Google, vLLM, llama.cpp and their kin. */
const PROMPT_TOKENS = [
  /prompt is too long: (\d+)/i,
  /context limit: (\d+) \+/i,
  /token count \((\d+)\)/i,
  /resulted in (\d+) tokens/i,
  /\((\d+) in the messages/i,
  /requested (?:about )?(\d+) tokens/i,
  /(?:has|passed) (\d+) input tokens/i,
  /prompt \(length (\d+)\)/i,
  /(?:prompt|request) (?:contains|\() ?(\d+) tokens/i,
  /"n_prompt_tokens" ?: ?(\d+)/,
  /\brequested:? (\d+)/i,
  /(?<!\d)(\d+)(?: tokens)? > \d+/,
];

const MAX_TOKENS = [
  /> (\d+) maximum/i,
  /\+ \d+ > (\d+)/,
  /allowed \((\d+)\)/i,
  /context length (?:is|of)(?: only)? (\d+)/i,
  /limit of (\d+) tokens/i,
  /maximum model length of (\d+)/i,
  /context size \((\d+)/i,
  /"n_ctx" ?: ?(\d+)/,
  /\blimit:? (\d+)/i,
];

/** The error, with the provider's sizes where it names them, and else with an estimate of ours. */
export function promptTooLong(
  { responseBody = '' }: SdkError,
  status: number,
  { who, secrets }: FailedCall,
  { prompt }: LanguageModelV3CallOptions,
): PromptTooLongError {
  const plain = responseBody.replace(/(\d),(?=\d{3}\b)/g, '$1');
  const promptTokens = findNumber(plain, PROMPT_TOKENS);
  const maxTokens = findNumber(plain, MAX_TOKENS);
  const size = promptTokens === undefined ? estimate(prompt) : `${promptTokens} tokens`;
  const limit = maxTokens === undefined ? '' : `, and ${maxTokens} are allowed`;
  const words = providerWords(responseBody, secrets);
  const message = `${who}: the prompt is too long for the model: ${size}${limit} (${status}${words && `: ${words}`})`;
  return new PromptTooLongError(message, { status, promptTokens, maxTokens });
}

function findNumber(text: string, patterns: readonly RegExp[]): number | undefined {
  const found = patterns.map((pattern) => pattern.exec(text)?.[1]).find((digits) => digits !== undefined);
  return found === undefined ? undefined : Number(found);
}

/** English text has about four characters to a token. */
function estimate(prompt: LanguageModelV3CallOptions['prompt']): string {
  const texts = prompt.flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')),
  );
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return `${characters} characters, or about ${Math.ceil(characters / 4)} tokens`;
}

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
