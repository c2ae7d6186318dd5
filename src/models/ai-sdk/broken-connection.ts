import { ModelCallError, noUsage } from '../../core/contracts/index.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { FailedCall, SdkError } from './failed-call.ts';
import { providerWords } from './provider-words.ts';

/** Codes of connections that were there before. */
const BREAK = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_/;
const NOT_SECURE = /EPROTO|ERR_SSL/;
const UNSENDABLE = /ERR_INVALID|ERR_UNESCAPED|UND_ERR_INVALID_ARG/;

/** Codes of connections that never were: nothing was sent, so nothing is billed. */
const NO_CONNECTION = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** Failures that another try would meet again. */
const LASTING = [UNTRUSTED, NOT_SECURE, UNSENDABLE];

/** The error for a call that got no answer, or only a part of one. */
export function brokenConnection(thrown: SdkError, call: FailedCall): ModelCallError {
  const { code, message } = findFault(thrown);
  const words = message.includes(code) ? message : `${message} (${code})`;
  const event = BREAK.test(code) ? 'broke off the connection' : 'could not be reached';
  return new ModelCallError(`${call.who} ${event}: ${providerWords(words, call.secrets)}`, {
    isRetryable: code === '' ? thrown.isRetryable === true : !LASTING.some((pattern) => pattern.test(code)),
    ...(NO_CONNECTION.test(code) || LASTING.some((pattern) => pattern.test(code)) ? { usage: noUsage } : {}),
    ...connectionHint(code, call.endpoint),
  });
}

/** The system's own name and words for what went wrong, which fetch and the SDK bury under causes. */
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

function hostOf(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names';
}
