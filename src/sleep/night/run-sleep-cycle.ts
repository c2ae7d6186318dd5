import { resolve } from 'node:path';
import type { ChatModel } from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import { commandJudge } from '../../judges/index.ts';
import { openSandbox } from '../../workspaces/index.ts';
import { chooseSkills, findMemory, findSkill, noChoice } from '../documents/skills.ts';
import { expandHome } from '../harvest/scope.ts';
import { type OpenSleep, openSleep, type SleepOptions } from '../open-sleep.ts';
import type { FoundWork } from '../replay/work.ts';
import type { Tasks } from '../task-record.ts';
import { readTasksFile } from '../tasks-file.ts';
import type { CycleInput } from './cycle-input.ts';
import { type GatherOptions, gatherNight, nameOfTasks } from './gather.ts';
import type { CycleOutcome } from './over-nights.ts';
import { runCycle } from './run-cycle.ts';

export type NightOptions = Pick<GatherOptions, 'since' | 'tasksFile' | 'onGather' | 'signal'> &
  Pick<CycleInput, 'config' | 'runner' | 'handoff' | 'isDryRun' | 'observers'> & {
    readonly target: ChatModel;
    /** The model that finds tasks and proposes edits. */
    readonly optimizer: ChatModel;
    /** The model that scores what no rule can score. Default: the optimizer. */
    readonly judge?: ChatModel | undefined;
    /** Whose documents are trained, such as `claude`. Default: the first agent with sessions here. */
    readonly agent?: string | undefined;
    /** Judges besides those for rules, exact answers and rubrics. Default: commands in a sandbox. */
    readonly scorers?: readonly TaskScorer[] | undefined;
    /** An agent with tools that attempts the tasks in place of the target. */
    readonly work?: FoundWork | undefined;
    readonly now?: (() => Date) | undefined;
  };

/**
 * One night of a project: reads the new sessions of coding agents, makes tasks of them, replays the tasks, and stages the
 * edits that are proven better. A person adopts them later: see `adopt`. Texts of sessions are redacted and sent to the models.
 */
export async function runSleepCycle(options: SleepOptions & NightOptions): Promise<CycleOutcome> {
  using sleep = await openSleep(options);
  return await runNightIn(sleep, options); // the index must stay open until the night is over
}

/** The same, with settings, sources and session index already open. */
export async function runNightIn(given: OpenSleep, options: NightOptions): Promise<CycleOutcome> {
  const sleep = await withTargetOf(options.tasksFile, given);
  const { settings, place, folder, project, redact, sources } = sleep;
  const { target, optimizer, judge = optimizer, work, handoff, tasksFile, now = () => new Date() } = options;
  const { config, runner, isDryRun, observers, signal } = options;
  const models = { target, optimizer, judge };
  const agent = options.agent ?? sources[0]?.name ?? 'claude';
  const search = { agent, place, project, settings };
  const skill = settings.evolveSkill ? await findSkill(search) : undefined;
  const memory = settings.evolveMemory ? await findMemory(search) : undefined;
  const choose = async (tasks: Tasks) => (skill ? chooseSkills(tasks, search, skill) : noChoice);
  const isMinedByModel = settings.llmMine && handoff === undefined;
  const gathering = { ...options, models, now, isMinedByModel, hasTools: work !== undefined, chooseSkills: choose };
  return runCycle({
    ...{ folder, project, agent, settings, models, redact, now, handoff, runner, isDryRun, observers, signal },
    config: { ...config, ...(work ? { rolloutTimeoutMs: work.longestMs } : {}) },
    scorers: options.scorers ?? nightScorers(work),
    openWork: work?.open,
    modelKey: [work?.agent ?? target, optimizer, judge].map(({ id }) => id).join(' · '),
    documents: [skill, memory].filter((document) => document !== undefined),
    chooseSkills: choose,
    gather: (state, budget) => gatherNight(sleep, gathering, { state, budget }),
    tasksFrom: tasksFile === undefined ? '' : await nameOfTasks(tasksFile),
  });
}

/** The skill that a tasks file is for, unless the settings name one. */
async function withTargetOf(tasksFile: string | undefined, sleep: OpenSleep): Promise<OpenSleep> {
  const { settings, place, project } = sleep;
  if (tasksFile === undefined || settings.targetSkillPath !== undefined) return sleep;
  const { targetSkillPath: named } = (await readTasksFile(tasksFile)).file;
  const targetSkillPath = named === '' ? undefined : resolve(project, expandHome(named, place.home));
  return { ...sleep, settings: { ...settings, targetSkillPath } };
}

export const nightScorers = ({ sandbox = openSandbox() }: Partial<Pick<FoundWork, 'sandbox'>> = {}): TaskScorer[] => [
  commandJudge({ sandbox }) as TaskScorer,
];
