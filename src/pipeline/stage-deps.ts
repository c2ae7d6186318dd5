import {
  type AgentRunner,
  type ChatModel,
  type PromptName,
  type PromptOverrides,
  parseConfig,
  type RolloutResult,
  type RolloutRunner,
} from '../core/contracts/index.ts';
import type { Progress } from '../core/run/index.ts';
import { loadPrompts } from './ask/prompts.ts';
import { createLimit, type Limit } from './limit.ts';
import type { RolloutCache } from './rollout/rollout-memory.ts';
import { createStop, type Stop } from './stop.ts';

/** What a stage may reach for. Anything else a stage needs is in its input. */
export type StageDeps = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  /** Scores what no rule can, for environments that want one. */
  readonly judge: ChatModel | undefined;
  /** For environments whose tasks an agent with tools attempts. */
  readonly agent: AgentRunner | undefined;
  /** Makes the attempts, if it is not this process. */
  readonly runner: RolloutRunner | undefined;
  readonly limit: Limit;
  readonly stop: Stop;
  readonly prompts: Readonly<Record<PromptName, string>>;
  /** Scored rollouts by content, if they are kept. */
  readonly rollouts: RolloutCache | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  /** Tokens of a text, as near as one tokenizer can tell for another. */
  readonly countTokens: (text: string) => number | Promise<number>;
  readonly optimizerMaxCompletionTokens: number;
  readonly rewriteMaxCompletionTokens: number;
  /** Most tokens of trajectories in one prompt, and of the prompt with its reply. */
  readonly maxTrajectoryTokens: number;
  readonly optimizerContextTokens: number;
  readonly callTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  readonly maxErroredShare: number;
  /** `phase` where a stage is not what usually comes next. */
  readonly onProgress: (done: number, total: number, result?: Progress['result'], phase?: Progress['phase']) => void;
  /** Told of each attempt just made whose environment threw. */
  readonly onThrown: (result: RolloutResult) => void;
  /** Told of each reply of the optimizer: with its text if it could not be read. */
  readonly onAnswer: (stage: string, unreadable?: string) => void;
};

type StageDepsOptions = Partial<Omit<StageDeps, 'limit' | 'prompts'>> & {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly workers?: number;
  readonly promptOverrides?: PromptOverrides;
};

/** Deps for stages used alone: two models, and a default for everything else. */
export function createStageDeps(given: StageDepsOptions): StageDeps {
  const config = parseConfig();
  const { workers = config.workers, promptOverrides = {}, ...options } = given;
  const { stop = createStop(), extras = {} } = options;
  return {
    judge: undefined,
    agent: undefined,
    runner: undefined,
    rollouts: undefined,
    // A stage alone has no tokenizer: four characters a token is usual for English.
    countTokens: (text) => Math.ceil(text.length / 4),
    optimizerMaxCompletionTokens: config.optimizerMaxCompletionTokens,
    rewriteMaxCompletionTokens: config.rewriteMaxCompletionTokens,
    maxTrajectoryTokens: config.maxTrajectoryTokens,
    optimizerContextTokens: config.optimizerContextTokens,
    callTimeoutMs: config.callTimeoutMs,
    rolloutTimeoutMs: config.rolloutTimeoutMs,
    maxErroredShare: config.maxErroredShare,
    onProgress: () => {},
    onThrown: () => {},
    onAnswer: () => {},
    ...options,
    extras,
    stop,
    limit: createLimit(workers, stop),
    prompts: loadPrompts(promptOverrides, extras),
  };
}
