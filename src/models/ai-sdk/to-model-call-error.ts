import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { CREDIT_HINT, isOutOfCredit, ModelCallError, noUsage, PromptTooLongError } from '../../core/contracts/index.ts';
import type { Endpoint, TokenLimitName } from '../endpoint.ts';
import { type FailedCall, providerWords } from './provider-words.ts';
import { noteRateLimit, retryAfterMs } from './rate-limit-headers.ts';

/** The parts of the SDK's errors that are read here. They also hold the whole prompt, which must not be passed on. */
type SdkError = {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly responseBody?: string;
  readonly isRetryable?: boolean;
};

/** What the SDK throws over a reply that lacks its parts. */
const MANGLED = /^AI_(InvalidResponseData|NoContentGenerated|EmptyResponseBody|JSONParse)Error$/;

/** What it throws before anything is sent. */
const UNASKED =
  /^AI_(LoadAPIKey|LoadSetting|InvalidArgument|InvalidPrompt|NoSuchModel|TypeValidation|UnsupportedFunctionality)Error$/;

/** More than any refusal needs. Some servers send the prompt back, and every pattern here would search it. */
const MAX_BODY_LENGTH = 64_000;

/**
 * What the SDK or the connection threw, as a `ModelCallError` that says which model failed, how, and what to do about it.
 * It holds neither secrets nor the prompt, so the original error is not its cause.
 */
export function toModelCallError(error: unknown, call: FailedCall, sent: LanguageModelV3CallOptions): ModelCallError {
  if (error instanceof ModelCallError) return error;
  const thrown = (error ?? {}) as SdkError;
  const { name = '', message = '', statusCode: status, responseHeaders: headers } = thrown;
  const body = (thrown.responseBody ?? '').slice(0, MAX_BODY_LENGTH);
  if (status !== undefined && status >= 300) {
    return noteRateLimit(refusedCall({ status, body, message, headers }, call, sent), headers);
  }
  if (status !== undefined || MANGLED.test(name)) {
    const isEmpty = name === 'AI_EmptyResponseBodyError' || (status !== undefined && body.trim() === '');
    return unreadableReply({ status: status ?? 200, body, message, isEmpty }, call);
  }
  if (!UNASKED.test(name)) return brokenConnection(thrown, call);
  const details = { isRetryable: false, isFatal: true };
  return new ModelCallError(`${call.who} could not be asked: ${providerWords(message)}`, details);
}

type BadReply = { readonly status: number; readonly body: string; readonly message: string };
type RefusedCall = BadReply & { readonly headers: SdkError['responseHeaders'] };

function refusedCall(refusal: RefusedCall, call: FailedCall, sent: LanguageModelV3CallOptions): ModelCallError {
  const { status } = refusal;
  if (isUnpaid(refusal)) return unpaidCall(refusal, call);
  if (isPromptTooLong(refusal)) return promptTooLong(refusal, call, sent.prompt);
  if (sent.responseFormat && isFormatRefusal(refusal)) return new FormRefused(refusal, call);
  const limitName = wantedLimitName(refusal);
  if (limitName && call.endpoint) return new FormRefused(refusal, call, limitName);
  return new ModelCallError(answered(refusal, call), {
    status,
    retryAfterMs: retryAfterMs(refusal.headers),
    ...refusalHint(refusal, call),
  });
}

function answered({ status, body, message }: BadReply, { who }: FailedCall): string {
  const words = providerWords(body || message);
  return `${who} answered ${status}${words && `: ${words}`}`;
}

/** A broken reply may speak of money too, so with a status of success only a body that begins as an error counts. */
function isUnpaid({ status, body }: BadReply): boolean {
  const beginning = body.slice(0, 4_000);
  if (status === 200) return /^\s*\{\s*"(?:error|base_resp)"/.test(beginning) && isOutOfCredit(beginning);
  return status === 402 || ([400, 403, 429].includes(status) && isOutOfCredit(beginning));
}

function unpaidCall(refusal: BadReply, call: FailedCall): ModelCallError {
  const details = { status: refusal.status, isRetryable: false, isFatal: true, hint: CREDIT_HINT };
  return new ModelCallError(answered(refusal, call), details);
}

function refusalHint({ status, headers }: RefusedCall, call: FailedCall): { hint?: string } {
  const { endpoint, path = '', apiKeyVariable } = call;
  const host = endpoint?.name.split('/')[0] ?? 'this provider';
  const isWithoutKey = endpoint !== undefined && Object.keys(endpoint.headers).length === 0;
  if (status < 400) return { hint: redirectHint(headers?.location ?? '', path) };
  if (status === 401 || status === 403) return { hint: isWithoutKey ? noKeyHint(host) : keyHint(host, apiKeyVariable) };
  if (status === 404 && path === '') return { hint: 'Check the name of the model.' };
  if (status === 404) return { hint: `Check the model name, and the base URL: ${path} is added to it.` };
  return {};
}

/** Without query and credentials, which may be secret. */
function redirectHint(location: string, path: string): string {
  const { origin, pathname } = URL.canParse(location) ? new URL(location) : {};
  if (origin === undefined) return 'The server sends calls elsewhere. Use the address it redirects to as base URL.';
  return `The server sends calls to ${origin}${pathname}. Use that as base URL, without ${path || 'its last part'}.`;
}

function keyHint(host: string, variable: string | undefined): string {
  if (variable === undefined) return `Check the variable that holds the API key for ${host}.`;
  return `Check ${variable}, which holds the API key for ${host}. The setting apiKeyEnv names another variable.`;
}

const noKeyHint = (host: string) =>
  `No key was sent to ${host}. Write the model as a block that names the variable of its key: { provider: …, model: …, baseURL: …, apiKeyEnv: MY_KEY }.`;

type UnreadableReply = BadReply & { readonly isEmpty: boolean };

/** A status of success with a body that is no chat completion. Gateways do this while a server restarts. */
function unreadableReply(reply: UnreadableReply, call: FailedCall): ModelCallError {
  if (isUnpaid(reply)) return unpaidCall(reply, call);
  const words = providerWords(reply.body);
  const what = reply.isEmpty ? 'an empty reply' : `no readable chat completion${words && `: ${words}`}`;
  return new ModelCallError(`${call.who} sent ${what}`, {
    status: reply.status,
    isRetryable: true,
    ...unreadableHint(reply, call.endpoint),
  });
}

function unreadableHint({ isEmpty, body }: UnreadableReply, endpoint: Endpoint | undefined): { hint?: string } {
  if (isEmpty) return { hint: 'The reply was empty: check the base URL, and any proxy on the way.' };
  if (!/^\s*</.test(body)) return {};
  return { hint: `${endpoint?.baseURL ?? 'The address'} answered with a web page, not as an API: check the base URL.` };
}

/** Codes of connections that broke after they were open. */
const BREAK = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;
/** Codes of connections that never opened: nothing was sent, so nothing is billed. */
const NO_CONNECTION = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_/;
const NOT_SECURE = /EPROTO|ERR_SSL/;
const UNSENDABLE = /ERR_INVALID|ERR_UNESCAPED|UND_ERR_INVALID_ARG/;

/** The error for a call that got no answer, or only a part of one. */
function brokenConnection(thrown: SdkError, call: FailedCall): ModelCallError {
  const { code, message } = findFault(thrown);
  const words = message.includes(code) ? message : `${message} (${code})`;
  const event = BREAK.test(code) ? 'broke off the connection' : 'could not be reached';
  const isLasting = [UNTRUSTED, NOT_SECURE, UNSENDABLE].some((pattern) => pattern.test(code));
  return new ModelCallError(`${call.who} ${event}: ${providerWords(words)}`, {
    isRetryable: code === '' ? thrown.isRetryable === true : !isLasting,
    ...(NO_CONNECTION.test(code) || isLasting ? { usage: noUsage } : {}),
    ...connectionHint(code, call.endpoint),
  });
}

/** The system's code and message, which fetch and the SDK bury under causes. */
function findFault({ code, message = '', cause }: SdkError): { code: string; message: string } {
  const here = { code: typeof code === 'string' ? code : '', message };
  if (typeof cause !== 'object' || cause === null) return here;
  const deeper = findFault(cause);
  return deeper.code === '' && here.code !== '' ? here : deeper;
}

function connectionHint(code: string, endpoint: Endpoint | undefined): { hint?: string } {
  const { baseURL = 'its address', proxy } = endpoint ?? {};
  if (proxy !== undefined) return { hint: `The call went through the proxy ${hostOf(proxy)}. NO_PROXY exempts hosts.` };
  if (code === 'ECONNREFUSED') return { hint: `Is the server running at ${baseURL}?` };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { hint: `Check the network, and the host in ${baseURL}.` };
  if (NOT_SECURE.test(code)) return { hint: 'Does the server speak https? If not, the base URL begins with http:' };
  if (UNTRUSTED.test(code)) return { hint: 'Name the file of your own certificate authority in NODE_EXTRA_CA_CERTS.' };
  return {};
}

const hostOf = (proxy: string) => (URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names');

/** How providers say that a prompt does not fit. */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size|prompt is too long|string_above_max_length|context (length|limit|size|window)|exceeds? the maximum number of tokens|longer than the maximum model length|tokens exceed the configured limit/i;

/** A prompt larger than the tokens of a whole minute: waiting would not help. */
const LARGER_THAN_ALLOWED = /request too large/i;

function isPromptTooLong({ status, body }: BadReply): boolean {
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
function promptTooLong({ status, body }: BadReply, call: FailedCall, prompt: Prompt): PromptTooLongError {
  const plain = body.replace(/(\d),(?=\d{3}\b)/g, '$1');
  const promptTokens = findNumber(plain, PROMPT_TOKENS);
  const maxTokens = findNumber(plain, MAX_TOKENS);
  const size = promptTokens === undefined ? estimate(prompt) : `${promptTokens} tokens`;
  const limit = maxTokens === undefined ? '' : `, and ${maxTokens} are allowed`;
  const words = providerWords(body);
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

  constructor({ status, body }: BadReply, { who }: FailedCall, limitName?: TokenLimitName) {
    const what = limitName
      ? `${status}, and is sent ${limitName} from now on`
      : `${status} to a schema for its reply, and is asked in words from now on`;
    super(`${who} answered ${what}: ${providerWords(body)}`, {
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

const isFormatRefusal = ({ status, body }: BadReply): boolean => isBadRequest(status) && SCHEMA_WORDS.test(body);

/** The name of the token limit that a refusal asks for. */
function wantedLimitName({ status, body }: BadReply): TokenLimitName | undefined {
  if (!isBadRequest(status)) return undefined;
  if (/use ['"`\\]{0,3}max_completion_tokens/i.test(body)) return 'max_completion_tokens';
  return body.includes('max_completion_tokens') && REFUSED.test(body) ? 'max_tokens' : undefined;
}
