import type { SkillOptConfigInput } from '../../core/config.ts';
import type { RunObserver } from '../../core/run/observer.ts';
import { reduce } from '../../core/run/reduce/reduce.ts';
import { winnerMeasurement } from '../../core/run/reported-scores.ts';
import { emptyRun, type RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { readBlock } from '../../core/skill/marked-block.ts';
import { PROOF_LOOKS } from '../../core/stats/night-proof.ts';
import { SkillOptTrainer } from '../../train/index.ts';
import { repeated } from '../dream/multi-rollout.ts';
import { nightConfig } from '../plan/plan-night.ts';
import { sleepEnv, type Trained } from '../replay/sleep-env.ts';
import type { CycleInput } from './cycle-input.ts';
import type { DocumentNight } from './document-night.ts';
import { type Proof, prove } from './prove.ts';

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
};

/** Trains the learned block of one document, and puts the winner to the test with attempts that it was not chosen by. */
export async function trainDocument(night: DocumentNight): Promise<TrainedDocument> {
  const { documents, trained, named = '', error } = night;
  const baseBlock = readBlock(documents[trained], 'learned');
  const { summary, state } = await search(night, baseBlock);
  // Without a gate the last text is wanted, also where another measured better.
  const block = (error === undefined ? state.current : state.best).skill.trim();
  const found = { trained, named, baseBlock, block, summary, state };
  if (block === baseBlock.trim()) return { ...found, block: baseBlock, proof: undefined, isTaken: false };
  if (error === undefined) return { ...found, proof: undefined, isTaken: true };
  if (winnerMeasurement(state) === undefined) return { ...found, proof: undefined, isTaken: false };
  const proof = await prove({ ...night, env: environmentOf(night), error, state, baseBlock, block });
  return { ...found, proof, isTaken: proof.isProven };
}

async function search(night: DocumentNight, initialSkill: string) {
  const { models, store, promptOverrides, runner, observers, signal } = night;
  const trainer = new SkillOptTrainer({
    ...models,
    config: nightRunConfig(night),
    env: environmentOf(night),
    initialSkill,
    store,
    ...(promptOverrides ? { promptOverrides } : {}),
    ...(runner ? { runner } : {}),
    ...(observers ? { observers: observers.map(withoutCalibration) } : {}),
    ...(signal ? { signal } : {}),
  });
  const trained = await trainer.train();
  const summary = { ...trained, warnings: trained.warnings.filter((warning) => !isCalibration(warning)) };
  return { summary, state: (await store.read()).reduce(reduce, emptyRun) };
}

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
function nightRunConfig({
  config,
  error,
  tasks,
  rolloutsK = 1,
  proofLooks = PROOF_LOOKS,
}: DocumentNight): SkillOptConfigInput {
  const train = tasks.filter(({ split }) => split === 'train').length * Math.max(1, rolloutsK);
  const confidence = Math.min(0.999, Math.max(0.5, 1 - 2 * (error ?? 0.05)));
  const gated =
    error === undefined ? { useGate: false, finalPasses: 0 } : { prune: true, finalPasses: proofLooks[0]!.passes };
  const evalTest = tasks.some(({ split }) => split === 'test');
  return { numEpochs: 1, batchSize: Math.max(1, train), confidence, evalTest, ...gated, ...config };
}

export function environmentOf(given: DocumentNight) {
  const { name = 'sleep', tasks, rolloutsK = 1, foresee, ...night } = given;
  const learned = tasks.filter(({ split }) => split === 'train');
  const held = tasks.filter(({ split }) => split !== 'train');
  const { documents, trained, skillTexts, scorers, prompt, notes, quarantine } = night;
  const attempted = [...repeated(learned, rolloutsK), ...held];
  const env = sleepEnv({ name, tasks: attempted, documents, trained, skillTexts, scorers, prompt, notes, quarantine });
  const seed = readBlock(documents[trained], 'learned');
  return foresee ? foresee(env, given, { tasks: attempted, seed }) : env;
}

/** The settings of all runs of a night. */
export const nightConfigOf = ({ settings, config }: Pick<CycleInput, 'settings' | 'config'>): SkillOptConfigInput => ({
  ...nightConfig(settings),
  ...config,
});
