import type { FinishReason, Usage } from '../core/contracts/index.ts';

export type AgentCliName =
  | 'claude-cli'
  | 'codex-cli'
  | 'copilot-cli'
  | 'cursor-cli'
  | 'gemini-cli'
  | 'opencode-cli'
  | 'pi-cli'
  | 'qwen-cli';

/** Variables of a process. `undefined` takes one away that would be inherited. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A program as it is run, and the name it was found by. */
export type Located = { readonly path: string; readonly foundAt: string };

/** One question to an agent CLI. */
export type AgentCall = {
  readonly model: string | undefined;
  /** Empty when the request has no system message. */
  readonly system: string;
  readonly conversation: string;
  /** A private folder of this call, with an empty `work` in it, in which the CLI runs. */
  readonly folder: string;
  /** What the CLI would see if the user started it. */
  readonly env: Environment;
  /** Where the user's own settings and sign-in are. */
  readonly userHome: string;
};

/** How a CLI is started for a call. */
export type Invocation = {
  readonly args: readonly string[];
  readonly input: string;
  readonly env?: Environment;
  /** Texts to write, by path in the call's folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** The user's credential files that the CLI may read and renew, by path in the call's folder. */
  readonly links?: Readonly<Record<string, string>>;
  /** Where in the call's folder the CLI keeps its logs, when they tell more than what it prints. */
  readonly logs?: string;
};

export type AgentOutput = { readonly stdout: string; readonly stderr: string };

/** A CLI's own words about a call that failed. */
export type AgentRefusal = { readonly failure: string; readonly status?: number | undefined };

/** What a CLI's output says. Its exit code says less: some fail with 0. */
export type AgentAnswer =
  | { readonly text: string; readonly usage: Usage; readonly finishReason?: FinishReason }
  | AgentRefusal;

/** One agent CLI: how to get it, sign in, ask it, and read it. */
export type AgentCli = {
  readonly name: AgentCliName;
  readonly binary: string;
  readonly installCommand: string;
  readonly signInCommand: string;
  /** Names of the caller's variables that are this CLI's settings and keys; a star at the end stands for any rest. */
  variables(caller: { readonly env: Environment; readonly model: string | undefined }): readonly string[];
  /** Where it keeps its sign-in, when that is a file: one of them being there tells as much as can be told without a call. */
  signInFiles?(caller: Pick<AgentCall, 'env' | 'userHome'>): readonly string[];
  invoke(call: AgentCall): Invocation;
  /** `undefined` when the output holds neither an answer nor a failure. */
  read(output: AgentOutput): AgentAnswer | undefined;
  /**
   * What a line, printed or logged while the CLI still runs, says of a refused try that the CLI is about to repeat. It is
   * ended then: retrying is ours, and some CLIs retry for minutes without a word. Not needed where a setting turns it off.
   */
  refusalIn?(line: string): AgentRefusal | undefined;
};
