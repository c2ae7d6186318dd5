import { examineNight, readClock, runNight, skillPathOf, takeTurn } from '../../app/index.ts';
import { resolvePath } from '../../project/index.ts';
import { nightLines } from '../../report/index.ts';
import { type CycleOutcome, HandoffPending, type OpenSleep, openSleep } from '../../sleep/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { inFlags } from '../flags/in-flags.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { type PlanFlags, showPlan } from './plan.ts';
import { nightCommands } from './proposals.ts';
import { consentFrom, type LimitFlags, limitsIn, placeOf, privateFiles, sleepOptions } from './sleep-flags.ts';

export type RunFlags = PlanFlags &
  LimitFlags & {
    readonly tasks?: string;
    readonly consent?: readonly string[];
    readonly quiet?: boolean;
    /** For a nightly job: do nothing unless this time of the day has passed since the last one. */
    readonly ifDue?: string;
    /** Of `schedule`: look only at what a night needs. */
    readonly check?: boolean;
  };

export type WithSkill = { readonly skill?: string };

/** A night, now: with progress, within its limits, and resumed if it was interrupted. */
export const showNight = (flags: RunFlags & WithSkill, terminal: Terminal): Promise<void> =>
  flags.check ? showNightChecks(flags, terminal) : spendNight(flags, terminal, false);

export const showDryRun = (flags: RunFlags & WithSkill, terminal: Terminal): Promise<void> =>
  spendNight(flags, terminal, true);

async function spendNight(given: RunFlags & WithSkill, terminal: Terminal, isDryRun: boolean): Promise<void> {
  const flags = await namingSkill(given, terminal);
  if (flags.plan) return showPlan(flags, terminal);
  if (flags.ifDue !== undefined && !(await isDue(flags.ifDue, flags, terminal))) return;
  using sleep = await openSleep(sleepOptions(flags, terminal));
  using _ = privateFiles();
  const isQuiet = flags.quiet === true;
  const progress = openProgress(terminal, { isQuiet, isNight: true });
  const gathering = gatherProgress(terminal, { isQuiet, maxCalls: flags.maxCalls });
  try {
    const outcome = await interruptible({ io: terminal.io, onStop: progress.log }, (signal) =>
      runNight(sleep, {
        ...{ since: flags.since, isDryRun, signal, limits: limitsIn(flags), observers: [progress] },
        tasksFile: flags.tasks === undefined ? undefined : resolvePath(terminal.io.cwd(), flags.tasks),
        consent: consentFrom(flags, terminal),
        onEvent: gathering.onEvent,
      }),
    );
    progress.close();
    answer(outcome, terminal, isDryRun);
  } catch (error) {
    progress.close();
    if (!(error instanceof HandoffPending) || error.files === undefined) throw error;
    terminal.answer({ handoffPending: true, ...error.files }, pendingLines(error));
    throw new Answered(6);
  } finally {
    gathering.close();
    progress.close();
  }
}

/** The flags with the path of the skill that was named: a name means nothing in a list of settings. */
export async function namingSkill<Flags extends RunFlags>(
  { skill, ...flags }: Flags & WithSkill,
  terminal: Terminal,
): Promise<Flags> {
  if (skill === undefined) return flags as unknown as Flags;
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const targetSkillPath = await skillPathOf(skill, sleep, terminal.io.cwd());
  return { ...flags, targetSkillPath } as unknown as Flags;
}

function isDue(at: string, { project = '.' }: RunFlags, terminal: Terminal): Promise<boolean> {
  const folder = resolvePath(terminal.io.cwd(), project);
  return takeTurn(stateFolderOf(placeOf(terminal)), folder, readClock(at), new Date());
}

function answer({ report, proposals, folder }: CycleOutcome, terminal: Terminal, isDryRun: boolean): void {
  const staged = proposals.map(({ id, document, gain }) => ({ id, path: document.path, gain }));
  const waiting = proposals.map(({ document }) => document);
  const commands = nightCommands(report, waiting, terminal);
  const shown = folder && shownPath(folder);
  terminal.answer(
    { ...report, isDryRun, proposals: staged, folder: folder ?? null },
    nightLines(report, { folder: shown, isDryRun, commands }, terminal),
  );
}

function pendingLines({ message, files }: HandoffPending): string[] {
  return [
    `${message}:`,
    ...files!.files.map((file) => `  ${shownPath(file)}`),
    `Each file says how. The answers go to ${shownPath(files!.answersDir)}`,
    'Then run the same command again: it resumes the night.',
  ];
}

/** Checks what a night needs. `schedule` calls it in the environment that the job will have. */
async function showNightChecks(flags: RunFlags, terminal: Terminal): Promise<void> {
  const open = (): Promise<OpenSleep> => openSleep(sleepOptions(flags, terminal));
  const found = await examineNight({ open, limits: limitsIn(flags) });
  const checks = found.map(({ error, ...check }) => {
    if (error === undefined) return check;
    const { message, hint } = inFlags(error);
    return { ...check, detail: message, ...(hint ? { remedy: hint } : {}) };
  });
  const lines = checks.map(({ name, detail }) => `${name}: ${detail}`);
  terminal.answer({ checks }, lines);
}
