import {
  ignoreSessions,
  isTaskId,
  type NightEstimate,
  type NightPlan,
  type NightPreview,
  NOTHING_TO_LEARN,
  type PlannedWork,
  previewNight,
  unknownIds,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { count, oneLine, plural, shellWord } from '../../core/text/index.ts';
import { estimateLines, nextLines, notReplayableText, rangeText, wrap } from '../../report/index.ts';
import { isHandoff, isSimulated, needsConsent, openSleep, type Page } from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress, minutesOf, USAGE_LIMIT_LINE, USAGE_LIMIT_SHARE } from './gather-progress.ts';
import { notConsidered } from './harvest.ts';
import { placeOf, retyped, type SleepFlags, sleepOptions } from './sleep-flags.ts';

export type PlanFlags = SleepFlags & {
  readonly plan?: boolean;
  readonly page?: PageNumber;
  readonly drop?: readonly string[];
};

export async function showPlan(flags: PlanFlags, terminal: Terminal): Promise<void> {
  if (flags.drop) await drop(flags.drop, terminal);
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const progress = gatherProgress(terminal);
  const preview = await previewNight(sleep, { since: flags.since, onGather: progress.onEvent }).finally(progress.close);
  const { plan, harvest, tasksByRule, consentMissing, problems, withTools } = preview;
  for (const id of unknownIds(flags.drop ?? [], sleep, harvest)) {
    const what = isTaskId(id) ? 'no task' : 'no session';
    terminal.warn(`${what} ${JSON.stringify(id)} was found; it would be left out if it came`);
  }
  const { models: _, ...rest } = plan;
  const pages = choosePages(plan.pages, flags.page);
  const known = { tasksByRule, usageLimitShare: USAGE_LIMIT_SHARE, consentMissing, problems, withTools };
  const answer = { ...rest, pages, ...known };
  const { page, ...others } = flags;
  const texts = pageLines(plan.pages, page, others, terminal);
  if (page !== undefined && texts.length > 0) return terminal.answer(answer, texts);
  terminal.answer(answer, [
    ...planLines(preview, sleep.settings.maxTokensPerNight, terminal),
    ...notConsidered(harvest.considered).map((line) => terminal.colors.dim(line)),
    ...texts,
  ]);
}

/** Adds sessions and tasks to the private `.skilloptignore`, where they stay. */
async function drop(ids: readonly string[], terminal: Terminal): Promise<void> {
  if (ids.some((id) => oneLine(id) === '')) {
    const hint = 'Pages show the ids of sessions, skillopt sleep harvest those of tasks.';
    throw new SkillError('USAGE', 'expected the id of a session or of a task behind --drop, got nothing', { hint });
  }
  const { path, added } = await ignoreSessions(stateFolderOf(placeOf(terminal)), ids);
  const what = added.length > 0 ? `added ${added.join(', ')} to ${path}` : `${path} says so already`;
  const names = ids.map(oneLine).join(', ');
  terminal.note(`nothing is learned from ${names} from now on: ${what}. To undo it, delete the line.`);
}

function planLines(preview: NightPreview, maxTokens: number, terminal: Terminal): string[] {
  const { plan, consentMissing, problems, withTools } = preview;
  const { width } = terminal;
  const { sessions, estimate } = plan;
  if (sessions === 0) return [NOTHING_TO_LEARN];
  const opening = `A night would read ${plural(sessions, 'session')} and make ${tasksOf(plan)}. Nothing was sent, no model was asked.`;
  return [
    ...wrap(opening, width),
    '',
    ...estimateLines(estimate, terminal),
    minutesOf(estimate),
    USAGE_LIMIT_LINE,
    ...limitLines(estimate.totals.tokens, maxTokens, width),
    '',
    ...recipientLines(plan, consentMissing, terminal),
    ...workLines(withTools).flatMap((line) => wrap(line, width)),
    ...problems.flatMap((problem) => wrap(`not ready: ${problem}`, width)),
  ];
}

function tasksOf({ miner, models, estimate }: NightPlan): string {
  if (miner === 'model') return `about ${rangeText(estimate.tasks, String)} tasks, as the model finds them`;
  const why = isSimulated(models.optimizer) ? ' (the simulated optimizer cannot find any)' : '';
  return `${plural(estimate.tasks.high, 'task')}, by rule${why}`;
}

function limitLines({ low, high }: NightEstimate['totals']['tokens'], limit: number, width: number): string[] {
  if (high <= limit) return [];
  const how = low > limit ? 'is' : 'may be';
  const text = `That ${how} more than the ${count(limit)} tokens of maxTokensPerNight: the night stops there. --max-tokens-per-night N allows more, --max-tasks N needs fewer.`;
  return wrap(text, width);
}

const HANDED_OVER =
  'No text is sent: questions are written to files of yours. The session that answers them sends them to its provider.';

const SIMULATED =
  'No text leaves this process: the models are simulated, and learn nothing real. Name one with --target.';

function recipientLines(plan: NightPlan, missing: readonly string[], { width, colors }: Terminal): string[] {
  const { pages, recipients, models } = plan;
  if (isHandoff(models.target)) return wrap(HANDED_OVER, width);
  if (recipients.length === 0) return wrap(SIMULATED, width);
  return recipients.flatMap((recipient) => {
    const { name, roles, provider } = recipient;
    const asked = missing.includes(provider) ? 'you will be asked first' : 'you agreed';
    const consent = needsConsent(recipient) ? asked : 'on this machine';
    const text = `${plural(pages.length, 'page')} of text may be sent to ${name}, as ${roles.join(', ')} (${consent})`;
    return wrap(text, width).map((line) => line.replace(name, () => colors.bold(name)));
  });
}

function pageLines(pages: readonly Page[], wanted: PageNumber | undefined, flags: SleepFlags, terminal: Terminal) {
  const { colors } = terminal;
  if (pages.length === 0) return [];
  const shown = wanted === undefined ? [] : choosePages(pages, wanted);
  const titleOf = (page: Page) => `page ${pages.indexOf(page) + 1} of ${pages.length}`;
  const texts = shown.flatMap((page) => ['', ...pageText(page, titleOf(page), colors)]).slice(1);
  const next = wanted === 'all' ? pages.length + 1 : (wanted ?? 0) + 1;
  if (next > pages.length) return texts;
  const why = wanted === undefined ? 'the texts, page by page (or --page all)' : 'the next page';
  return [...texts, '', ...nextLines([[retyped(`run --plan --page ${next}`, flags), why]], terminal)];
}

function choosePages(pages: readonly Page[], wanted: PageNumber | undefined): readonly Page[] {
  if (wanted === undefined || wanted === 'all') return pages;
  if (wanted <= pages.length) return [pages[wanted - 1]!];
  const range = pages.length === 0 ? 'no page: there is nothing to send' : `a page from 1 to ${pages.length}`;
  const hint = 'Leave --page out to see how many there are.';
  throw new SkillError('USAGE', `expected ${range}, got ${wanted}`, { hint });
}

export type PageNumber = number | 'all';

function pageText(page: Page, title: string, colors: Terminal['colors']): string[] {
  const { sessionId, source, project, day, texts, speakers } = page;
  return [
    colors.bold(`${title}: ${source}, ${oneLine(project) || 'project not known'}, ${day}`),
    colors.dim(`all of the session that may be sent; leave it out with --drop ${shellWord(oneLine(sessionId))}`),
    ...texts.flatMap((text, index) => {
      const isSame = speakers[index] === speakers[index - 1];
      return text
        .split('\n')
        .map((line, row) => `${(row > 0 || isSame ? '' : speakers[index]!).padStart(7)} | ${line}`);
    }),
  ];
}

function workLines({ agent, sandbox, needFiles, files, leftOut }: PlannedWork): string[] {
  if (agent === null) return needFiles === 0 ? [] : [notReplayableText(needFiles)];
  const copy = `${agent} does every task with tools (sandbox: ${sandbox}), each in a fresh copy of ${count(files)} files of this project`;
  return [
    `${copy}; of the tasks that rules find, ${plural(needFiles, 'needs', 'need')} them.`,
    ...(leftOut === '' ? [] : [`Left out of the copy: ${leftOut}.`]),
  ];
}
