import { join } from 'node:path';
import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  ModelCallError,
  PromptTooLongError,
  SkillError,
} from '../core/contracts/index.ts';
import type { AgentAnswer, AgentCli, AgentOutput, AgentRefusal, Environment, Located } from './agent-cli.ts';
import { type AgentCliName, agentClis } from './agent-clis.ts';
import { agentError, startError } from './agent-error.ts';
import { openCallFolder } from './call-folder.ts';
import { childEnvironment } from './child-environment.ts';
import { flattenMessages } from './flatten-messages.ts';
import { callerVariables, homeIn, locate, type Whereabouts } from './require-installed.ts';
import { runProcess } from './run-process.ts';

export type AgentChatOptions = Whereabouts & {
  /** As the CLI spells it. Without one, the CLI's own default. */
  readonly model?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Names of further variables of the caller that the CLI gets. */
  readonly passEnv?: readonly string[] | undefined;
};

/**
 * Chat through an installed agent CLI with the user's sign-in: one process per call, without tools, in an empty folder, with
 * only the variables that it needs, without the user's instructions. CLIs take neither a temperature nor a token limit: those
 * of a request have no effect.
 */
export function agentChat(options: AgentChatOptions): ChatModel {
  const { model, timeoutMs = 600_000 } = options;
  const id = `${options.cli}:${model ?? 'default'}`;
  if (model !== undefined) requireModelName(model, options.cli);
  const cli = agentClis[options.cli];
  const env = callerVariables(options);
  return {
    id,
    async complete(request) {
      request.signal?.throwIfAborted();
      const program = locate(options);
      const timeout = AbortSignal.timeout(timeoutMs);
      const refused = watchForRefusal({ cli, id, env });
      const signals = [timeout, refused.signal, ...(request.signal === undefined ? [] : [request.signal])];
      const signal = AbortSignal.any(signals);
      try {
        const output = await ask({ options, id, program, env, signal, onLine: refused.onLine }, request);
        return toReply(cli.read(output), { cli, id, env, output });
      } catch (error) {
        if (timeout.aborted && signal.reason === timeout.reason) throw timeoutError(id, timeoutMs);
        throw signal.aborted || error instanceof SkillError ? error : startError(error, { id, env });
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

type CliCall = {
  readonly options: AgentChatOptions;
  readonly id: string;
  readonly program: Located;
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
};

async function ask(call: CliCall, { messages }: ChatRequest): Promise<AgentOutput> {
  const { options, id, program, env, signal, onLine } = call;
  const { model, passEnv, inherited = process.env } = options;
  const cli = agentClis[options.cli];
  await using folder = await openCallFolder();
  const userHome = homeIn(env);
  const invocation = cli.invoke({ ...flattenMessages(messages), model, folder: folder.path, env, userHome });
  const allowed = childEnvironment({ cli, model, program, inherited, passEnv });
  for (const argument of invocation.args) requireArgument(argument, id);
  await folder.furnish(invocation);
  return await runProcess({
    file: program.path,
    name: program.foundAt,
    args: invocation.args,
    input: invocation.input,
    cwd: folder.work,
    env: { ...allowed, ...options.env, NO_COLOR: '1', CI: '1', ...invocation.env },
    signal,
    onLine: cli.refusalIn && onLine,
    logs: invocation.logs && join(folder.path, invocation.logs),
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

type CliOfCall = { readonly cli: AgentCli; readonly id: string; readonly env: Environment };

/** A signal that ends the CLI, with the error as its reason, once a line tells of a try that it is about to repeat. */
function watchForRefusal(of: CliOfCall) {
  const controller = new AbortController();
  const onLine = (line: string) => {
    const refusal = of.cli.refusalIn?.(line);
    if (refusal !== undefined) controller.abort(toError(refusal, of));
  };
  return { signal: controller.signal, onLine };
}

const toError = ({ failure, status }: AgentRefusal, of: CliOfCall) => agentError({ ...of, words: failure, status });

function toReply(answer: AgentAnswer | undefined, { output, ...of }: CliOfCall & { output: AgentOutput }): ChatReply {
  if (answer === undefined) throw toError({ failure: lastWords(output) }, of);
  if ('failure' in answer) throw toError(answer, of);
  const { text, usage, finishReason = 'stop' } = answer;
  if (text.trim() === '') throw new ModelCallError(`${of.id} sent a reply without text`, { isRetryable: true });
  return { text, usage, finishReason };
}

/** A program prints why it gave up at the end, or above its usage. */
function lastWords({ stdout, stderr }: AgentOutput): string {
  const [complaint = '', usage] = (stderr.trim() || stdout.trim()).split(/^Usage:/m).map((part) => part.trim());
  return complaint === '' && usage !== undefined ? 'unknown option: it printed its usage' : complaint.slice(-300);
}

function timeoutError(id: string, timeoutMs: number): ModelCallError {
  return new ModelCallError(`${id} gave no answer within ${timeoutMs / 1000} s`, { isRetryable: true });
}
