import type { AgentRunner } from '../core/agent-runner.ts';
import { parseConfig, type SkillOptConfig, type SkillOptConfigInput } from '../core/config.ts';
import type { Item, SkillEnv } from '../core/env.ts';
import type { ChatModel } from '../core/model.ts';
import type { PromptOverrides } from '../core/prompt-name.ts';
import type { RolloutRunner } from '../core/rollout-runner.ts';
import type { RunEvent, RunFact, SkillSource } from '../core/run/event.ts';
import type { RunObserver } from '../core/run/observer.ts';
import { reduce } from '../core/run/reduce/reduce.ts';
import { emptyRun } from '../core/run/run-state.ts';
import type { OpenRunStore, RunStore, TestLook } from '../core/run/run-store.ts';
import { isNothingRead } from '../core/run/stage-answers.ts';
import type { Bill } from '../core/run/stage-usage.ts';
import { type RunSummary, summarize } from '../core/run/summary.ts';
import { trainsMore, trainsPackage } from '../core/skill/skill-parts.ts';
import { hideSecrets } from '../core/text/hide-secrets.ts';
import type { Budget } from '../models/index.ts';
import { paidSince } from '../models/wrappers/with-reply-cache.ts';
import {
  createStop,
  loadPackagePrompts,
  loadPrompts,
  readFirst,
  type StageDeps,
  type Stop,
} from '../pipeline/index.ts';
import { runDirectory } from '../stores/index.ts';
import { createReserve, keepLimit } from './budget/create-reserve.ts';
import { requireRollouts } from './budget/rollouts-left.ts';
import { countSteps } from './plan.ts';
import { createFileUse } from './record/file-use.ts';
import { createRecorder, notify } from './record/recorder.ts';
import { createRunDeps } from './setup/create-deps.ts';
import { requireSameRun, runIdentity } from './setup/run-identity.ts';
import { loadRunItems, type RunItems } from './setup/run-items.ts';
import { withEnv } from './setup/with-env.ts';
import { requireReadable, skillCap } from './step/skill-cap.ts';
import { train } from './train.ts';

export type TrainerOptions<I extends Item = Item> = {
  readonly config?: SkillOptConfigInput;
  readonly env: SkillEnv<I>;
  /** The frozen agent whose skill is trained. */
  readonly target: ChatModel;
  /** The model that reads trajectories and proposes edits. */
  readonly optimizer: ChatModel;
  /** A model that scores what no rule can, for environments that ask one. */
  readonly judge?: ChatModel | undefined;
  /** An agent with tools, for environments that give it a workspace. */
  readonly agent?: AgentRunner | undefined;
  /** Makes the attempts of tasks somewhere else than in this process. */
  readonly runner?: RolloutRunner | undefined;
  /** The document to start from; else the environment's own; else an empty one. */
  readonly initialSkill?: string;
  /** The file that `initialSkill` was read from: the run remembers it, for `skillopt apply`. */
  readonly skillSource?: SkillSource | undefined;
  readonly promptOverrides?: PromptOverrides;
  readonly observers?: readonly RunObserver[];
  /** Stops the run: calls in flight may finish for ten seconds and are kept, then `train` rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Where the run is kept instead of in `config.outRoot`. */
  readonly store?: RunStore;
  /** Limits that it shares with other runs, in place of those of `config`. */
  readonly budget?: Budget | undefined;
};

const NOTHING_READ =
  'No reply of the optimizer could be read: nothing was learned. Use a model that answers with JSON as it is asked.';

type Start = Extract<RunFact, { type: 'run-start' }>;
type Wired = { readonly store: OpenRunStore; readonly journal: readonly RunEvent[]; readonly warnings: string[] };

/**
 * Trains a skill document for a frozen model.
 *
 * `train()` starts a run in `config.outRoot`, or resumes the one that is there and pays for nothing twice.
 * It throws before anything is written when the input is not usable.
 */
export class SkillOptTrainer<I extends Item = Item> {
  readonly #options: TrainerOptions<I>;
  readonly #config: SkillOptConfig;
  readonly #store: RunStore;

  constructor(options: TrainerOptions<I>) {
    this.#options = options;
    this.#config = parseConfig(options.config);
    this.#store = options.store ?? runDirectory(this.#config.outRoot ?? `runs/${options.env.name}`);
  }

  async train(): Promise<RunSummary> {
    return withEnv(this.#options.env, this.#config, () => this.#trainInStore());
  }

  async #trainInStore(): Promise<RunSummary> {
    const items = await loadRunItems(this.#options.env, this.#config);
    requireRollouts(this.#config, items);
    const start = await this.#describeStart(items);
    requireSameRun(this.#store, start, await this.#store.read()); // before anything on disk is touched
    const onWarning = (message: string) => notify(this.#options.observers ?? [], 'onWarning', message);
    const store = await this.#store.open({ maxCacheMb: this.#config.maxCacheMb, onWarning });
    return closing(store, async () => {
      const journal = await this.#store.read();
      requireSameRun(this.#store, start, journal);
      return this.#run(start, items, store, journal);
    });
  }

  async #run(start: Start, items: RunItems, store: OpenRunStore, journal: readonly RunEvent[]): Promise<RunSummary> {
    const { env, observers = [], signal, budget: shared } = this.#options;
    const first = readFirst(start.initialSkill, { isPackage: trainsPackage(this.#config) });
    const cap = await skillCap(this.#config, first);
    const warnings = [...this.#warnings(items), ...cap.warnings];
    for (const warning of warnings) notify(observers, 'onWarning', warning);
    using stop = createStop(signal);
    using finalStop = createStop(signal); // for want of money the search alone is stopped
    const { recorder, deps, finalDeps, budget, warn, fileUse } = this.#wire(
      { store, journal, warnings },
      stop,
      finalStop,
    );
    await recorder.refreshViews();
    const state = journal.length === 0 ? await recorder.commit(start) : recorder.state;
    await recorder.written(); // a place that cannot be written is known before anything is paid for
    const config = { ...this.#config, maxSkillTokens: cap.maxSkillTokens };
    const reserve = createReserve({ config, items, budget, deps: finalDeps });
    const lookAtTest = async (look: TestLook) => {
      await recorder.written(); // a look cannot be taken back, and what it looks at must not be lost
      return store.lookAtTest?.(look) ?? 1;
    };
    const run = { config, env, items, deps, commit: recorder.commit, lookAtTest, reserve, warn };
    const end = await train(state, run).catch(keepLimit(store, shared)).finally(recorder.close);
    if (isNothingRead(end.answers)) warn(NOTHING_READ);
    // Attempts of before a resume are not looked at again.
    const unused = trainsPackage(config) && journal.length === 0 ? fileUse.warning(end.best.skill) : undefined;
    if (unused !== undefined) warn(unused);
    return summarize(end, { outRoot: this.#store.name, warnings });
  }

  /** The stages' tools and the recorder, which know each other. */
  #wire({ store, journal, warnings }: Wired, stop: Stop, finalStop: Stop) {
    const { target, optimizer, judge, agent, runner, observers = [], budget: shared } = this.#options;
    const warn = (message: string) => {
      warnings.push(message);
      recorder.warn(message);
    };
    const fileUse = createFileUse();
    const onProgress: StageDeps['onProgress'] = (...progress) => {
      fileUse.note(progress[2]);
      recorder.progress(...progress);
    };
    const { deps, depsUnder, budget, ...takers } = createRunDeps({
      ...{ config: this.#config, promptOverrides: this.#promptOverrides, target, optimizer, judge, agent, runner },
      ...{ caches: store.caches, ledger: store.ledger, shared, observers, stop, onWarning: warn, onProgress },
      usage: journal.reduce(reduce, emptyRun).usage,
      uncounted: uncountedReplies(store, journal),
    });
    const onFailure = (error: unknown) => {
      for (const each of [stop, finalStop]) each.halt(error);
    };
    const recorder = createRecorder({ store, outRoot: this.#store.name, journal, observers, ...takers, onFailure });
    const finalDeps = depsUnder(finalStop, (done, total, result) =>
      recorder.progressOf('final measurement', done, total, result),
    );
    return { recorder, deps, finalDeps, budget, warn, fileUse };
  }

  async #describeStart(items: RunItems): Promise<Start> {
    const { env, target, optimizer, judge, agent, skillSource } = this.#options;
    const initialSkill = this.#options.initialSkill ?? (await env.getInitialSkill?.()) ?? '';
    requireReadable(initialSkill);
    const config = this.#config;
    const more = trainsMore(config) ? loadPackagePrompts() : {};
    const prompts = { ...loadPrompts(this.#promptOverrides, config.extras), ...more };
    return {
      type: 'run-start',
      format: 1,
      identity: runIdentity({ config, env, items, initialSkill, target, optimizer, judge, agent, prompts }),
      config: { ...config, extras: hideSecrets(config.extras) as SkillOptConfig['extras'] },
      env: env.name,
      target: target.id,
      optimizer: optimizer.id,
      initialSkill,
      ...(skillSource ? { skillSource } : {}),
      totalSteps: countSteps(config, items.train.length, items.val.length),
      items: { train: items.train.length, val: items.val.length, test: items.test.length },
      ...(env.drafts && env.drafts.drafted > 0 ? { drafts: env.drafts } : {}),
    };
  }

  #warnings(items: RunItems): string[] {
    const { evalTest, testSplit, verbose } = this.#config;
    return [
      ...(this.#options.env.warnings ?? []),
      ...(evalTest && items.test.length === 0
        ? [`The ${testSplit} split is empty: the result will not be tested.`]
        : []),
      ...(verbose === undefined
        ? []
        : ['"verbose" is ignored: the library is silent, observers are notified of what happens.']),
    ];
  }

  get #promptOverrides(): PromptOverrides {
    return { ...this.#options.env.prompts, ...this.#options.promptOverrides };
  }
}

/** As `await using`, but with the first failure: on a full disk closing fails too, and that is not what has happened. */
async function closing<Answer>(store: OpenRunStore, work: () => Promise<Answer>): Promise<Answer> {
  const answer = await work().catch(async (error) => {
    await Promise.resolve(store[Symbol.asyncDispose]()).catch(() => undefined);
    throw error;
  });
  await store[Symbol.asyncDispose]();
  return answer;
}

/** After a kill the cache holds replies that were paid for and of which no line tells. The next line counts them. */
function uncountedReplies({ caches }: OpenRunStore, journal: readonly RunEvent[]): Bill[] {
  const counted = journal.at(-1)?.counted; // none in a new run, or one of an earlier version
  return (counted === undefined ? undefined : paidSince(caches.replies, counted)) ?? [];
}
