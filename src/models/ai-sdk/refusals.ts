import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { ModelCallError, PromptTooLongError } from '../../core/contracts/index.ts';
import type { TokenLimitName } from '../http/endpoint.ts';
import { type FailedCall, providerWords } from './provider-words.ts';

/** The HTTP status and the body of an answer that refuses a call. */
type Refusal = { readonly status: number; readonly body: string };

/** How providers say that a prompt does not fit. */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size|prompt is too long|string_above_max_length|context (length|limit|size|window)|exceeds? the maximum number of tokens|longer than the maximum model length|tokens exceed the configured limit/i;

/** A prompt larger than the tokens of a whole minute: waiting would not help. */
const LARGER_THAN_ALLOWED = /request too large/i;

export function isPromptTooLong({ status, body }: Refusal): boolean {
  if (status === 413) return true;
  if (status === 429) return LARGER_THAN_ALLOWED.test(body);
  return [400, 422, 500].includes(status) && TOO_LONG.test(body);
}

/** The tokens of the prompt, in the words of OpenAI, Anthropic, Google, vLLM, llama.cpp and others. */
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

type Prompt = LanguageModelV3CallOptions['prompt'];

/** The error with the provider's sizes where it names them, and otherwise with our estimate. */
export function promptTooLong({ status, body }: Refusal, call: FailedCall, prompt: Prompt): PromptTooLongError {
  const plain = body.replace(/(\d),(?=\d{3}\b)/g, '$1');
  const promptTokens = findNumber(plain, PROMPT_TOKENS);
  const maxTokens = findNumber(plain, MAX_TOKENS);
  const size = promptTokens === undefined ? estimate(prompt) : `${promptTokens} tokens`;
  const limit = maxTokens === undefined ? '' : `, and ${maxTokens} are allowed`;
  const words = providerWords(body, call.secrets);
  const reason = `${size}${limit} (${status}${words && `: ${words}`})`;
  return new PromptTooLongError(`${call.who}: the prompt is too long for the model: ${reason}`, {
    status,
    promptTokens,
    maxTokens,
  });
}

function findNumber(text: string, patterns: readonly RegExp[]): number | undefined {
  const found = patterns.map((pattern) => pattern.exec(text)?.[1]).find((digits) => digits !== undefined);
  return found === undefined ? undefined : Number(found);
}

/** English text has about four characters to a token. */
function estimate(prompt: Prompt): string {
  const texts = prompt.flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')),
  );
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return `${characters} characters, or about ${Math.ceil(characters / 4)} tokens`;
}

/** How providers speak of the schema that a call carried. */
const SCHEMA_WORDS =
  /response.?(format|schema|mime)|output.?(format|config)|structured.?output|json.?(schema|mode)|\bschema\b|guided|grammar/i;

const REFUSED = /unrecogni[sz]ed|unknown|unsupported|not supported|not permitted|unexpected|extra (?:input|field)/i;

/**
 * The provider refuses the form of the request: the schema for the reply, or, with a `limitName`, the name of the token
 * limit. The same request in another form is worth a try at once. It is made as a retry, because every attempt counts
 * against a budget.
 */
export class FormRefused extends ModelCallError {
  readonly limitName: TokenLimitName | undefined;

  constructor({ status, body }: Refusal, { who, secrets }: FailedCall, limitName?: TokenLimitName) {
    const what = limitName
      ? `${status}, and is sent ${limitName} from now on`
      : `${status} to a schema for its reply, and is asked in words from now on`;
    super(`${who} answered ${what}: ${providerWords(body, secrets)}`, {
      status,
      isRetryable: true,
      isFatal: false,
      retryAfterMs: 0,
      hint: limitName ? `Set maxTokensParameter to '${limitName}'.` : "Set structuredOutput to 'off' for this model.",
    });
    this.limitName = limitName;
  }
}

const isBadRequest = (status: number) => status === 400 || status === 422;

export function isFormatRefusal({ status, body }: Refusal): boolean {
  return isBadRequest(status) && SCHEMA_WORDS.test(body);
}

/** The name of the token limit that a refusal asks for. */
export function wantedLimitName({ status, body }: Refusal): TokenLimitName | undefined {
  if (!isBadRequest(status)) return undefined;
  if (/use ['"`\\]{0,3}max_completion_tokens/i.test(body)) return 'max_completion_tokens';
  return body.includes('max_completion_tokens') && REFUSED.test(body) ? 'max_tokens' : undefined;
}
