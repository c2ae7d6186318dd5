import { createHash } from 'node:crypto';
import { parseConfig, SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { Cost } from '../../core/run/index.ts';
import { isObject } from '../../core/text/index.ts';
import { countTokens } from '../../models/index.ts';
import { agentTargetOf, checkModelSpec, isAgentSpec, type ModelSpec, resolveModel } from '../../project/index.ts';
import type { CostEstimate, Range } from '../../report/index.ts';
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
  nightCost,
  type OpenSleep,
  type Page,
  pagesOf,
  type Recipient,
  readSleepState,
  recipientsOf,
  rolesOfProject,
  type SleepModels,
  type SleepSettings,
  type TaskRecord,
  withoutConsent,
} from '../../sleep/index.ts';
import { estimateRun, type StageEstimate } from '../../train/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { describeKeptBack, openSandbox, projectFiles } from '../../workspaces/index.ts';
import { ASSUMED, priceStages, USUAL_ATTEMPT } from '../price-estimate.ts';
import { lastNight, lastRecorded } from './find-nights.ts';
import { refuseForeign } from './refuse-foreign.ts';

export type NightLimits = Pick<SkillOptConfigInput, 'maxMinutes' | 'maxCalls' | 'maxCostUsd'>;

/** What a night would do: who reads what, and what that costs. */
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
  readonly skillTokens: number;
  /** The roles whose models a project names. */
  readonly namedByProject?: ReadonlySet<string> | undefined;
};

export async function planNight(input: PlanInput): Promise<NightPlan> {
  const { sessions, settings, models, env, skillTokens, namedByProject } = input;
  const miner: MinerKind = settings.llmMine && canMine(models.optimizer) ? 'model' : 'heuristic';
  const pages = pagesOf(sessions, miner);
  const pageTokens = await input.countTokens(pages.flatMap(({ texts }) => texts).join('\n'));
  const { target, optimizer, judge } = models;
  return {
    ...{ sessions: sessions.length, miner, models, pages },
    recipients: recipientsOf({ target, optimizer, judge }, env, namedByProject),
    estimate: estimateNight({ settings, models, pages, miner, skillTokens, pageTokens }),
  };
}

const ROLES = ['target', 'optimizer', 'judge'] as const;

/** The plan for these sessions, with the models that the settings name. Throws if one of them cannot exist. */
export async function planOf(sleep: OpenSleep, sessions: readonly SessionDigest[]): Promise<NightPlan> {
  const { settings, place } = sleep;
  const models = await chooseModels(settings, sleep);
  agentTargetOf(models);
  for (const role of ROLES) if (!isHandoff(models[role])) checkModelSpec(models[role], role);
  if (sleep.isDataOnly) refuseForeign(sleep, models);
  const namedByProject = rolesOfProject(sleep);
  return planNight({ sessions, settings, models, namedByProject, env: place.env, countTokens, skillTokens: 0 });
}

/** What an agent would do with tools; without one, how many tasks cannot be attempted. */
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
  readonly tasksByRule: number;
  /** Providers that the user has not agreed to yet. */
  readonly consentMissing: readonly string[];
  /** Why models cannot be asked: a missing key, a program that is not installed. */
  readonly problems: readonly string[];
  readonly withTools: PlannedWork;
  /** The night that was cut off, which goes on with the tasks that it began with. */
  readonly resumes: number | null;
  /** What that night, or one that was cut off while it looked for tasks, has cost so far. It counts towards the limits. */
  readonly paid: Cost | null;
  /** Names all that is sent, to whom and within which limits: `runNight` keeps to it where it is given. */
  readonly digest: string;
};

type PreviewOptions = Omit<Parameters<typeof harvestNew>[1], 'now'> & { readonly limits?: NightLimits | undefined };

export const NOTHING_TO_LEARN = 'No session to learn from: a night would do nothing.';

/** What a night would do, cost and send, and what is missing for it. Asks no model. */
export async function previewNight(sleep: OpenSleep, options: PreviewOptions = {}): Promise<NightPreview> {
  const { limits, ...which } = options;
  const harvest = await harvestNew(sleep, { ...which, now: Date.now() });
  const { tasks } = await mineHarvest(sleep, harvest);
  const plan = await planOf(sleep, harvest.sessions);
  const last = await lastNight(sleep.folder, sleep.project);
  const resumes = last?.unfinished?.night ?? null;
  const isEmpty = plan.sessions === 0 && resumes === null;
  const missing = withoutConsent(plan.recipients, await readSleepState(sleep.folder));
  return {
    ...{ plan, harvest, tasksByRule: tasks.length },
    consentMissing: missing.map(({ provider }) => provider),
    problems: [...(isEmpty ? [NOTHING_TO_LEARN] : []), ...(await modelProblems(plan, sleep))],
    withTools: await planWork(plan, sleep, tasks),
    ...{ resumes, paid: last && !last.isOver ? await paidFor(last.path) : null },
    digest: await digestOfPlan(plan, sleep, limits),
  };
}

async function paidFor(night: string): Promise<Cost | null> {
  const cost = await nightCost(night);
  return cost.calls === 0 ? null : cost;
}

/**
 * The same for the same texts, models, recipients, settings and limits, until the next night has begun: it starts one night. Where a
 * program lies does not count.
 */
export async function digestOfPlan(plan: NightPlan, sleep: OpenSleep, limits: NightLimits = {}): Promise<string> {
  const { target: _target, optimizer: _optimizer, judge: _judge, ...settings } = sleep.settings;
  const models = ROLES.map((role) => {
    const spec = plan.models[role];
    return { ...(typeof spec === 'string' ? blockOf(spec) : spec), path: undefined };
  });
  const { pages, miner, recipients } = plan;
  const { night = 0, status = 'done', tasks = [] } = (await lastRecorded(sleep.folder, sleep.project)) ?? {};
  const after = { night, isUnfinished: status === 'running', tasks: status === 'running' ? tasks : [] };
  const all = { pages, miner, models, recipients, settings, limits, after, project: sleep.project };
  return createHash('sha256').update(JSON.stringify(all, keysInOrder)).digest('hex');
}

const keysInOrder = (_key: string, value: unknown) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;

/** Throws unless the plan is the one that was shown. */
export function requireShown(digest: string, shown: string): void {
  if (digest === shown) return;
  const hint = 'Nothing was sent. Sessions, settings or limits have changed: look at the plan again.';
  throw new SkillError('CONSENT_MISSING', 'the night would not be the one that was shown', { hint });
}

/** A model in one word as a block. */
export function blockOf(spec: string): Readonly<Record<string, unknown>> {
  const [provider = '', model = ''] = spec.split(/:(.*)/s);
  return { provider, ...(model === '' ? {} : { model }) };
}

async function modelProblems({ models }: NightPlan, sleep: OpenSleep): Promise<string[]> {
  const { place, project, settings } = sleep;
  const where = { env: place.env, directory: project, isAddressOwn: true };
  const isSpecOwn = (role: (typeof ROLES)[number]) => !rolesOfProject(sleep).has(role);
  const real = ROLES.filter((role) => !isSimulated(models[role]) && !isHandoff(models[role]));
  const agent = agentTargetOf(models);
  const opened: Promise<unknown>[] = [
    ...real.map((role) => resolveModel(models[role], { role, ...where, isSpecOwn: isSpecOwn(role) })),
    ...(agent ? [findWork(agent, { env: place.env, project, settings, isSpecOwn: isSpecOwn('target') })] : []),
  ];
  const messageOf = (error: unknown) => (error instanceof SkillError ? error.message : Promise.reject(error));
  const problems = await Promise.all(opened.map((one) => one.then(() => undefined, messageOf)));
  return problems.filter((problem) => problem !== undefined);
}

/** Lists the project's files, and copies nothing. */
async function planWork({ models }: NightPlan, { project, redact }: OpenSleep, tasks: readonly TaskRecord[]) {
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  const target = agentTargetOf(models);
  if (target === undefined) return { agent: null, sandbox: null, needFiles, files: 0, leftOut: '' };
  const { files, leftOut } = await projectFiles(project);
  const sandbox = openSandbox(target.sandbox).id;
  return { agent: target.agent, sandbox, needFiles, files: files.length, leftOut: redact(describeKeptBack(leftOut)) };
}

export type NightEstimate = CostEstimate & { readonly minutes: Range; readonly tasks: Range };

/** The miner's own words, and a reply of up to three tasks. */
const [MINER_PROMPT, MINER_REPLY] = [700, 400];
/** A call of an agent CLI starts a program; a call of an API does not. */
const SECONDS_PER_CALL = { api: { low: 2, high: 6 }, cli: { low: 6, high: 20 } };

type NightSize = Pick<PlanInput, 'settings' | 'models' | 'skillTokens'> &
  Pick<NightPlan, 'pages' | 'miner'> & { readonly pageTokens: number };

/** What a night would ask of its models. Makes no call: how many tasks a miner will find is a range. */
function estimateNight(size: NightSize): NightEstimate {
  const { settings, models, pages, miner } = size;
  const { prices, workers } = parseConfig(nightConfig(settings));
  // By rule there is one task per session; a model finds none to three.
  const most = (perSession: number) => Math.min(settings.maxTasksPerNight, Math.ceil(pages.length * perSession));
  const tasks = miner === 'model' ? { low: most(0.5), high: most(3) } : { low: most(1), high: most(1) };
  const documents = Number(settings.evolveSkill) + Number(settings.evolveMemory);
  const attempts = combine(stagesOf(size, tasks.low), stagesOf(size, tasks.high), documents);
  const stages = [...miningOf(size), ...(isAgentSpec(models.target) ? attempts.map(withTurns) : attempts)];
  const minutes = (end: keyof Range) =>
    stages.reduce((sum, { role, calls }) => sum + (calls[end] * secondsOf(models[role])[end]) / workers / 60, 0);
  const costs = priceStages(stages, models, prices);
  return { ...costs, tasks, minutes: { low: minutes('low'), high: minutes('high') } };
}

function stagesOf({ settings, pages, pageTokens, skillTokens }: NightSize, tasks: number): StageEstimate[] {
  const [val, test] = [Math.round(tasks * settings.valFraction), Math.round(tasks * settings.testFraction)];
  const items = { train: Math.max(0, tasks - val - test), val, test };
  if (items.train === 0 || items.val === 0) return [];
  const item = pageTokens / Math.max(1, pages.length);
  const tokens = { skill: skillTokens, item, optimizerPrompt: 900, ...ASSUMED };
  return estimateRun({ config: parseConfig(nightConfig(settings)), items, tokens, judgeCalls: 1 });
}

function miningOf({ pages, miner, pageTokens }: NightSize): StageEstimate[] {
  if (miner === 'heuristic' || pages.length === 0) return [];
  const same = (value: number): Range => ({ low: value, high: value });
  const inputTokens = same(pageTokens + pages.length * MINER_PROMPT);
  const outputTokens = same(pages.length * MINER_REPLY);
  return [{ stage: 'mine', role: 'optimizer', calls: same(pages.length), inputTokens, outputTokens }];
}

/** From the cheapest night with few tasks to the dearest with many. */
function combine(few: readonly StageEstimate[], many: readonly StageEstimate[], documents: number): StageEstimate[] {
  return many.map((stage) => {
    const low = few.find((one) => one.stage === stage.stage);
    const range = (key: 'calls' | 'inputTokens' | 'outputTokens'): Range => ({
      low: low?.[key].low ?? 0,
      high: stage[key].high * documents,
    });
    const [calls, inputTokens, outputTokens] = [range('calls'), range('inputTokens'), range('outputTokens')];
    return { ...stage, calls, inputTokens, outputTokens };
  });
}

/** Cached tokens count as well, although most of what is sent again comes from the provider's cache. */
function withTurns(stage: StageEstimate): StageEstimate {
  if (stage.role !== 'target') return stage;
  const { turns, tokensPerTurn } = USUAL_ATTEMPT;
  const { low, high } = { low: stage.calls.low * turns.low, high: stage.calls.high * turns.high };
  const inputTokens = { low: low * tokensPerTurn, high: high * tokensPerTurn };
  return { ...stage, calls: { low, high }, inputTokens };
}

function secondsOf(spec: ModelSpec | undefined): Range {
  const name = typeof spec === 'string' ? spec : String(spec?.provider ?? '');
  if (/^(?:simulated|handoff)/.test(name)) return { low: 0, high: 0 };
  return /^[\w-]+-cli\b/.test(name) || isAgentSpec(spec) ? SECONDS_PER_CALL.cli : SECONDS_PER_CALL.api;
}
