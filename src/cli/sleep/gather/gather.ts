import { readFile } from 'node:fs/promises';
import { SkillError } from '../../../core/contracts/index.ts';
import { checkRuleJudge } from '../../../core/judge/index.ts';
import {
  cursorsOf,
  type Harvest,
  harvest,
  type MineOptions,
  type MineResult,
  mineTasks,
  readSleepState,
  type SleepSettings,
  skillFileOf,
  type TargetSkill,
} from '../../../sleep/index.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { OpenSleep, SleepFlags } from '../open-sleep.ts';
import { harvestProgress } from './harvest-progress.ts';

/** The sessions that a night would consider. Changes no cursor. */
export async function gatherSessions(sleep: OpenSleep, flags: SleepFlags, terminal: Terminal): Promise<Harvest> {
  const { settings, project, folder } = sleep;
  const state = await readSleepState(folder, { onWarning: terminal.warn });
  const progress = harvestProgress(terminal);
  return harvest({
    ...sleep,
    now: Date.now(),
    cursors: flags.since === undefined ? cursorsOf(state, project) : {},
    since: flags.since,
    lookbackHours: settings.lookbackHours,
    limit: settings.maxSessionsPerNight ?? 3 * settings.maxTasksPerNight,
    onProgress: progress.show,
  }).finally(progress.clear);
}

/** The tasks in them: by rule, unless a model is to find them. */
export async function gatherTasks(
  { settings, isIgnored, redact }: OpenSleep,
  { sessions }: Harvest,
  {
    miner = 'heuristic',
    signal,
    onProgress,
    earlier = [],
    hasTools = false,
  }: Partial<Pick<MineOptions, 'miner' | 'signal' | 'onProgress' | 'earlier' | 'hasTools'>> = {},
): Promise<MineResult> {
  return mineTasks(sessions, {
    miner,
    signal,
    earlier,
    onProgress,
    hasTools,
    redact,
    maxTasks: settings.maxTasksPerNight,
    targetSkill: await targetSkillOf(settings),
    preferences: settings.preferences,
    promptOverrides: { miner: settings.promptOverrides.miner },
    validateChecks: checkRuleJudge,
    isUnwanted: ({ id, project }) => isIgnored({ source: '', sessionId: '', project, taskId: id }),
    valFraction: settings.valFraction,
    testFraction: settings.testFraction,
    seed: settings.seed,
    isBySkill: isBySkill(settings),
  });
}

/** Whether every skill that tasks name is to have tasks to measure with: a target has them all. */
export const isBySkill = ({ multiSkillFanout, targetSkillPath }: SleepSettings) =>
  multiSkillFanout && targetSkillPath === undefined;

/** The document that tasks must be about, if there is one and it is to choose them. */
async function targetSkillOf({ targetSkillPath, targetTaskFilter }: SleepSettings): Promise<TargetSkill | undefined> {
  if (targetSkillPath === undefined || !targetTaskFilter) return undefined;
  const path = skillFileOf(targetSkillPath);
  const text = await readFile(path, 'utf8').catch((cause) => {
    const message = `the target skill ${path} cannot be read: ${(cause as Error).message}`;
    throw new SkillError('CONFIG_INVALID', message, { cause, hint: 'Give the path of its SKILL.md.' });
  });
  return { path, text };
}
