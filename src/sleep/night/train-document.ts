import { isOutOfBudget, SkillError, type SkillOptConfigInput, type TextCache } from '../../core/contracts/index.ts';
import { readBlock } from '../../core/document/index.ts';
import {
  emptyRun,
  type OpenRunStore,
  type RunEvent,
  type RunObserver,
  type RunState,
  type RunStore,
  type RunSummary,
  reduce,
  summarize,
  toObservations,
  winnerMeasurement,
} from '../../core/run/index.ts';
import { PROOF_LOOKS } from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import { SkillOptTrainer } from '../../train/index.ts';
import { repeated } from '../dream/contrast.ts';
import { foreseeing } from '../handoff/foresee.ts';
import { sleepEnv, type Trained } from '../replay/sleep-env.ts';
import type { Proposal } from '../staging/proposal.ts';
import { type DocumentNight, metricOf } from './cycle-input.ts';
import { searchBudget } from './night-limits.ts';
import { type Proof, prove, REPORT_PASSES } from './prove.ts';

export type TrainedDocument = {
  readonly trained: Trained;
  readonly named: string;
  readonly baseBlock: string;
  /** The text that won the search; `baseBlock` if none did. */
  readonly block: string;
  readonly summary: RunSummary;
  readonly state: RunState;
  readonly proof: Proof | undefined;
  readonly isTaken: boolean;
  /** Scores of the training tasks under the document as it was, by id. */
  readonly attempted: Readonly<Record<string, number>>;
  readonly cut?: string | undefined;
  /** What the critic says about lines of a block that is proposed. */
  readonly concerns?: Proposal['concerns'] | undefined;
};

/** Trains the learned block of one document, and tests the winner with attempts that it was not chosen by. */
export async function trainDocument(night: DocumentNight): Promise<TrainedDocument> {
  const { documents, trained, named = '', error } = night;
  const baseBlock = readBlock(documents[trained], 'learned');
  const limits = night.budget && searchBudget(night.budget, (2 * REPORT_PASSES) / firstLook(night).passes);
  const { summary, state, cut, attempted } = await search({ ...night, budget: limits?.budget }, baseBlock);
  night.budget?.release();
  // Without a gate the last text wins, even if another measured better.
  const block = (error === undefined ? state.current : state.best).skill.trim();
  const found = { trained, named, baseBlock, block, summary, state, cut, attempted };
  if (block === baseBlock.trim()) return { ...found, block: baseBlock, proof: undefined, isTaken: false };
  if (error === undefined) return { ...found, proof: undefined, isTaken: true };
  if (winnerMeasurement(state) === undefined) return { ...found, proof: undefined, isTaken: false };
  const reserve = limits?.reserve();
  const sides = { state, baseBlock, block };
  const proof = await prove({ ...night, env: environmentOf(night), error, ...sides, reserve });
  return { ...found, proof, isTaken: proof.isProven, cut: cut ?? proof.cut };
}

async function search(night: DocumentNight, initialSkill: string) {
  const { models, store, budget, promptOverrides, runner, work, observers, signal } = night;
  const trainer = new SkillOptTrainer({
    ...models,
    config: nightRunConfig(night),
    env: environmentOf(night),
    initialSkill,
    ...{ store: withoutReport(store), budget, runner, agent: work?.agent },
    observers: (observers ?? []).map(withoutCalibration),
    ...defined({ promptOverrides, signal }),
  });
  const ended = await trainer.train().catch((error) => {
    if (isOutOfBudget(error)) return error;
    throw error;
  });
  const events = await store.read();
  const state = events.reduce(reduce, emptyRun);
  const isCut = ended instanceof SkillError;
  if (isCut && state.history.length === 0) throw ended; // nothing was tried: there is no result
  const cut = isCut ? ended.message : undefined;
  const trained = isCut ? summarize(state, { outRoot: store.name }) : ended;
  const summary = { ...trained, warnings: trained.warnings.filter((warning) => !isCalibration(warning)) };
  return { summary, state, cut, attempted: attemptedIn(events, metricOf(night.config)) };
}

/** The first step's rollouts are under the document as it was. */
function attemptedIn(events: readonly RunEvent[], metric: ReturnType<typeof metricOf>) {
  const first = events.find((event) => event.type === 'stage-end' && event.stage === 'rollout');
  const scores = first?.type === 'stage-end' && first.stage === 'rollout' ? first.evaluation.scores : [];
  const known = toObservations(scores, metric).filter(({ score }) => score !== null);
  return Object.fromEntries(known.map(({ id, score }) => [id, score!]));
}

const firstLook = ({ proofLooks = PROOF_LOOKS }: Pick<DocumentNight, 'proofLooks'>) => proofLooks[0]!;

/** A run warns how far its own claim can be trusted; a night has a proof of its own. */
const isCalibration = (warning: string) => /gains of \d+ points or more/.test(warning);

const withoutCalibration = (observer: RunObserver): RunObserver => ({
  onOpen: (state) => observer.onOpen?.(state),
  onEvent: (event, state) => observer.onEvent?.(event, state),
  onProgress: (progress) => observer.onProgress?.(progress),
  onSpend: (spent) => observer.onSpend?.(spent),
  onRetry: (retry) => observer.onRetry?.(retry),
  onRateLimit: (change) => observer.onRateLimit?.(change),
  onWarning: (warning) => (isCalibration(warning) ? undefined : observer.onWarning?.(warning)),
});

/** One batch of all training tasks. Edits that do not help are pruned at the end. */
function nightRunConfig({ config, error, tasks, rolloutsK = 1, proofLooks }: DocumentNight): SkillOptConfigInput {
  const train = tasks.filter(({ split }) => split === 'train').length * Math.max(1, rolloutsK);
  const confidence = Math.min(0.999, Math.max(0.5, 1 - 2 * (error ?? 0.05)));
  const gated =
    error === undefined
      ? { useGate: false, finalPasses: 0 }
      : { prune: true, finalPasses: firstLook({ proofLooks }).passes };
  const evalTest = tasks.some(({ split }) => split === 'test');
  return { numEpochs: 1, batchSize: Math.max(1, train), confidence, evalTest, ...gated, ...config };
}

export function environmentOf(night: DocumentNight) {
  const { documents, trained, tasks, rolloutsK = 1, asksAhead, error, config } = night;
  const learned = tasks.filter(({ split }) => split === 'train');
  // Without a gate the scores of held-out tasks are not asked for.
  const held = tasks.filter(({ split }) => split === 'test' || (split === 'val' && error !== undefined));
  const attempted = [...repeated(learned, rolloutsK), ...held];
  const env = sleepEnv({ ...night, name: 'sleep', tasks: attempted, metric: metricOf(config) });
  const seed = readBlock(documents[trained], 'learned');
  return asksAhead ? foreseeing(env, { ...night, asksAhead, tasks: attempted, seed }) : env;
}

/** A night writes its own `report.md`, and a folder without one is a night that is not over. */
const withoutReport = (store: RunStore): RunStore =>
  opening(store, async (run) => ({ ...run, writeViews: ({ 'report.md': _, ...views }) => run.writeViews(views) }));

/** The same store, which also finds the replies of the night's earlier runs: a question is paid for once a night. */
export const knowingReplies = (store: RunStore, earlier: readonly RunStore[]): RunStore =>
  earlier.length === 0
    ? store
    : opening(store, async (own) => {
        const others: OpenRunStore[] = [];
        for (const one of earlier) {
          const other = await one.open().catch(() => undefined); // a run that is open elsewhere is left out
          if (other) others.push(other);
        }
        const replies = alsoIn(
          own.caches.replies,
          others.map(({ caches }) => caches.replies),
        );
        return {
          ...own,
          caches: { replies, rollouts: own.caches.rollouts },
          async [Symbol.asyncDispose]() {
            for (const one of [...others, own]) await one[Symbol.asyncDispose]();
          },
        };
      });

const opening = (store: RunStore, change: (run: OpenRunStore) => Promise<OpenRunStore>): RunStore => ({
  name: store.name,
  read: () => store.read(),
  open: async (options) => change(await store.open(options)),
});

const alsoIn = (own: TextCache, others: readonly TextCache[]): TextCache => ({
  async get(key) {
    for (const cache of [own, ...others]) {
      const text = await cache.get(key);
      if (text !== undefined) return text;
    }
    return undefined;
  },
  set: (key, value) => own.set(key, value),
});
