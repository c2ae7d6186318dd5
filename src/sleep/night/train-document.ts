import { SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { readBlock } from '../../core/document/index.ts';
import {
  emptyRun,
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
import { SkillOptTrainer } from '../../train/index.ts';
import { repeated } from '../dream/multi-rollout.ts';
import { sleepEnv, type Trained } from '../replay/sleep-env.ts';
import { nightConfig } from '../settings/sleep-settings.ts';
import { type CycleInput, type DocumentNight, metricOf } from './cycle-input.ts';
import { isOutOfBudget, searchBudget } from './night-limits.ts';
import { type Proof, prove, REPORT_PASSES } from './prove.ts';

/** What became of one document in a night. */
export type TrainedDocument = {
  readonly trained: Trained;
  /** The name of an existing skill; empty for the skill of our own, a target and the memory. */
  readonly named: string;
  readonly baseBlock: string;
  /** The block's text that won the search; the same as before, if nothing did. */
  readonly block: string;
  readonly summary: RunSummary;
  readonly state: RunState;
  /** Nothing, if there was nothing to prove. */
  readonly proof: Proof | undefined;
  /** Whether the winner is to be proposed: proven, or wanted without a gate. */
  readonly isTaken: boolean;
  /** How the tasks that are learned from scored under the document as it was, by id. */
  readonly attempted: Readonly<Record<string, number>>;
  /** Which limit has ended the search or the proof early. */
  readonly cut?: string | undefined;
};

/** Trains the learned block of one document, and puts the winner to the test with attempts that it was not chosen by. */
export async function trainDocument(night: DocumentNight): Promise<TrainedDocument> {
  const { documents, trained, named = '', error } = night;
  const baseBlock = readBlock(documents[trained], 'learned');
  const limits = night.budget && searchBudget(night.budget, (2 * REPORT_PASSES) / firstLook(night).passes);
  const { summary, state, counted, cut, attempted } = await search({ ...night, budget: limits?.budget }, baseBlock);
  night.budget?.release();
  // Without a gate the last text is wanted, also where another measured better.
  const block = (error === undefined ? state.current : state.best).skill.trim();
  const found = { trained, named, baseBlock, block, summary, state, cut, attempted };
  if (block === baseBlock.trim()) return { ...found, block: baseBlock, proof: undefined, isTaken: false };
  if (error === undefined) return { ...found, proof: undefined, isTaken: true };
  if (winnerMeasurement(state) === undefined) return { ...found, proof: undefined, isTaken: false };
  const reserve = limits?.reserve();
  const sides = { state, counted, baseBlock, block };
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
    ...{ store: withoutReport(store), budget },
    ...(promptOverrides ? { promptOverrides } : {}),
    ...(runner ? { runner } : {}),
    ...(work ? { agent: work.agent } : {}),
    ...(observers ? { observers: observers.map(withoutCalibration) } : {}),
    ...(signal ? { signal } : {}),
  });
  const ended = await trainer.train().catch((error) => {
    if (isOutOfBudget(error)) return error;
    throw error;
  });
  const events = await store.read();
  const state = events.reduce(reduce, emptyRun);
  if (ended instanceof SkillError && state.history.length === 0) throw ended; // nothing was tried: there is no result
  const cut = ended instanceof SkillError ? ended.message : undefined;
  const trained = ended instanceof SkillError ? summarize(state, { outRoot: store.name }) : ended;
  const summary = { ...trained, warnings: trained.warnings.filter((warning) => !isCalibration(warning)) };
  const { counted } = events.at(-1)!;
  return { summary, state, counted, cut, attempted: attemptedIn(events, metricOf(night.config)) };
}

/** The first step's rollouts are under the document as it was. */
function attemptedIn(events: readonly RunEvent[], metric: ReturnType<typeof metricOf>) {
  const first = events.find((event) => event.type === 'stage-end' && event.stage === 'rollout');
  const scores = first?.type === 'stage-end' && first.stage === 'rollout' ? first.evaluation.scores : [];
  const known = toObservations(scores, metric).filter(({ score }) => score !== null);
  return Object.fromEntries(known.map(({ id, score }) => [id, score!]));
}

const firstLook = ({ proofLooks = PROOF_LOOKS }: Pick<DocumentNight, 'proofLooks'>) => proofLooks[0]!;

/** What a run says of its own claim at its end; a night has a proof of its own. */
const isCalibration = (warning: string) => /gains of \d+ points or more/.test(warning);

const withoutCalibration = (observer: RunObserver): RunObserver => ({
  onOpen: (state) => observer.onOpen?.(state),
  onEvent: (event, state) => observer.onEvent?.(event, state),
  onProgress: (progress) => observer.onProgress?.(progress),
  onRetry: (retry) => observer.onRetry?.(retry),
  onRateLimit: (change) => observer.onRateLimit?.(change),
  onWarning: (warning) => (isCalibration(warning) ? undefined : observer.onWarning?.(warning)),
});

/** One batch of all that is learned from; what rides along without helping is taken out at the end. */
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

export function environmentOf(given: DocumentNight) {
  const { name = 'sleep', tasks, rolloutsK = 1, foresee, ...night } = given;
  const learned = tasks.filter(({ split }) => split === 'train');
  const held = tasks.filter(({ split }) => split === 'test' || (split === 'val' && given.error !== undefined)); // without a gate nobody asks what they score
  const { documents, trained, skillTexts, scorers, prompt, notes, quarantine, work } = night;
  const attempted = [...repeated(learned, rolloutsK), ...held];
  const parts = { documents, trained, skillTexts, scorers, prompt, notes, quarantine, work };
  const env = sleepEnv({ name, tasks: attempted, ...parts, metric: metricOf(given.config) });
  const seed = readBlock(documents[trained], 'learned');
  return foresee ? foresee(env, given, { tasks: attempted, seed }) : env;
}

/** The settings of all runs of a night. */
export const nightConfigOf = ({ settings, config }: Pick<CycleInput, 'settings' | 'config'>): SkillOptConfigInput => ({
  ...nightConfig(settings),
  ...config,
});

/** A night writes a report of its own under the same name, and one without it is not over. */
function withoutReport(store: RunStore): RunStore {
  return {
    name: store.name,
    read: () => store.read(),
    async open(options) {
      const run = await store.open(options);
      return { ...run, writeViews: ({ 'report.md': _, ...views }) => run.writeViews(views) };
    },
  };
}
