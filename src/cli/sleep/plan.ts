import { SkillError } from '../../core/errors.ts';
import { withoutConsent } from '../../sleep/consent.ts';
import { readSleepState } from '../../sleep/state/state-file.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { drop, warnOfUnknown } from './drop.ts';
import { gatherSessions, gatherTasks } from './gather.ts';
import { notConsidered } from './not-considered.ts';
import { openSleep, type SleepFlags } from './open-sleep.ts';
import { choosePages, type PageNumber, pageLines, planLines, planOf } from './plan-lines.ts';

export type PlanFlags = SleepFlags & {
  readonly plan?: boolean;
  readonly page?: PageNumber;
  readonly drop?: readonly string[];
};

/** What a night would do, cost and send. Asks no model. */
export async function showPlan(flags: PlanFlags, terminal: Terminal): Promise<void> {
  if (!flags.plan) throw notYet();
  if (flags.drop) await drop(flags.drop, terminal);
  using sleep = await openSleep(flags, terminal);
  const harvest = await gatherSessions(sleep, flags, terminal);
  if (flags.drop) warnOfUnknown(flags.drop, sleep.index, terminal);
  const mined = await gatherTasks(sleep, harvest);
  const plan = await planOf(sleep, harvest.sessions);
  const missing = withoutConsent(plan.recipients, await readSleepState(sleep.folder)).map(({ provider }) => provider);
  const { models, ...rest } = plan;
  const pages = choosePages(plan.pages, flags.page);
  terminal.answer({ ...rest, pages, tasksByRule: mined.tasks.length, consentMissing: missing }, [
    ...planLines(plan, missing, terminal),
    ...notConsidered(harvest.considered).map((line) => terminal.colors.dim(line)),
    ...pageLines(plan.pages, flags.page, terminal),
  ]);
}

const notYet = () =>
  new SkillError('USAGE', 'a night can only be planned so far', {
    hint: 'skillopt sleep run --plan says what it would cost and send; skillopt sleep harvest makes the tasks.',
  });
