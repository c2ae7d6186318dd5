import type { SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { isHandoff, type SleepModels } from '../choose-models.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { estimateNight, type NightEstimate } from './estimate-night.ts';
import { type MinerKind, type Page, pagesOf } from './pages.ts';
import { type Recipient, recipientsOf } from './recipients.ts';

/** What a night would do, before it does anything: who reads what, and what that costs. */
export type NightPlan = {
  readonly sessions: number;
  readonly miner: MinerKind;
  readonly models: SleepModels;
  readonly recipients: readonly Recipient[];
  /** All text of sessions that may be sent, redacted. */
  readonly pages: readonly Page[];
  readonly estimate: NightEstimate;
};

type PlanInput = {
  readonly sessions: readonly SessionDigest[];
  readonly settings: SleepSettings;
  readonly models: SleepModels;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly countTokens: (text: string) => Promise<number>;
  /** Tokens of the document that is trained. */
  readonly skillTokens: number;
};

export async function planNight(input: PlanInput): Promise<NightPlan> {
  const { sessions, settings, models, env, countTokens, skillTokens } = input;
  const miner: MinerKind = settings.llmMine && canMine(models.optimizer) ? 'model' : 'heuristic';
  const pages = pagesOf(sessions, miner);
  const { target, optimizer, judge } = models;
  return {
    sessions: sessions.length,
    miner,
    models,
    recipients: recipientsOf({ target, optimizer, judge }, env),
    pages,
    estimate: estimateNight({
      config: nightConfig(settings),
      pages,
      miner,
      models,
      maxTasks: settings.maxTasksPerNight,
      fractions: { val: settings.valFraction, test: settings.testFraction },
      documents: Number(settings.evolveSkill) + Number(settings.evolveMemory),
      skillTokens,
      pageTokens: await countTokens(pages.flatMap(({ texts }) => texts).join('\n')),
    }),
  };
}

/** Of a handoff, the tasks would be a round of their own: rules find them, or a file has them. */
export const canMine = (spec: SleepModels['optimizer']) => !isSimulated(spec) && !isHandoff(spec);

/** Part of this process: it reads nothing, and finds no tasks. */
export const isSimulated = (spec: SleepModels['optimizer']) =>
  (typeof spec === 'string' ? spec : String(spec.provider)).startsWith('simulated');

/** The settings of a night in the words of a run: it is one. */
export function nightConfig(settings: SleepSettings): SkillOptConfigInput {
  const { editBudget, gateMetric, gateMixedWeight, gateNoRegression, seed, maxTokensPerNight } = settings;
  return {
    numEpochs: 1,
    editBudget,
    minEditBudget: Math.min(2, editBudget),
    gateMetric,
    gateMixedWeight,
    regressionVeto: gateNoRegression,
    seed,
    maxTotalTokens: maxTokensPerNight,
  };
}
