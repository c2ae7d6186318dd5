import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SkillError } from '../../core/contracts/index.ts';
import { checkRuleJudge } from '../../core/judge/index.ts';
import { groupBy, plural } from '../../core/text/index.ts';
import { atOnce, type Budget } from '../../models/index.ts';
import { readSmallText } from '../../stores/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { ownerAmong, type SkillChoice, skillFileOf } from '../documents/skills.ts';
import { type Harvest, harvest } from '../harvest/harvest.ts';
import type { HarvestProgress } from '../harvest/update-index.ts';
import {
  type MineOptions,
  type MineProgress,
  type MineResult,
  mineTasks,
  type TargetSkill,
} from '../mine/mine-tasks.ts';
import { MINERS, openMiner } from '../mine/model-miner.ts';
import type { OpenSleep } from '../open-sleep.ts';
import { leastCallsFor, smallestNight } from '../plan/pages.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { cursorsOf, readSleepState, type SleepState } from '../state/sleep-state.ts';
import { isReplayable, type TaskRecord, type Tasks } from '../task-record.ts';
import { readTasksFile, requireReviewed } from '../tasks-file.ts';
import type { GatheredNight, NightModels } from './cycle-input.ts';
import { prepareTasks } from './prepare-tasks.ts';

export type GatherEvent =
  /** `leastCalls`: the fewest model calls with which any night proposes something. Not sent for a tasks file. */
  | { readonly type: 'gather-start'; readonly leastCalls: number }
  | ({ readonly type: 'transcript-read' } & HarvestProgress)
  | { readonly type: 'sessions-chosen'; readonly sessions: readonly SessionDigest[] }
  | ({ readonly type: 'session-mined' } & MineProgress)
  | { readonly type: 'mining-end' }
  | {
      readonly type: 'tasks-ready';
      readonly tasks: number;
      readonly heldOut: number;
      /** For a proposal from these tasks; `undefined` if they are too few to try anything. */
      readonly leastCalls: number | undefined;
      readonly spentCalls: number;
    };

export type GatherOptions = {
  /** Only sessions that ended then or later, whether or not an earlier night considered them. */
  readonly since?: string | undefined;
  /** A file of reviewed tasks, which takes the place of sessions. */
  readonly tasksFile?: string | undefined;
  /** Whether the optimizer finds the tasks. Otherwise rules do. */
  readonly isMinedByModel: boolean;
  readonly models: NightModels;
  readonly hasTools: boolean;
  readonly chooseSkills: (tasks: Tasks) => Promise<SkillChoice>;
  readonly now: () => Date;
  readonly onGather?: ((event: GatherEvent) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
};

type GatherState = { readonly state: SleepState; readonly budget?: Budget | undefined };

/** The tasks of a night: from new sessions or from a file, and from earlier nights. */
export async function gatherNight(
  sleep: OpenSleep,
  options: GatherOptions,
  { state, budget }: GatherState,
): Promise<GatheredNight> {
  const { tasksFile, chooseSkills, hasTools, onGather } = options;
  const here = sleep.redact(sleep.project);
  const isHere = ({ project }: TaskRecord) => project === here || project.startsWith(`${here}/`); // also folders below it
  const archive = state.taskArchive.map(({ task }) => task).filter(isHere);
  if (tasksFile === undefined) await onGather?.({ type: 'gather-start', leastCalls: smallestNight(sleep.settings) });
  const day = await (tasksFile === undefined
    ? fromSessions(sleep, options, { state, budget })
    : fromFile(tasksFile, sleep.settings, options, state));
  const { skills } = await chooseSkills([...day.tasks, ...archive]);
  const ownerOf = ownerAmong(skills);
  const canReplay = (task: TaskRecord) => isReplayable(task) || (hasTools && (tasksFile !== undefined || isHere(task)));
  const prepared = prepareTasks(day.tasks, archive, sleep.settings, { ownerOf, canReplay });
  const { tasks, notReplayable, pooled, repeated } = prepared;
  await onGather?.({
    type: 'tasks-ready',
    tasks: tasks.length,
    heldOut: tasks.filter(({ split }) => split === 'val').length,
    leastCalls: leastCallsOf(tasks, ownerOf, sleep.settings),
    spentCalls: budget?.spent().calls ?? 0,
  });
  const leftOut = `${plural(repeated, 'held-out task is', 'held-out tasks are')} left out of the proof: nearly the same as another one, or as what was learned from.`;
  const notes = repeated === 0 ? day.notes : [...day.notes, leftOut];
  return { ...day, tasks: [...tasks], notReplayable, pooled, notes };
}

function leastCallsOf(tasks: Tasks, ownerOf: (task: TaskRecord) => string, settings: SleepSettings) {
  const needs = groupBy(tasks, ownerOf).flatMap((own) => leastCallsFor(own, settings) ?? []);
  return needs.length === 0 ? undefined : Math.min(...needs);
}

async function fromSessions(sleep: OpenSleep, options: GatherOptions, { state, budget }: GatherState) {
  const { settings, folder } = sleep;
  const { models, since, signal, hasTools, onGather } = options;
  const found = await harvestNew(sleep, { ...options, now: options.now().getTime() });
  await onGather?.({ type: 'sessions-chosen', sessions: found.sessions });
  using open = options.isMinedByModel
    ? await openMiner({ model: models.optimizer, settings, folder, signal, budget })
    : undefined;
  const mined = await mineHarvest(sleep, found, {
    ...{ miner: open?.miner ?? 'heuristic', signal, hasTools, workers: budget && atOnce(budget, MINERS) },
    earlier: state.taskArchive.map(({ task }) => task),
    onProgress: (progress) => void onGather?.({ type: 'session-mined', ...progress }),
  }).finally(() => onGather?.({ type: 'mining-end' }));
  if (mined.tasks.length === 0 && mined.cut !== undefined) throw nothingFound(mined.cut);
  const recurring = mined.groups.filter(({ sessionIds }) => sessionIds.length > 1);
  return {
    nSessions: found.sessions.length,
    recurring: recurring.map(({ intent, sessionIds, dates }) => ({
      ...{ intent, sessions: sessionIds.length, days: dates.length },
    })),
    tasks: [...mined.tasks],
    cursors: since === undefined && !isToReadAgain(mined) ? found.newCursor : undefined,
    notes: [...mined.notes],
    cut: mined.cut ?? '',
    unreadSessions: unreadIn(mined),
  };
}

/** Sessions that a limit left unread, or that got no readable reply, are considered again. */
const isToReadAgain = ({ cut, tasks, dropped }: MineResult) =>
  cut !== undefined || (tasks.length === 0 && unreadIn({ dropped }) > 0);

const unreadIn = ({ dropped }: Pick<MineResult, 'dropped'>) =>
  dropped.find(({ reason }) => reason === 'unreadable-reply')?.count ?? 0;

const nothingFound = (cut: string) =>
  new SkillError('BUDGET_EXHAUSTED', `${cut}; that was before a task was found`, {
    hint: 'Raise it and start again, or let rules find the tasks: llmMine: false.',
  });

/** The sessions that a night would consider. Moves no cursor. */
export async function harvestNew(
  sleep: OpenSleep,
  { since, now, onGather, signal }: Pick<GatherOptions, 'since' | 'onGather' | 'signal'> & { readonly now: number },
): Promise<Harvest> {
  const { settings, project, folder, notices } = sleep;
  const state = await readSleepState(folder, { onWarning: notices.warn });
  return harvest({
    ...sleep,
    ...{ now, since, signal, lookbackHours: settings.lookbackHours },
    cursors: since === undefined ? cursorsOf(state, project) : {},
    limit: settings.maxSessionsPerNight ?? 3 * settings.maxTasksPerNight,
    onProgress: (progress) => void onGather?.({ type: 'transcript-read', ...progress }),
  });
}

/** The tasks in harvested sessions: rules find them, unless a model is given. */
export async function mineHarvest(
  { settings, isIgnored, redact }: OpenSleep,
  { sessions }: Harvest,
  mining: Partial<Pick<MineOptions, 'miner' | 'signal' | 'onProgress' | 'earlier' | 'hasTools' | 'workers'>> = {},
): Promise<MineResult> {
  const { valFraction, testFraction, seed, preferences, promptOverrides, maxTasksPerNight } = settings;
  return mineTasks(sessions, {
    ...{ miner: 'heuristic', ...mining, redact, valFraction, testFraction, seed, preferences },
    maxTasks: maxTasksPerNight,
    targetSkill: await targetSkillOf(settings),
    promptOverrides: { miner: promptOverrides.miner },
    validateChecks: checkRuleJudge,
    isUnwanted: ({ id, project }) => isIgnored({ source: '', sessionId: '', project, taskId: id }),
    isBySkill: isBySkill(settings),
  });
}

/** Whether each skill that tasks name needs held-out tasks of its own. A target skill gets all tasks. */
const isBySkill = ({ multiSkillFanout, targetSkillPath }: SleepSettings) =>
  multiSkillFanout && targetSkillPath === undefined;

async function targetSkillOf({ targetSkillPath, targetTaskFilter }: SleepSettings): Promise<TargetSkill | undefined> {
  if (targetSkillPath === undefined || !targetTaskFilter) return undefined;
  const path = skillFileOf(targetSkillPath);
  const text = await readSmallText(path).catch((cause) => {
    const message = `the target skill ${path} cannot be read: ${(cause as Error).message}`;
    throw new SkillError('CONFIG_INVALID', message, { cause, hint: 'Give the path of its SKILL.md.' });
  });
  return { path, text };
}

/** Tasks that a person has reviewed. No session is considered, and no cursor moves. */
async function fromFile(path: string, settings: SleepSettings, { models }: GatherOptions, state: SleepState) {
  const earlier = state.taskArchive.map(({ task }) => task);
  const reading = { ...settings, isBySkill: isBySkill(settings), earlier, validateChecks: checkRuleJudge };
  const { file, warnings } = await readTasksFile(path, reading);
  requireReviewed(file, models);
  return { nSessions: 0, recurring: [], tasks: [...file.tasks], notes: [...warnings] };
}

/** A name for the bytes of a tasks file: an edited file is another night. */
export async function nameOfTasks(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // reading the tasks reports what is wrong with the file
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
