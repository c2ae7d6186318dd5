import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import {
  type AgentRunner,
  type ChatModel,
  type PromptName,
  type PromptOverrides,
  parseConfig,
  type RolloutResult,
  type RolloutRunner,
  type SkillOptConfig,
} from '../core/contracts/index.ts';
import type { Progress } from '../core/run/index.ts';
import { loadPrompts } from './ask/prompts.ts';
import type { RolloutCache } from './rollout/rollout-memory.ts';

/** What a stage may reach for. Anything else a stage needs is in its input. */
export type StageDeps = Readonly<ReturnType<typeof stageSettings>> & {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  /** Scores what no rule can. */
  readonly judge: ChatModel | undefined;
  /** For environments whose tasks an agent with tools attempts. */
  readonly agent: AgentRunner | undefined;
  /** Makes the attempts, instead of this process. */
  readonly runner: RolloutRunner | undefined;
  readonly limit: Limit;
  readonly stop: Stop;
  readonly prompts: Readonly<Record<PromptName, string>>;
  /** Scored rollouts by content, if they are kept. */
  readonly rollouts: RolloutCache | undefined;
  /** Where environments keep finished work that has no score yet. */
  readonly workFolder: string | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  /** An estimate: models have other tokenizers. */
  readonly countTokens: (text: string) => number | Promise<number>;
  /** `phase` only where it is not the stage that usually comes next. */
  readonly onProgress: (done: number, total: number, result?: Progress['result'], phase?: Progress['phase']) => void;
  /** Is notified of each new attempt whose environment threw. */
  readonly onThrown: (result: RolloutResult) => void;
  /** Is notified of each reply of the optimizer: with its text if it could not be read. */
  readonly onAnswer: (stage: string, unreadable?: string) => void;
};

type StageDepsOptions = Partial<Omit<StageDeps, 'limit' | 'prompts'>> & {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly workers?: number;
  readonly promptOverrides?: PromptOverrides;
};

/** Deps for stages that are used alone: two models, and defaults. */
export function createStageDeps(given: StageDepsOptions): StageDeps {
  const config = parseConfig();
  const { workers = config.workers, promptOverrides = {}, ...options } = given;
  const { stop = createStop(), extras = {} } = options;
  return {
    judge: undefined,
    agent: undefined,
    runner: undefined,
    rollouts: undefined,
    workFolder: undefined,
    // A stage alone has no tokenizer: four characters a token is usual for English.
    countTokens: (text) => Math.ceil(text.length / 4),
    ...stageSettings(config),
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

/** Attempts that are made in several passes or waves count as one piece of work: its progress never goes back. */
export function countedTogether(deps: StageDeps, planned: number): StageDeps {
  let made = 0;
  const onProgress: StageDeps['onProgress'] = (_done, _total, ...about) => {
    made += 1;
    deps.onProgress(made, Math.max(made, planned), ...about);
  };
  return { ...deps, onProgress };
}

/** The same deps for work of a phase that does not usually come next: progress names it. */
export const inPhase = (deps: StageDeps, phase: Progress['phase']): StageDeps => ({
  ...deps,
  onProgress: (done, total, result) => deps.onProgress(done, total, result, phase),
});

export function stageSettings(config: SkillOptConfig) {
  const { callTimeoutMs, rolloutTimeoutMs, maxErroredShare, maxTrajectoryTokens } = config;
  const { optimizerContextTokens, optimizerMaxCompletionTokens, rewriteMaxCompletionTokens } = config;
  return {
    ...{ callTimeoutMs, rolloutTimeoutMs, maxErroredShare, maxTrajectoryTokens },
    ...{ optimizerContextTokens, optimizerMaxCompletionTokens, rewriteMaxCompletionTokens },
  };
}

/** Slots shared by everything that a run does at the same time. */
interface Limit {
  run<R>(work: () => Promise<R>): Promise<R>;
  /** Answers in the order of `items`. After a failure nothing new starts; what runs is waited for, then it throws. */
  map<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]>;
}

/** At most `workers` pieces of work at once, over all calls together. Work that fails stops the run. */
export function createLimit(workers: number, stop: Stop): Limit {
  const slot = pLimit(workers);
  const guarded = async <R>(work: () => Promise<R>): Promise<R> => {
    stop.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      stop.halt(error);
      throw error;
    }
  };
  return {
    run: (work) => slot(() => guarded(work)),
    async map(items, work) {
      const running = items.map((item, index) => slot(() => guarded(() => work(item, index))));
      await Promise.allSettled(running); // replies that are on their way get kept, whatever happened to others
      stop.signal.throwIfAborted();
      return Promise.all(running);
    },
  };
}

/** `Promise.all` that waits for every one first: replies that are on their way get kept, whatever happened to others. */
export async function settleAll<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }>;
}

/** How a run ends early: nothing new starts; calls in flight may finish, but not for long. */
export interface Stop extends Disposable {
  /** Aborted as soon as the run should stop: start nothing, end every wait. */
  readonly signal: AbortSignal;
  /** Aborted `drainMs` later: give up on what is still in flight. */
  readonly abandon: AbortSignal;
  /** Stops the run because of `error`. The first reason stays. */
  halt(error: unknown): void;
}

/** A stop that follows `signal`. Replies that are already paid for get `drainMs` to arrive and be kept. */
export function createStop(signal?: AbortSignal, drainMs = 10_000): Stop {
  const [soft, hard] = [new AbortController(), new AbortController()];
  setMaxListeners(0, soft.signal, hard.signal); // every call in flight listens, and that is no leak
  let timer: NodeJS.Timeout | undefined;
  const halt = (error: unknown) => {
    if (soft.signal.aborted) return;
    soft.abort(error);
    timer = setTimeout(() => hard.abort(error), drainMs);
    timer.unref();
  };
  const follow = () => halt(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow);
  return {
    signal: soft.signal,
    abandon: hard.signal,
    halt,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    },
  };
}

type Timed = Pick<StageDeps, 'stop' | 'rolloutTimeoutMs'>;

const timedOut = ({ rolloutTimeoutMs }: Timed) => new Error(`timed out after ${rolloutTimeoutMs / 1000} s`);

type Deadline = Disposable & {
  readonly signal: AbortSignal;
  readonly expiry: Promise<never>;
  /** The task has its whole time again. */
  restart(): void;
};

/** `signal` fires when the time of a task is up or the run gives up; `expiry` rejects at the same moment, with what `late` makes. */
export function createDeadline(timed: Timed, late = () => timedOut(timed)): Deadline {
  const { stop, rolloutTimeoutMs } = timed;
  const controller = new AbortController();
  let reject: (reason: unknown) => void = () => {};
  const expiry = new Promise<never>((_, no) => {
    reject = no;
  });
  expiry.catch(() => {}); // a task that ended in time does not wait for it
  const end = (reason: unknown) => {
    reject(reason); // first: what a task answers to its abort is too late to count
    controller.abort(reason);
  };
  const abandon = () => end(stop.abandon.reason);
  const timer = setTimeout(() => end(late()), rolloutTimeoutMs);
  stop.abandon.addEventListener('abort', abandon);
  return {
    signal: controller.signal,
    expiry,
    restart: () => void timer.refresh(),
    [Symbol.dispose]() {
      clearTimeout(timer);
      stop.abandon.removeEventListener('abort', abandon);
    },
  };
}
