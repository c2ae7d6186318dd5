import { join } from 'node:path';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  ModelCallError,
  PromptTooLongError,
  requireTexts,
  SkillError,
} from '../core/contracts/index.ts';
import type { AgentCli, AgentOutput, AgentRefusal, Environment } from './agent-cli.ts';
import { type AgentCliName, agentClis } from './agent-clis.ts';
import { agentError, startError } from './agent-error.ts';
import { flattenMessages } from './cli-parts.ts';
import { callerVariables, homeIn, locate, type Whereabouts } from './detect-agents.ts';
import { childEnvironment, openCallFolder, runProcess } from './run-process.ts';

export type AgentChatOptions = Whereabouts & {
  /** As the CLI spells it. Without one, the CLI's own default. */
  readonly model?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Names of further variables of the caller that the CLI gets. */
  readonly passEnv?: readonly string[] | undefined;
};

type CliCall = { readonly cli: AgentCli; readonly id: string; readonly env: Environment };

/**
 * Chat through an installed agent CLI with the user's sign-in: one process per call, without tools, in an empty folder, with
 * only the variables that it needs, without the user's instructions. CLIs take neither a temperature nor a token limit: those
 * of a request have no effect.
 */
export function agentChat(options: AgentChatOptions): ChatModel {
  const { model, timeoutMs = 600_000 } = options;
  const cli = agentClis[options.cli];
  const call = { cli, id: `${options.cli}:${model ?? 'default'}`, env: callerVariables(options) };
  if (model !== undefined) requireModelName(model, options.cli);
  return {
    id: call.id,
    async complete({ messages, signal: own }) {
      own?.throwIfAborted();
      requireTexts(messages, call.id);
      const timeout = AbortSignal.timeout(timeoutMs);
      const refused = new AbortController();
      const signal = AbortSignal.any([timeout, refused.signal, ...(own === undefined ? [] : [own])]);
      /** Ends the CLI when a line says that it is about to repeat a refused call. */
      const onLine = (line: string) => {
        const refusal = cli.refusalIn?.(line);
        if (refusal !== undefined) refused.abort(toError(refusal, call));
      };
      try {
        return toReply(await ask(messages, { ...call, options, signal, onLine: cli.refusalIn && onLine }), call);
      } catch (error) {
        if (timeout.aborted && signal.reason === timeout.reason)
          throw new ModelCallError(`${call.id} gave no answer within ${timeoutMs / 1000} s`, { isRetryable: true });
        throw signal.aborted || error instanceof SkillError ? error : startError(error, call);
      }
    },
  };
}

/** A CLI would read such a name as an option, or cannot be given it at all. */
function requireModelName(model: string, cli: AgentCliName): void {
  if (!/^-|\p{Cc}/u.test(model)) return;
  const message = `${cli}: a model's name has no "-" at its start and no control characters, got ${JSON.stringify(model)}`;
  throw new SkillError('CONFIG_INVALID', message, { hint: `Name one as ${agentClis[cli].binary} spells it.` });
}

type Asking = CliCall & {
  readonly options: AgentChatOptions;
  readonly signal: AbortSignal;
  readonly onLine: ((line: string) => void) | undefined;
};

async function ask(messages: readonly ChatMessage[], asking: Asking): Promise<AgentOutput> {
  const { cli, id, env, options, signal, onLine } = asking;
  const { model, passEnv, inherited = process.env } = options;
  const program = locate(options);
  await using folder = await openCallFolder();
  const userHome = homeIn(env);
  const invocation = cli.invoke({ ...flattenMessages(messages), model, folder: folder.path, env, userHome });
  const { args, input, logs } = invocation;
  for (const argument of args) requireArgument(argument, id);
  await folder.furnish(invocation);
  const allowed = childEnvironment({ cli, model, program, inherited, passEnv });
  return await runProcess({
    file: program.path,
    name: program.foundAt,
    args,
    input,
    cwd: folder.work,
    env: { ...allowed, ...options.env, NO_COLOR: '1', CI: '1', ...invocation.env },
    signal,
    onLine,
    logs: logs && join(folder.path, logs),
  });
}

/** The longest argument that every system takes, with room to spare: Linux refuses one of 128 KiB. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Only a prompt can be that long. */
function requireArgument(argument: string, id: string): void {
  const bytes = Buffer.byteLength(argument);
  if (bytes > MAX_ARGUMENT_BYTES) {
    const sizes = `of at most ${MAX_ARGUMENT_BYTES / 1000} kB; this one has ${Math.ceil(bytes / 1000)} kB`;
    throw new PromptTooLongError(`${id} takes its prompt as an argument ${sizes}`);
  }
  if (argument.includes('\0')) {
    const message = `${id} takes its prompt as an argument, which cannot hold the character U+0000 that this one has`;
    throw new ModelCallError(message, { isRetryable: false, hint: 'Take it out of the task or the skill.' });
  }
}

const toError = ({ failure, status }: AgentRefusal, call: CliCall) => agentError({ ...call, words: failure, status });

function toReply(output: AgentOutput, call: CliCall): ChatReply {
  const answer = call.cli.read(output) ?? { failure: lastWords(output) };
  if ('failure' in answer) throw toError(answer, call);
  const { text, usage, finishReason = 'stop' } = answer;
  if (text.trim() === '') throw new ModelCallError(`${call.id} sent a reply without text`, { isRetryable: true });
  return { text, usage, finishReason };
}

/** A program prints why it gave up at the end, or above its usage. */
function lastWords({ stdout, stderr }: AgentOutput): string {
  const [complaint = '', usage] = (stderr.trim() || stdout.trim()).split(/^Usage:/m).map((part) => part.trim());
  return complaint === '' && usage !== undefined ? 'unknown option: it printed its usage' : complaint.slice(-300);
}
