import { SkillError } from '../../core/contracts/index.ts';
import { countTokens } from '../../models/index.ts';
import { agentTargetOf, checkModelSpec, resolveModel } from '../../project/index.ts';
import {
  canMine,
  chooseModels,
  findWork,
  type Harvest,
  harvestNew,
  isHandoff,
  isReplayable,
  isSimulated,
  type MinerKind,
  mineHarvest,
  nightConfig,
  type OpenSleep,
  type Page,
  pagesOf,
  type Recipient,
  readSleepState,
  recipientsOf,
  type SleepModels,
  type SleepSettings,
  type TaskRecord,
  withoutConsent,
} from '../../sleep/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { describeKeptBack, openSandbox, projectFiles } from '../../workspaces/index.ts';
import { estimateNight, type NightEstimate } from './estimate-night.ts';

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
  const { sessions, settings, models, env, skillTokens } = input;
  const miner: MinerKind = settings.llmMine && canMine(models.optimizer) ? 'model' : 'heuristic';
  const pages = pagesOf(sessions, miner);
  const { target, optimizer, judge } = models;
  return {
    ...{ sessions: sessions.length, miner, models, pages },
    recipients: recipientsOf({ target, optimizer, judge }, env),
    estimate: estimateNight({
      ...{ config: nightConfig(settings), pages, miner, models, skillTokens },
      maxTasks: settings.maxTasksPerNight,
      fractions: { val: settings.valFraction, test: settings.testFraction },
      documents: Number(settings.evolveSkill) + Number(settings.evolveMemory),
      pageTokens: await input.countTokens(pages.flatMap(({ texts }) => texts).join('\n')),
    }),
  };
}

const ROLES = ['target', 'optimizer', 'judge'] as const;

/** The plan for these sessions, with the models that the settings name. Throws if one of them cannot exist. */
export async function planOf(sleep: OpenSleep, sessions: readonly SessionDigest[]): Promise<NightPlan> {
  const { settings, place } = sleep;
  const models = await chooseModels(settings, sleep);
  agentTargetOf(models);
  for (const role of ROLES) if (!isHandoff(models[role])) checkModelSpec(models[role], role);
  return planNight({ sessions, settings, models, env: place.env, countTokens, skillTokens: 0 });
}

/** What an agent would do with tools; without an agent, how many tasks cannot be attempted. */
export type PlannedWork = {
  readonly agent: string | null;
  readonly sandbox: string | null;
  /** Of the tasks that rules find. */
  readonly needFiles: number;
  readonly files: number;
  readonly leftOut: string;
};

export type NightPreview = {
  readonly plan: NightPlan;
  readonly harvest: Harvest;
  /** How many tasks rules find. */
  readonly tasksByRule: number;
  /** Providers that nobody agreed to yet. */
  readonly consentMissing: readonly string[];
  /** Why models cannot be asked though they are named well: a missing key, a program that is not installed. */
  readonly problems: readonly string[];
  readonly withTools: PlannedWork;
};

/** What a night would do, cost and send, and what is missing for it. Asks no model. */
export async function previewNight(
  sleep: OpenSleep,
  options: Omit<Parameters<typeof harvestNew>[1], 'now'> = {},
): Promise<NightPreview> {
  const harvest = await harvestNew(sleep, { ...options, now: Date.now() });
  const { tasks } = await mineHarvest(sleep, harvest);
  const plan = await planOf(sleep, harvest.sessions);
  const missing = withoutConsent(plan.recipients, await readSleepState(sleep.folder));
  return {
    ...{ plan, harvest, tasksByRule: tasks.length },
    consentMissing: missing.map(({ provider }) => provider),
    problems: await modelProblems(plan, sleep),
    withTools: await planWork(plan, sleep, tasks),
  };
}

async function modelProblems({ models }: NightPlan, { place, project }: OpenSleep): Promise<string[]> {
  const real = ROLES.filter((role) => !isSimulated(models[role]) && !isHandoff(models[role]));
  const agent = agentTargetOf(models);
  const opened: Promise<unknown>[] = [
    ...real.map((role) => resolveModel(models[role], { role, env: place.env, directory: project })),
    ...(agent ? [findWork(agent, { env: place.env, project })] : []),
  ];
  const messageOf = (error: unknown) => (error instanceof SkillError ? error.message : Promise.reject(error));
  const problems = await Promise.all(opened.map((one) => one.then(() => undefined, messageOf)));
  return problems.filter((problem) => problem !== undefined);
}

/** Reads the names of the project's files, and copies nothing. */
async function planWork(
  { models }: NightPlan,
  { project, redact }: OpenSleep,
  tasks: readonly TaskRecord[],
): Promise<PlannedWork> {
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  const target = agentTargetOf(models);
  if (target === undefined) return { agent: null, sandbox: null, needFiles, files: 0, leftOut: '' };
  const { files, leftOut } = await projectFiles(project);
  const sandbox = openSandbox(target.sandbox).id;
  return { agent: target.agent, sandbox, needFiles, files: files.length, leftOut: redact(describeKeptBack(leftOut)) };
}
