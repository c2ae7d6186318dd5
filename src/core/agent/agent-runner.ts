import type { Usage } from '../model.ts';
import type { AgentLimits } from './agent-limits.ts';
import type { WorkspaceView } from './workspace.ts';

/** A skill as agents load it: SKILL.md and what lies beside it, by path. */
export type SkillPackage = {
  readonly files: Readonly<Record<string, string>>;
  /** What is no text. It is installed with the rest, and never edited. */
  readonly binaries?: Readonly<Record<string, Uint8Array>>;
};

export type AgentRunRequest = {
  /** The agent may change it. */
  readonly workspace: WorkspaceView;
  readonly prompt: string;
  readonly skills: readonly SkillPackage[];
  readonly limits: AgentLimits;
  /** Which part of a run asks. For accounting. */
  readonly stage?: string;
  /** Which draw: runs with another index are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal;
  /** Told of each step when it comes. */
  readonly onStep?: ((step: AgentStep) => void) | undefined;
  /** Told before each call of its model passes, and when what one has used is known; only by a runner that `tellsSpending`. */
  readonly onSpend?: ((spending: AgentSpending) => void) | undefined;
  /** Whether a step is all that was waited for: the run then ends there, as one that is done. */
  readonly until?: ((step: AgentStep) => boolean) | undefined;
};

/** What a run has spent by now. */
export type AgentSpending = {
  readonly calls: number;
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
  /** With the most that calls in flight may take. */
  readonly most: { readonly totalTokens: number; readonly costUsd: number };
};

/** What an agent did, in order. `id` joins a call and its result. */
export type AgentStep =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly tool: string; readonly input: unknown }
  | { readonly type: 'tool-result'; readonly id: string; readonly output: string; readonly isError: boolean }
  | { readonly type: 'skill-loaded'; readonly name: string };

/** A skill that the agent's model was told of. */
export type OfferedSkill = {
  readonly name: string;
  /** How much of its description it was told: all, a beginning, or nothing but the name. Unknown where only names can be seen. */
  readonly description?: 'whole' | 'cut' | 'none';
};

/** Why a run ended. A limit that was reached is a result, not an outage, and so is an agent that ends its own program. */
export type AgentEnd = 'done' | 'timeout' | 'turns' | 'budget' | 'resources' | 'killed';

export const END_WORDS: Readonly<Record<AgentEnd, string>> = {
  done: 'it said that it was done',
  timeout: 'its time was up',
  turns: 'it had used all its turns',
  budget: 'it had spent what it may',
  resources: 'it reached its limit of memory, processes or disk',
  killed: 'its program was killed from inside the sandbox',
};

export type AgentRun = {
  /** Its last words. */
  readonly text: string;
  readonly ended: AgentEnd;
  /** What the limit was, where one ended it. */
  readonly endReason?: string;
  /** Calls of its model. */
  readonly turns: number;
  readonly steps: readonly AgentStep[];
  readonly skillsOffered: readonly OfferedSkill[];
  /** Names of the skills that it loaded, each once. */
  readonly skillsLoaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd?: number;
  /** Other models than its own that it asked for, and was refused: how often, by name. */
  readonly modelsRefused?: Readonly<Record<string, number>>;
};

/** What can be seen of an agent's work, and what can be limited. */
export type AgentCapabilities = {
  /** Whether there is an event that tells of loading a skill, or it is told by the files that the agent reads. */
  readonly seesLoading: 'event' | 'reads';
  readonly seesOffers: boolean;
  readonly limitsTurns: boolean;
};

/**
 * How an agent's model knows whose calls they are: by a key that stays outside of the sandbox; not at all, at an address of the
 * user's; by a file or a variable of the agent's own; perhaps by a keyring, which cannot be seen; or by nothing that was found.
 */
export type AgentSignIn = 'key' | 'address' | 'file' | 'variable' | 'unseen' | 'none';

/** Which program does the work, and where. */
export type AgentAbout = {
  readonly agent: string;
  /** `unknown` where the program does not say. */
  readonly version: string;
  readonly path: string;
  readonly model?: string;
  readonly sandbox: string;
  readonly signIn: AgentSignIn;
};

/** An agent with tools and a workspace: to environments for agents what a `ChatModel` is to those for chat. */
export interface AgentRunner {
  /** Agent, version, model, sandbox and all that changes what it does: rollouts are cached under it. */
  readonly id: string;
  /** Whose rate limit its calls count against, as of a `ChatModel`. */
  readonly account?: string;
  /** What prices are listed under. */
  readonly modelName?: string;
  readonly capabilities?: AgentCapabilities;
  /** Whether none of its model's calls passes before `onSpend` was told of it. */
  readonly tellsSpending?: boolean;
  /** Absent where it is no program of this machine. */
  readonly about?: AgentAbout;
  /** Throws `ModelCallError` when its model could not be reached, and the signal's reason when it is aborted. */
  run(request: AgentRunRequest): Promise<AgentRun>;
}
