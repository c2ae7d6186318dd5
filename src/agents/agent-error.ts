import { CREDIT_HINT, isOutOfCredit, ModelCallError } from '../core/contracts/index.ts';
import { maskKeys, SHORTEST_IN_MESSAGE } from '../core/guard/index.ts';
import type { AgentCli, Environment } from './agent-cli.ts';

type AgentFailure = {
  readonly cli: AgentCli;
  readonly id: string;
  readonly words: string;
  readonly status?: number | undefined;
  readonly env: Environment;
};

const MAX_LENGTH = 300;
/** How much of a long text is searched. */
const MAX_READ = 8_000;
const SHORTEST_SECRET = 8;

const SIGN_IN =
  /not (?:logged|signed) in|log ?in\b|sign ?in|authenticat|unauthori[sz]ed|api key|auth (?:type|method)|credential/i;
const MODEL = /model\b.{0,200}(?:not found|not exist|not available|unavailable|not supported|no access)|unknown model/i;
const VERSION = /unknown (?:option|argument|flag)|unexpected argument|too old|newer version|please (?:update|upgrade)/i;

/** What a CLI said instead of an answer, as an error: what failed, whether another try can help, and otherwise the remedy. */
export function agentError({ cli, id, env, ...failure }: AgentFailure): ModelCallError {
  const words = failure.words.slice(0, MAX_READ);
  const status = failure.status ?? statusIn(words);
  const passing = isPassing(status) ? undefined : remedyFor(cli, words, status);
  const remedy = isOutOfCredit(words) ? CREDIT_HINT : passing;
  const shown = shorten(mask(failure.words, env).slice(0, MAX_READ));
  return new ModelCallError(`${id}: ${shown || 'ended without an answer'}`, {
    status,
    ...(remedy === undefined ? {} : { isRetryable: false, isFatal: true, hint: remedy }),
  });
}

const BUSY = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'ETXTBSY'];
const NEVER = ['EACCES', 'EISDIR', 'ELOOP', 'ENOENT', 'ENOEXEC', 'ENOTDIR', 'EPERM', 'EROFS'];

/** For a CLI that was not asked: the program did not start, or there is no folder for it. */
export function startError(cause: unknown, { id, env }: Pick<AgentFailure, 'id' | 'env'>): ModelCallError {
  const { code = '', message = String(cause) } = cause as NodeJS.ErrnoException;
  return new ModelCallError(`${id} could not be started: ${shorten(mask(withoutValue(message), env))}`, {
    isRetryable: BUSY.includes(code),
    isFatal: NEVER.includes(code),
    cause,
  });
}

/** Node quotes an argument or a variable that it refuses. */
const withoutValue = (message: string) => message.split('. Received ')[0]!;

function remedyFor(cli: AgentCli, words: string, status: number | undefined): string | undefined {
  if (VERSION.test(words)) return `Update ${cli.binary}: ${cli.installCommand}`;
  if (status === 404 || MODEL.test(words)) return `Name a model that ${cli.binary} offers to your account.`;
  if (status === 401 || status === 403 || SIGN_IN.test(words)) return `Sign in again: ${cli.signInCommand}`;
  return undefined;
}

/** Values of variables that hold keys must not be in messages, also of those that the CLI was not given. */
const mask = (words: string, env: Environment): string =>
  Object.entries(env)
    .filter(([name, value = '']) => /KEY|TOKEN|SECRET/i.test(name) && value.length >= SHORTEST_SECRET)
    .reduce(
      (text, [, value]) => text.replaceAll(value!, '…'),
      maskKeys(words, SHORTEST_IN_MESSAGE, () => '…'),
    );

function shorten(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1)}…`;
}

const NUMBER = /(?:^|status:? |HTTP |Error: |\()([45]\d\d)\b/;

/** Words of CLIs that leave the number out. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too many requests/i, 429],
  [/internal server error/i, 500],
  [/overloaded|service unavailable/i, 503],
];

/** The HTTP status in a CLI's words about a refused call. */
export function statusIn(words: string): number | undefined {
  const number = NUMBER.exec(words)?.[1];
  return number === undefined ? WORDS.find(([pattern]) => pattern.test(words))?.[1] : Number(number);
}

/** Whether another try can help. */
export const isPassing = (status = 0) => [408, 409, 425, 429].includes(status) || status >= 500;
