import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ChatModel, SkillError } from '../../../core/contracts/index.ts';
import type { Budget } from '../../../models/index.ts';
import { resolvePath } from '../../../project/index.ts';
import {
  type CycleInput,
  canMine,
  type GatheredNight,
  isReplayable,
  type MineResult,
  type NightModels,
  type NightPlan,
  openMiner,
  ownerAmong,
  prepareTasks,
  readTasksFile,
  requireReviewed,
  type SleepState,
  type TaskRecord,
} from '../../../sleep/index.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { OpenSleep, SleepFlags } from '../open-sleep.ts';
import { costLine, planOf } from '../plan-lines.ts';
import { gatherSessions, gatherTasks, isBySkill } from './gather.ts';
import { miningProgress } from './harvest-progress.ts';
import { sayNeed, warnOfAnyNight } from './least-need.ts';

export type RunModels = NightModels & { readonly judge: ChatModel };

type Gathering = {
  readonly flags: SleepFlags & { readonly tasks?: string; readonly quiet?: boolean; readonly maxCalls?: number };
  readonly models: RunModels;
  readonly plan: NightPlan;
  readonly state: SleepState;
  readonly budget: Budget | undefined;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly chooseSkills: NonNullable<CycleInput['chooseSkills']>;
  /** Whether an agent with tools does the tasks, in a copy of the project. */
  readonly hasTools: boolean;
};

/** What a night works with: tasks of new sessions or of a file, and of earlier nights. */
export async function gatherNight(sleep: OpenSleep, gathering: Gathering): Promise<GatheredNight> {
  const { flags, state, chooseSkills, terminal, budget, hasTools } = gathering;
  const here = sleep.redact(sleep.project);
  const isHere = (project: string) => project === here || project.startsWith(`${here}/`); // sessions below it count
  const archive = state.taskArchive.map(({ task }) => task).filter(({ project }) => isHere(project));
  const limited = { maxCalls: flags.maxCalls, settings: sleep.settings };
  const isWarned = flags.tasks === undefined && warnOfAnyNight(limited, terminal);
  const day =
    flags.tasks === undefined ? await fromSessions(sleep, gathering) : await fromFile(flags.tasks, sleep, gathering);
  const { skills } = await chooseSkills([...day.tasks, ...archive]);
  const ownerOf = ownerAmong(skills);
  const isOfHere = (task: TaskRecord) => flags.tasks !== undefined || isHere(task.project);
  const canReplay = (task: TaskRecord) => isReplayable(task) || (hasTools && isOfHere(task));
  const prepared = prepareTasks(day.tasks, archive, sleep.settings, ownerOf, canReplay);
  const { tasks, notReplayable, pooled, repeated } = prepared;
  const notes = repeated === 0 ? day.notes : [...day.notes, countedOnce(repeated)];
  const spentCalls = budget?.spent().calls ?? 0;
  if (!isWarned) sayNeed({ ...limited, tasks, ownerOf, spentCalls, isQuiet: flags.quiet === true }, terminal);
  return { ...day, tasks: [...tasks], notReplayable, pooled, notes };
}

const countedOnce = (tasks: number) =>
  `${tasks} held-out ${tasks === 1 ? 'task is' : 'tasks are'} left out of the proof: nearly the same as another one, or as what was learned from.`;

type Day = Omit<GatheredNight, 'notReplayable' | 'pooled'>;

async function fromSessions(
  sleep: OpenSleep,
  { flags, models, plan, state, budget, terminal, signal, hasTools }: Gathering,
): Promise<Day> {
  const harvest = await gatherSessions(sleep, flags, terminal);
  if (!flags.quiet && harvest.sessions.length > 0) terminal.say(costLine(await planOf(sleep, harvest.sessions)));
  using open =
    sleep.settings.llmMine && canMine(plan.models.optimizer)
      ? await openMiner({ model: models.optimizer, settings: sleep.settings, folder: sleep.folder, signal, budget })
      : undefined;
  const earlier = state.taskArchive.map(({ task }) => task);
  const progress = open && !flags.quiet ? miningProgress(terminal) : undefined;
  const mining = { miner: open?.miner ?? ('heuristic' as const), signal, earlier, hasTools };
  const mined = await gatherTasks(sleep, harvest, { ...mining, onProgress: progress?.show }).finally(progress?.clear);
  if (mined.tasks.length === 0 && mined.cut !== undefined) throw nothingFound(mined.cut);
  const recurring = mined.groups
    .filter(({ sessionIds }) => sessionIds.length > 1)
    .map(({ intent, sessionIds, dates }) => ({ intent, sessions: sessionIds.length, days: dates.length }));
  return {
    nSessions: harvest.sessions.length,
    recurring,
    tasks: [...mined.tasks],
    cursors: flags.since === undefined && !isToReadAgain(mined) ? harvest.newCursor : undefined,
    notes: [...mined.notes],
    cut: mined.cut ?? '',
  };
}

/** Sessions that a limit left unread, or about which no reply could be read, are considered again. */
const isToReadAgain = ({ cut, tasks, dropped }: MineResult) =>
  cut !== undefined || (tasks.length === 0 && dropped.some(({ reason }) => reason === 'unreadable-reply'));

const nothingFound = (cut: string) =>
  new SkillError('BUDGET_EXHAUSTED', `${cut}; that was before a task was found`, {
    hint: 'Raise it and run the same command again, or let rules find the tasks: --no-llm-mine.',
  });

/** Of the file's bytes: an edited file is another night. */
export async function nameOfTasks(path: string, { io }: Terminal): Promise<string> {
  const bytes = await readFile(resolvePath(io.cwd(), path)).catch(() => Buffer.alloc(0)); // what is wrong with it is said where it is read
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Tasks that a person has read. No session is considered for them, and no cursor moves. */
async function fromFile(path: string, { settings }: OpenSleep, { models, state, terminal }: Gathering): Promise<Day> {
  const { file, warnings } = await readTasksFile(resolvePath(terminal.io.cwd(), path), {
    ...settings,
    isBySkill: isBySkill(settings),
    earlier: state.taskArchive.map(({ task }) => task),
  });
  requireReviewed(file, models);
  return { nSessions: 0, recurring: [], tasks: [...file.tasks], notes: [...warnings] };
}
