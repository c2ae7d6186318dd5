import type { McpOptions } from './opening.ts';

export type Facts = Readonly<Record<string, unknown>>;

/** What an act knows of its call. */
export type ToolContext = McpOptions & {
  readonly signal: AbortSignal;
  /** The person has said yes to the question of this call. */
  readonly isAgreed: boolean;
  readonly wasAsked: boolean;
  readonly canAsk: boolean;
};
/** Facts, or a question for the person before the act. */
export type Answer = { readonly facts: Facts } | { readonly ask: string };
