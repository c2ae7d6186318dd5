import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SkillOptConfigInput } from '../../core/config.ts';
import type { TaskScorer } from '../../core/judge/task-judge.ts';
import type { ChatModel } from '../../core/model.ts';
import { commandJudge } from '../../judges/index.ts';
import { resolveModel } from '../../project/models/resolve-model.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import { findMemory, findSkill } from '../../sleep/documents/find-documents.ts';
import { openMiner } from '../../sleep/mine/open-miner.ts';
import type { CycleInput, GatheredNight } from '../../sleep/night/cycle-input.ts';
import type { NightModels } from '../../sleep/night/document-night.ts';
import { prepareTasks } from '../../sleep/night/prepare-tasks.ts';
import { type CycleOutcome, runSleepCycle } from '../../sleep/night/run-sleep-cycle.ts';
import type { NightPlan } from '../../sleep/plan/plan-night.ts';
import type { SleepState } from '../../sleep/state/sleep-state.ts';
import { readTasksFile, requireReviewed } from '../../sleep/tasks-file.ts';
import { openSandbox } from '../../workspaces/index.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { requireConsent } from './ask-consent.ts';
import { gatherSessions, gatherTasks } from './gather.ts';
import { nightLines } from './night-lines.ts';
import { type OpenSleep, openSleep, retyped } from './open-sleep.ts';
import { type PlanFlags, showPlan } from './plan.ts';
import { planOf } from './plan-lines.ts';

export type RunFlags = PlanFlags & {
  readonly tasks?: string;
  readonly consent?: readonly string[];
  readonly maxMinutes?: number;
  readonly maxCalls?: number;
  readonly maxCostUsd?: number;
  readonly quiet?: boolean;
};

/** A night, now: with progress, within its limits, and resumed where it was cut off. */
export async function runNight(flags: RunFlags, terminal: Terminal, { isDryRun = false } = {}): Promise<void> {
  if (flags.plan) return showPlan(flags, terminal);
  using sleep = await openSleep(flags, terminal);
  const progress = openProgress(terminal, { isQuiet: flags.quiet === true });
  try {
    const outcome = await interruptible({ io: terminal.io, onStop: progress.log }, async (signal) => {
      const night = await openNight(sleep, flags, terminal, signal);
      return runSleepCycle({ ...night, isDryRun, observers: [progress], signal });
    });
    progress.close();
    answer(outcome, terminal, isDryRun);
  } finally {
    progress.close();
  }
}

function answer({ report, proposals, folder }: CycleOutcome, terminal: Terminal, isDryRun: boolean): void {
  const staged = proposals.map(({ id, document, gain }) => ({ id, path: document.path, gain }));
  terminal.answer(
    { ...report, isDryRun, proposals: staged, folder: folder ?? null },
    nightLines(report, { folder, isDryRun }, terminal),
  );
}

/** Everything a night needs; asks for consent before anything is sent. */
async function openNight(
  sleep: OpenSleep,
  flags: RunFlags,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<CycleInput> {
  const { settings, place, folder, project, redact } = sleep;
  const plan = await planOf(sleep, []);
  const models = await resolveAll(plan, sleep);
  const pages = retyped('run --plan --page all', flags);
  await requireConsent({ folder, recipients: plan.recipients, given: providersIn(flags.consent), pages }, terminal);
  const agent = agentOf(plan, sleep);
  const search = { agent, place, project, settings };
  return {
    ...{ folder, project, agent, settings, models, redact },
    modelKey: [models.target, models.optimizer, models.judge].map(({ id }) => id).join(' · '),
    documents: [
      ...(settings.evolveSkill ? [await findSkill(search)] : []),
      ...(settings.evolveMemory ? [await findMemory(search)] : []),
    ],
    gather: (state) => gatherNight(sleep, { flags, models, state, terminal, signal }),
    tasksFrom: flags.tasks === undefined ? '' : await nameOfTasks(flags.tasks, terminal),
    now: () => new Date(),
    config: limitsIn(flags),
    scorers: [commandJudge({ sandbox: openSandbox() }) as TaskScorer],
  };
}

async function resolveAll({ models }: NightPlan, { place, project }: OpenSleep): Promise<RunModels> {
  const resolve = (role: 'target' | 'optimizer' | 'judge') =>
    resolveModel(models[role], { role, env: place.env, directory: project });
  return { target: await resolve('target'), optimizer: await resolve('optimizer'), judge: await resolve('judge') };
}

/** The agent that attempts the tasks, if it is one; else the one whose sessions are learned from. */
function agentOf({ models }: NightPlan, { sources }: OpenSleep): string {
  const spec = typeof models.target === 'string' ? models.target : String(models.target.provider);
  const [provider = ''] = spec.split(':');
  return /-cli$/.test(provider) ? provider : (sources[0]?.name ?? 'claude');
}

type RunModels = NightModels & { readonly judge: ChatModel };

type Gathering = {
  readonly flags: RunFlags;
  readonly models: RunModels;
  readonly state: SleepState;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
};

async function gatherNight(sleep: OpenSleep, gathering: Gathering): Promise<GatheredNight> {
  const { flags, state } = gathering;
  const here = sleep.redact(sleep.project);
  const isHere = (project: string) => project === here || project.startsWith(`${here}/`); // sessions below it count
  const archive = state.taskArchive.map(({ task }) => task).filter(({ project }) => isHere(project));
  const day =
    flags.tasks === undefined ? await fromSessions(sleep, gathering) : await fromFile(flags.tasks, sleep, gathering);
  const { tasks, notReplayable, pooled } = prepareTasks(day.tasks, archive, sleep.settings);
  return { ...day, tasks: [...tasks], notReplayable, pooled };
}

type Day = Omit<GatheredNight, 'notReplayable' | 'pooled'>;

async function fromSessions(sleep: OpenSleep, { flags, models, state, terminal, signal }: Gathering): Promise<Day> {
  const harvest = await gatherSessions(sleep, flags, terminal);
  using open =
    sleep.settings.llmMine && !isSimulated(models.optimizer.id)
      ? await openMiner({ model: models.optimizer, settings: sleep.settings, folder: sleep.folder, signal })
      : undefined;
  const earlier = state.taskArchive.map(({ task }) => task);
  const mined = await gatherTasks(sleep, harvest, { miner: open?.miner ?? 'heuristic', signal, earlier });
  const recurring = mined.groups
    .filter(({ sessionIds }) => sessionIds.length > 1)
    .map(({ intent, sessionIds, dates }) => ({ intent, sessions: sessionIds.length, days: dates.length }));
  return {
    nSessions: harvest.sessions.length,
    recurring,
    tasks: [...mined.tasks],
    cursors: flags.since === undefined ? harvest.newCursor : undefined,
    notes: [...mined.notes],
  };
}

const isSimulated = (id: string) => id.startsWith('simulated');

/** Of the file's bytes: an edited file is another night. */
async function nameOfTasks(path: string, { io }: Terminal): Promise<string> {
  const bytes = await readFile(resolvePath(io.cwd(), path)).catch(() => Buffer.alloc(0)); // what is wrong with it is said where it is read
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Tasks that a person has read. No session is considered for them, and no cursor moves. */
async function fromFile(path: string, { settings }: OpenSleep, { models, terminal }: Gathering): Promise<Day> {
  const { file, warnings } = await readTasksFile(resolvePath(terminal.io.cwd(), path), settings);
  requireReviewed(file, models);
  return { nSessions: 0, recurring: [], tasks: [...file.tasks], notes: [...warnings] };
}

function limitsIn({ maxMinutes, maxCalls, maxCostUsd }: RunFlags): SkillOptConfigInput {
  return {
    ...(maxMinutes === undefined ? {} : { maxMinutes }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
  };
}

const providersIn = (consent: readonly string[] = []) =>
  consent.flatMap((names) => names.split(',')).map((name) => name.trim());
