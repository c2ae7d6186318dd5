import type { FinishReason, Usage } from '../core/model.ts';

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
};

export type AgentOutput = { readonly stdout: string; readonly stderr: string };

/** What a CLI's output says. Its exit code says less: some fail with 0. */
export type AgentAnswer =
  | { readonly text: string; readonly usage: Usage; readonly finishReason?: FinishReason }
  | { readonly failure: string; readonly status?: number | undefined };

/** One agent CLI: how to get it, sign in, ask it, and read it. */
export type AgentCli = {
  readonly name: AgentCliName;
  readonly binary: string;
  readonly installCommand: string;
  readonly signInCommand: string;
  invoke(call: AgentCall): Invocation;
  /** `undefined` when the output holds neither an answer nor a failure. */
  read(output: AgentOutput): AgentAnswer | undefined;
};
