import type { AgentCapabilities, AgentEnd, AgentLimits, AgentStep, Usage } from '../../core/contracts/index.ts';
import type { AgentCliName, AgentRefusal, Environment } from '../agent-cli.ts';

export type AgentName = 'claude' | 'codex' | 'copilot' | 'cursor' | 'gemini' | 'opencode' | 'pi' | 'qwen';

/** What a CLI tells of its work, in order. */
export type AgentEvent =
  | AgentStep
  | { readonly type: 'skill-offered'; readonly name: string }
  /** All that was used so far, or what one more call used. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly costUsd?: number | undefined; readonly isTotal: boolean }
  | { readonly type: 'end'; readonly ended: AgentEnd; readonly text?: string | undefined }
  | { readonly type: 'failure'; readonly refusal: AgentRefusal };

/** Reads one line that a CLI prints. Remembers what earlier lines said. */
export type EventReader = (line: string) => readonly AgentEvent[];

/** One piece of work for a CLI. Paths are as the CLI sees them. */
export type AgentJob = {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly home: string;
  readonly workspace: string;
  /** Where its model is asked, when that is a gateway of ours; without one the CLI asks its provider with the user's sign-in. */
  readonly modelUrl: string | undefined;
  /** Whether something of ours keeps it from the rest of the machine; otherwise its own sandbox stays on, if it has one. */
  readonly isSandboxed: boolean;
  readonly limits: AgentLimits;
};

/** How a CLI is started. */
export type Launch = {
  readonly args: readonly string[];
  readonly env?: Environment;
  /** Texts to write, by path in its home. */
  readonly files?: Readonly<Record<string, string>>;
};

/** Whom a CLI asks for its model when nothing else is said, and the key that it would use. */
export type Provider = {
  readonly baseURL: string;
  readonly key: string | undefined;
  /** How the key is sent. */
  readonly auth: 'bearer' | 'x-api-key' | 'x-goog-api-key';
};

/** One agent CLI at work: with tools, in a workspace, with skills where it looks for them. */
export type AgentProgram = {
  readonly name: AgentName;
  /** The same CLI as chat knows it: its program, how to install it and how to sign in. */
  readonly cli: AgentCliName;
  /** Where folders of skills go: below its home, and below the workspace. */
  readonly skillFolders: { readonly user: string; readonly project: string };
  readonly capabilities: AgentCapabilities;
  /** Programs that it cannot work without and does not bring along. */
  readonly needs?: readonly string[];
  /**
   * Files and folders of a workspace by which a repository has it run programs, where no setting of ours turns that off.
   * They are kept from it.
   */
  readonly hidden?: readonly string[];
  /** The longest description that its model is told whole, where there is such a limit. */
  readonly longestDescription?: number;
  /** Whether a skill with a longer one is not told of at all. Otherwise it is cut there. */
  readonly dropsLonger?: boolean;
  /** Variables that `provider` takes a key from. */
  readonly keyVariables: readonly string[];
  /** By the caller's variables. Without a key there may be a sign-in. */
  provider(env: Environment, model: string | undefined): Provider;
  /** The user's sign-in, by path in the CLI's home. */
  signIn?(caller: { readonly env: Environment; readonly userHome: string }): Readonly<Record<string, string>>;
  /** Systems on which it may keep that in a keyring, where nobody sees it. */
  readonly keyrings?: readonly NodeJS.Platform[];
  launch(job: AgentJob): Launch;
  /** For a run in which skills of these names are installed. */
  reader(skills: readonly string[]): EventReader;
};

/** What a CLI gets in place of a key. The gateway knows the real one. */
export const NO_KEY = 'held-by-skillopt';
