import type { Usage } from './model.ts';

/** What a run of an agent may use up. */
export type AgentLimits = {
  readonly timeoutMs: number;
  readonly maxTurns?: number;
  readonly maxUsd?: number;
  readonly maxTokens?: number;
};

/** A skill as agents load it: SKILL.md and what lies beside it, text by path. */
export type SkillPackage = { readonly files: Readonly<Record<string, string>> };

export type AgentRunRequest = {
  /** A folder of its own, which the agent may change. */
  readonly workspace: string;
  readonly prompt: string;
  readonly skills: readonly SkillPackage[];
  readonly limits: AgentLimits;
  /** Which draw: runs with another index are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal;
};

/** What an agent did, in order. */
export type AgentStep =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly tool: string; readonly input: unknown }
  | { readonly type: 'tool-result'; readonly tool: string; readonly output: string };

export type AgentRun = {
  /** Its last words. */
  readonly text: string;
  /** Why it ended. A limit that was reached is a result, not an outage. */
  readonly ended: 'done' | 'timeout' | 'turns' | 'budget';
  readonly turns: number;
  readonly steps: readonly AgentStep[];
  /** Names of the skills that it was offered, and of those that it loaded. */
  readonly skillsOffered: readonly string[];
  readonly skillsLoaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd?: number;
};

/** An agent with tools and a workspace: to environments for agents what a `ChatModel` is to those for chat. */
export interface AgentRunner {
  /** Agent, version, model and all that changes what it does: rollouts are cached under it. */
  readonly id: string;
  /** Throws `ModelCallError` when its model could not be reached, and the signal's reason when it is aborted. */
  run(request: AgentRunRequest): Promise<AgentRun>;
}
