/*
 * Training a run, in order; `train.ts` has the algorithm. Facts are committed to the journal, and `reduce` alone makes state of them.
 * Start: tasks are read and checked. Then, before any model call, `requireSameRun` compares settings, tasks, skill, prompts, models
 * and environment with the first line of the journal: RUN_MISMATCH. Only OPERATIONAL_KEYS may differ: workers, time-outs, retries,
 * and the limits of calls, tokens, dollars and minutes; `maxRollouts` may not. Opening the store takes `run.lock` (RUN_LOCKED while
 * its process lives; that of a dead one is taken over) and cuts off a torn last line. With --fresh the store looks empty until it is
 * opened, which moves the old run to PATH.old-N first. The new run uses the replies that the old one has paid for.
 * Overlaps: without a limit, some stages begin before their turn (`ahead.ts`). Facts keep their order, and no call is added.
 * Resume: the Recorder folds the journal up to its last checkpoint: a `step-end`, or an event outside of steps. A step that was cut
 * off is taken again from its rollout on. The caches answer what was paid, and an event that comes out as before is not written twice.
 * Limits: each model call reserves the most that it may cost; a limit of minutes also ends calls in flight. Where the search may not
 * spend that much, or its minutes are over (BUDGET_EXHAUSTED), the step stays unfinished, and `withReserve` measures the best skill so
 * far by the part kept back for it, of minutes too (`final-measurement-end`), unless that is the seed. There is no prune and no test.
 * The ledger notes the limit and what to raise it to, the views are written, and the error is thrown: a higher limit resumes the run.
 * Failures: a task whose model calls fail after all retries has no score; more than `maxErroredShare` of these in a stage end the run.
 * A failed call of the optimizer ends it at once, as does one that every other call would repeat, such as a refused key. After Ctrl-C
 * nothing new starts, and calls in flight get 10 s to arrive and be kept. In each case the next start resumes the run.
 */
import { rm } from 'node:fs/promises';
import {
  asBegun,
  type Item,
  noTarget,
  type PromptOverrides,
  parseConfig,
  type SkillOptConfig,
} from '../core/contracts/index.ts';
import { trainsPackage } from '../core/document/index.ts';
import {
  addStageUsage,
  describeUnread,
  isNothingRead,
  noticing,
  type OpenRunStore,
  type RunEvent,
  type RunStore,
  type RunSummary,
  summarize,
  type TestLook,
} from '../core/run/index.ts';
import { type LimitReached, whyFewer } from '../models/index.ts';
import { createStop, readFirst, type StageDeps, type Stop } from '../pipeline/index.ts';
import { runDirectory } from '../stores/index.ts';
import { createAhead } from './ahead.ts';
import { advisedLimit, requireRollouts } from './budget/rollouts-left.ts';
import { sizeWords } from './budget/validation-size.ts';
import { createReserve, keepLimit } from './budget/with-reserve.ts';
import { notify, Recorder } from './record/recorder.ts';
import { createFileUse } from './record/tallies.ts';
import type { TrainerOptions } from './run.ts';
import { createRunDeps } from './setup/create-deps.ts';
import { describeStart, requireRule, requireSameRun, type Start, skillCap } from './setup/run-identity.ts';
import { loadRunItems, type RunItems, requireImageReader, withEnv } from './setup/run-items.ts';
import { train } from './train.ts';

const NOTHING_READ =
  'No reply of the optimizer could be read: nothing was learned. Use a model that answers with JSON as it is asked.';

const VERBOSE_IGNORED = '"verbose" is ignored: the library is silent, observers are notified of what happens.';

type OpenedRun = {
  readonly store: OpenRunStore;
  readonly journal: readonly RunEvent[];
  readonly warnings: string[];
  readonly stop: Stop;
  /** Where money runs out, the search alone is stopped. */
  readonly finalStop: Stop;
};

/**
 * Trains a skill document for a frozen model.
 *
 * `train()` starts a run in `config.outRoot`, or resumes the one that is there and pays for nothing twice.
 * It throws before anything is written when the input is not usable.
 */
export class SkillOptTrainer<I extends Item = Item> {
  readonly #options: TrainerOptions<I>;
  #config: SkillOptConfig;
  readonly #store: RunStore;

  constructor(options: TrainerOptions<I>) {
    this.#options = options;
    this.#config = parseConfig(options.config);
    this.#store = options.store ?? runDirectory(this.#config.outRoot ?? `runs/${options.env.name}`);
  }

  async train(): Promise<RunSummary> {
    const { env, target, runner } = this.#options;
    try {
      requireImageReader(env, target);
      return await withEnv(env, this.#config, () => this.#trainInStore());
    } finally {
      await runner?.close?.();
    }
  }

  async #trainInStore(): Promise<RunSummary> {
    const known = await this.#store.read();
    if (known[0]?.type === 'run-start') this.#config = asBegun(this.#config, known[0].config);
    const items = await loadRunItems(this.#options.env, this.#config);
    requireRollouts(this.#config, items);
    requireRule(this.#options.gate, this.#config);
    const own = { config: this.#config, items, promptOverrides: this.#promptOverrides };
    const start = await describeStart({ ...this.#options, ...own });
    requireSameRun(this.#store, start, known); // before anything on disk is touched
    const onWarning = (message: string) => notify(this.#options.observers ?? [], 'onWarning', message);
    const store = await this.#store.open({ maxCacheMb: this.#config.maxCacheMb, onWarning });
    return closing(store, async () => {
      const journal = await this.#store.read();
      requireSameRun(this.#store, start, journal);
      return this.#run(start, items, store, journal);
    });
  }

  async #run(start: Start, items: RunItems, store: OpenRunStore, journal: readonly RunEvent[]): Promise<RunSummary> {
    const { env, gate: rule, observers = [], signal, budget: shared } = this.#options;
    const first = readFirst(start.initialSkill, { isPackage: trainsPackage(this.#config) });
    const cap = await skillCap(this.#config, first);
    const warnings = [...this.#warnings(items), ...cap.warnings];
    for (const warning of warnings) notify(observers, 'onWarning', warning);
    using stop = createStop(signal);
    using finalStop = createStop(signal);
    const wired = this.#wire({ store, journal, warnings, stop, finalStop });
    const { recorder, deps, finalDeps, budget, warn, fileUse } = wired;
    if (!shared) for (const why of whyFewer(budget.forRollouts, this.#config.workers)) warn(why);
    await recorder.refreshViews();
    const state = journal.length === 0 ? await recorder.commit(start) : recorder.state;
    await recorder.written(); // before anything is paid for, it is known that the run can be written
    const config = { ...this.#config, maxSkillTokens: cap.maxSkillTokens };
    const reserve = createReserve({ config, items, budget, deps: finalDeps });
    const lookAtTest = async (look: TestLook) => {
      await recorder.written(); // a look cannot be taken back, so the measured skills must be safe
      return store.lookAtTest!(look);
    };
    const { commit, keepAttempts } = recorder;
    const ahead = createAhead(deps, budget.forRollouts);
    const looking = { lookAtTest: store.lookAtTest && lookAtTest };
    const run = { config, env, items, rule, deps, ahead, commit, keepAttempts, ...looking, reserve, warn };
    const advise = (error: LimitReached) => advisedLimit(error, recorder.state, { config, items });
    const end = await train(state, run).catch(keepLimit({ store, shared, advise })).finally(recorder.close);
    if (store.caches.workFolder) await rm(store.caches.workFolder, { recursive: true, force: true });
    if (isNothingRead(end.answers)) warn(NOTHING_READ);
    // Attempts before a resume are not seen again.
    const unused = trainsPackage(config) && journal.length === 0 ? fileUse.warning(end.best.skill) : undefined;
    const unread = describeUnread(end.usage.rollout ?? {}, config.parts);
    for (const warning of [unused, unread]) if (warning !== undefined) warn(warning);
    return summarize(end, { outRoot: this.#store.name, warnings });
  }

  /** The deps of the stages and the recorder, which use each other. */
  #wire({ store, journal, warnings, stop, finalStop }: OpenedRun) {
    const { target = noTarget, optimizer, judge, agent, runner, observers = [], budget: shared } = this.#options;
    const warn = (message: string) => {
      warnings.push(message);
      recorder.warn(message);
    };
    const fileUse = createFileUse();
    const onProgress: StageDeps['onProgress'] = (...progress) => {
      fileUse.note(progress[2]);
      recorder.progress(...progress);
    };
    const watching = [...observers, noticing((notice) => store.noteNotice?.(notice))];
    const counted = journal.reduce((sum, { usage }) => addStageUsage(sum, usage), {});
    const { deps, depsUnder, budget, takeCounts, takeAnswers, usageWith } = createRunDeps({
      ...{ config: this.#config, promptOverrides: this.#promptOverrides, target, optimizer, judge, agent, runner },
      ...{ caches: store.caches, ledger: store.ledger, shared, observers: watching, stop, onWarning: warn, onProgress },
      usage: counted,
      uncounted: store.ledger?.reconcile(counted) ?? {}, // the next line of the journal counts it
    });
    const onFailure = (error: unknown) => {
      for (const each of [stop, finalStop]) each.halt(error);
    };
    const counts = { takeCounts, takeAnswers, usageWith };
    const recorder = new Recorder({ store, outRoot: this.#store.name, journal, observers, ...counts, onFailure });
    const finalDeps = depsUnder(finalStop, (done, total, result) =>
      recorder.progressOf('final measurement', done, total, result),
    );
    return { recorder, deps, finalDeps, budget, warn, fileUse };
  }

  #warnings(items: RunItems): string[] {
    const { evalTest, testSplit, verbose, maxRollouts } = this.#config;
    const fitted = sizeWords(items, maxRollouts);
    const untested = `The ${testSplit} split is empty: the result will not be tested.`;
    return [
      ...(this.#options.env.warnings ?? []),
      ...(fitted === undefined ? [] : [fitted]),
      ...(evalTest && items.test.length === 0 ? [untested] : []),
      ...(verbose === undefined ? [] : [VERBOSE_IGNORED]),
    ];
  }

  get #promptOverrides(): PromptOverrides {
    return { ...this.#options.env.prompts, ...this.#options.promptOverrides };
  }
}

/** Like `await using`, but throws the first failure: on a full disk closing fails too, which would hide the cause. */
async function closing<Answer>(store: OpenRunStore, work: () => Promise<Answer>): Promise<Answer> {
  const answer = await work().catch(async (error) => {
    await Promise.resolve(store[Symbol.asyncDispose]()).catch(() => undefined);
    throw error;
  });
  await store[Symbol.asyncDispose]();
  return answer;
}
