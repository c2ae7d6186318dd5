import { readSleepState, withoutConsent } from '../../sleep/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { drop, warnOfUnknown } from './drop.ts';
import { gatherSessions, gatherTasks } from './gather/gather.ts';
import { notConsidered } from './not-considered.ts';
import { openSleep, type SleepFlags } from './open-sleep.ts';
import {
  choosePages,
  modelProblems,
  type PageNumber,
  pageLines,
  planLines,
  planOf,
  USAGE_LIMIT_SHARE,
} from './plan-lines.ts';
import { planWork, workLines } from './plan-work.ts';

export type PlanFlags = SleepFlags & {
  readonly plan?: boolean;
  readonly page?: PageNumber;
  readonly drop?: readonly string[];
};

/** What a night would do, cost and send. Asks no model. */
export async function showPlan(flags: PlanFlags, terminal: Terminal): Promise<void> {
  if (flags.drop) await drop(flags.drop, terminal);
  using sleep = await openSleep(flags, terminal);
  const harvest = await gatherSessions(sleep, flags, terminal);
  const mined = await gatherTasks(sleep, harvest);
  if (flags.drop) await warnOfUnknown(flags.drop, { sleep, harvest }, terminal);
  const plan = await planOf(sleep, harvest.sessions);
  const missing = withoutConsent(plan.recipients, await readSleepState(sleep.folder)).map(({ provider }) => provider);
  const problems = await modelProblems(plan, sleep);
  const plannedWork = await planWork(plan, sleep, mined.tasks);
  const { models, ...rest } = plan;
  const pages = choosePages(plan.pages, flags.page);
  const answer = {
    ...rest,
    pages,
    tasksByRule: mined.tasks.length,
    usageLimitShare: USAGE_LIMIT_SHARE,
    consentMissing: missing,
    problems,
    withTools: plannedWork,
  };
  const { page, ...others } = flags;
  const texts = pageLines(plan.pages, page, others, terminal);
  if (page !== undefined && texts.length > 0) return terminal.answer(answer, texts);
  terminal.answer(answer, [
    ...planLines(plan, { settings: sleep.settings, missing, problems, withTools: workLines(plannedWork) }, terminal),
    ...notConsidered(harvest.considered).map((line) => terminal.colors.dim(line)),
    ...texts,
  ]);
}
