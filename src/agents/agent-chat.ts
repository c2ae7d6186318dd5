import { homedir } from 'node:os';
import { ModelCallError } from '../core/errors.ts';
import type { ChatModel, ChatReply, ChatRequest } from '../core/model.ts';
import type { AgentAnswer, AgentCli, AgentOutput, Environment } from './agent-cli.ts';
import { agentClis } from './agent-clis.ts';
import { agentError } from './agent-error.ts';
import { openCallFolder } from './call-folder.ts';
import { flattenMessages } from './flatten-messages.ts';
import { requireInstalled, type Whereabouts } from './require-installed.ts';
import { runProcess } from './run-process.ts';

export type AgentChatOptions = Whereabouts & {
  /** As the CLI spells it. Without one, the CLI's own default. */
  readonly model?: string | undefined;
  readonly timeoutMs?: number | undefined;
};

/**
 * Chat through an installed agent CLI with the user's sign-in: one process per call, without tools, in an empty folder,
 * without the user's instructions. CLIs take neither temperature nor a token limit, so those of a request have no effect.
 */
export function agentChat(options: AgentChatOptions): ChatModel {
  const { model, timeoutMs = 600_000 } = options;
  const id = `${options.cli}:${model ?? 'default'}`;
  const cli = agentClis[options.cli];
  const env = { ...process.env, ...options.env };
  return {
    id,
    async complete(request) {
      request.signal?.throwIfAborted();
      const file = requireInstalled(options);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([timeout, ...(request.signal === undefined ? [] : [request.signal])]);
      try {
        const output = await ask({ cli, file, model, env, signal }, request);
        return toReply(cli.read(output), { cli, id, env, output });
      } catch (error) {
        if (timeout.aborted && !request.signal?.aborted) throw timeoutError(id, timeoutMs);
        throw error;
      }
    },
  };
}

type Asking = {
  readonly cli: AgentCli;
  readonly file: string;
  readonly model: string | undefined;
  readonly env: Environment;
  readonly signal: AbortSignal;
};

async function ask({ cli, file, model, env, signal }: Asking, { messages }: ChatRequest): Promise<AgentOutput> {
  await using folder = await openCallFolder();
  const userHome = env.HOME ?? homedir();
  const invocation = cli.invoke({ ...flattenMessages(messages), model, folder: folder.path, env, userHome });
  await folder.furnish(invocation);
  return await runProcess({
    file,
    args: invocation.args,
    input: invocation.input,
    cwd: folder.work,
    env: { ...env, NO_COLOR: '1', CI: '1', ...invocation.env },
    signal,
  });
}

type Answered = {
  readonly cli: AgentCli;
  readonly id: string;
  readonly env: Environment;
  readonly output: AgentOutput;
};

function toReply(answer: AgentAnswer | undefined, { cli, id, env, output }: Answered): ChatReply {
  if (answer === undefined) throw agentError({ cli, id, env, words: lastWords(output) });
  if ('failure' in answer) throw agentError({ cli, id, env, words: answer.failure, status: answer.status });
  const { text, usage, finishReason = 'stop' } = answer;
  if (text.trim() === '') throw new ModelCallError(`${id} sent a reply without text`, { isRetryable: true });
  return { text, usage, finishReason };
}

/** The end of what was printed for people, where a program says why it gave up. */
const lastWords = ({ stdout, stderr }: AgentOutput) => (stderr.trim() || stdout.trim()).slice(-300);

function timeoutError(id: string, timeoutMs: number): ModelCallError {
  return new ModelCallError(`${id} gave no answer within ${timeoutMs / 1000} s`, { isRetryable: true });
}
