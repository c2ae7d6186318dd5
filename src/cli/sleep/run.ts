import { agentPrograms } from '../../agents/index.ts';
import { SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import { commandJudge } from '../../judges/index.ts';
import { agentTargetOf, resolveModel } from '../../project/index.ts';
import {
  type CycleInput,
  type CycleOutcome,
  chooseSkills,
  type FoundWork,
  findMemory,
  findSkill,
  findWork,
  type Handoff,
  HandoffPending,
  isHandoff,
  type NightPlan,
  noChoice,
  openHandoff,
  readClock,
  requireRoom,
  runSleepCycle,
  skillNamed,
  type TaskRecord,
  takeTurn,
} from '../../sleep/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
import { openSandbox } from '../../workspaces/index.ts';
import { Answered } from '../answered.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { providersIn, requireConsent } from './ask-consent.ts';
import { meantProject } from './choose-proposals.ts';
import { gatherNight, nameOfTasks, type RunModels } from './gather/gather-night.ts';
import { nightCommands, nightLines } from './night-lines.ts';
import { type OpenSleep, openSleep, placeOf, privateFiles, retyped } from './open-sleep.ts';
import { type PlanFlags, showPlan } from './plan.ts';
import { planOf } from './plan-lines.ts';

export type RunFlags = PlanFlags & {
  readonly tasks?: string;
  readonly consent?: readonly string[];
  readonly maxMinutes?: number;
  readonly maxCalls?: number;
  readonly maxCostUsd?: number;
  readonly quiet?: boolean;
  /** For a nightly job: do nothing unless this time of the day came round since the last one. */
  readonly ifDue?: string;
};

/** A night, now: with progress, within its limits, and resumed where it was cut off. */
export async function runNight(
  given: RunFlags & WithSkill,
  terminal: Terminal,
  { isDryRun = false } = {},
): Promise<void> {
  const flags = await namingSkill(given, terminal);
  if (flags.plan) return showPlan(flags, terminal);
  if (flags.ifDue !== undefined && !(await isDue(flags.ifDue, flags, terminal))) return;
  using sleep = await openSleep(flags, terminal);
  using _ = privateFiles();
  const progress = openProgress(terminal, { isQuiet: flags.quiet === true, isNight: true });
  try {
    const outcome = await interruptible({ io: terminal.io, onStop: progress.log }, async (signal) => {
      const night = await openNight(sleep, { ...flags, isDryRun }, terminal, signal);
      return runSleepCycle({ ...night, isDryRun, observers: [progress], signal });
    });
    progress.close();
    answer(outcome, terminal, isDryRun);
  } catch (error) {
    progress.close();
    if (!(error instanceof HandoffPending) || error.files === undefined) throw error;
    terminal.answer({ handoffPending: true, ...error.files }, pendingLines(error));
    throw new Answered(6);
  } finally {
    progress.close();
  }
}

export type WithSkill = { readonly skill?: string };

/** The flags with the path of the skill that was named; a name means nothing in a list of settings. */
export async function namingSkill({ skill, ...flags }: RunFlags & WithSkill, terminal: Terminal): Promise<RunFlags> {
  if (skill === undefined) return flags;
  using sleep = await openSleep(flags, terminal);
  const { place, project, settings } = sleep;
  const search = { agent: agentOf(await planOf(sleep, []), sleep), place, project, settings };
  const { live } = await skillNamed(skill, search, terminal.io.cwd());
  return { ...flags, targetSkillPath: live.path };
}

function isDue(at: string, flags: RunFlags, terminal: Terminal): Promise<boolean> {
  const { here } = meantProject(flags, terminal);
  return takeTurn(stateFolderOf(placeOf(terminal)), here, readClock(at), new Date());
}

function answer({ report, proposals, folder }: CycleOutcome, terminal: Terminal, isDryRun: boolean): void {
  const staged = proposals.map(({ id, document, gain }) => ({ id, path: document.path, gain }));
  const waiting = proposals.map(({ document }) => document);
  const commands = nightCommands(report, waiting, terminal);
  terminal.answer(
    { ...report, isDryRun, proposals: staged, folder: folder ?? null },
    nightLines(report, { folder, isDryRun, commands }, terminal),
  );
}

/** Everything a night needs. */
async function openNight(
  sleep: OpenSleep,
  flags: RunFlags & { readonly isDryRun: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<CycleInput> {
  const { settings, place, folder, project, redact } = sleep;
  const plan = await planOf(sleep, []);
  const handoff = isHandoff(plan.models.target) ? requireKept(openHandoff(), flags) : undefined;
  const opened = await openModels(sleep, flags, terminal, handoff?.models);
  const { models, agent, config, scorers, work } = opened;
  const search = { agent, place, project, settings };
  const skill = settings.evolveSkill ? await findSkill(search) : undefined;
  const choose = async (tasks: readonly TaskRecord[]) => (skill ? chooseSkills(tasks, search, skill) : noChoice);
  return {
    ...{ folder, project, agent, settings, models, redact, config, scorers },
    openWork: work?.open,
    modelKey: [work?.agent ?? models.target, models.optimizer, models.judge].map(({ id }) => id).join(' · '),
    documents: [...(skill ? [skill] : []), ...(settings.evolveMemory ? [await findMemory(search)] : [])],
    handoff,
    chooseSkills: choose,
    gather: (state, budget) =>
      gatherNight(sleep, {
        ...{ flags, models, plan, state, budget, terminal, signal, chooseSkills: choose },
        hasTools: work !== undefined,
      }),
    tasksFrom: flags.tasks === undefined ? '' : await nameOfTasks(flags.tasks, terminal),
    now: () => new Date(),
  };
}

/** A handoff is resumed many times, and calls nobody. */
function requireKept(handoff: Handoff, flags: RunFlags & { readonly isDryRun: boolean }): Handoff {
  const useless = (['maxCalls', 'maxCostUsd'] as const).find((name) => flags[name] !== undefined);
  const refuse = (what: string, hint: string) => new SkillError('USAGE', what, { hint });
  if (flags.isDryRun) throw refuse('a dry run keeps nothing, and a handoff must keep its answers', 'Use sleep run.');
  if (useless) throw refuse(`a handoff calls no model that ${useless} could limit`, 'Leave the limit out.');
  return handoff;
}

function pendingLines({ message, files }: HandoffPending): string[] {
  return [
    `${message}:`,
    ...files!.files.map((file) => `  ${shownPath(file)}`),
    `Each file says how. The answers go to ${shownPath(files!.answersDir)}`,
    'Then run the same command again: it resumes the night.',
  ];
}

/** The models of a night with its limits; asks for consent before anything is sent. */
export async function openModels(sleep: OpenSleep, flags: RunFlags, terminal: Terminal, given?: RunModels) {
  const plan = await planOf(sleep, []);
  const models = given ?? (await resolveAll(plan, sleep, terminal));
  const work = await workOf(plan, sleep, terminal);
  const pages = retyped('run --plan --page all', flags);
  const agreed = providersIn(flags.consent);
  await requireConsent({ folder: sleep.folder, recipients: plan.recipients, given: agreed, pages }, terminal);
  const config = { ...limitsIn(flags), ...(work ? { rolloutTimeoutMs: work.longestMs } : {}) };
  return { models, work, agent: agentOf(plan, sleep), config, scorers: scorersOfNight(work) };
}

/** Besides those that every night knows. */
export const scorersOfNight = ({ sandbox = openSandbox() }: Partial<Pick<FoundWork, 'sandbox'>> = {}): TaskScorer[] => [
  commandJudge({ sandbox }) as TaskScorer,
];

/** The agent that does the tasks with tools, where the target is one. What is missing is said before anything is paid for. */
async function workOf({ models }: NightPlan, { project, settings }: OpenSleep, terminal: Terminal) {
  const target = agentTargetOf(models);
  if (target === undefined) return undefined;
  const work = await findWork(target, { env: terminal.io.env, project, notices: terminal });
  requireRoom(work, settings.maxTokensPerNight);
  return work;
}

/** With the person's own variables: other homes are where sessions are looked for, and need hold no sign-in. */
async function resolveAll({ models }: NightPlan, { project }: OpenSleep, terminal: Terminal): Promise<RunModels> {
  const resolve = (role: 'target' | 'optimizer' | 'judge') =>
    resolveModel(models[role], { role, env: terminal.io.env, directory: project, notices: terminal });
  return { target: await resolve('target'), optimizer: await resolve('optimizer'), judge: await resolve('judge') };
}

/** The agent that attempts the tasks, if it is one; else the one whose sessions are learned from. */
function agentOf({ models }: NightPlan, { sources }: OpenSleep): string {
  const target = agentTargetOf(models);
  if (target !== undefined) return agentPrograms[target.agent].cli;
  const spec = typeof models.target === 'string' ? models.target : String(models.target.provider);
  const [provider = ''] = spec.split(':');
  return /-cli$/.test(provider) ? provider : (sources[0]?.name ?? 'claude');
}

function limitsIn({ maxMinutes, maxCalls, maxCostUsd }: RunFlags): SkillOptConfigInput {
  return {
    ...(maxMinutes === undefined ? {} : { maxMinutes }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
  };
}
