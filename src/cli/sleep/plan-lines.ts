import { SkillError } from '../../core/contracts/index.ts';
import { count, oneLine, plural, shellWord } from '../../core/text/index.ts';
import { countTokens } from '../../models/index.ts';
import { agentTargetOf, checkModelSpec, resolveModel } from '../../project/index.ts';
import { estimateLine, estimateLines, nextLines, rangeText, wrap } from '../../report/index.ts';
import {
  chooseModels,
  findWork,
  isHandoff,
  isSimulated,
  type NightEstimate,
  type NightPlan,
  type Page,
  planNight,
  type SleepSettings,
} from '../../sleep/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type OpenSleep, retyped, type SleepFlags } from './open-sleep.ts';

export async function planOf(sleep: OpenSleep, sessions: readonly SessionDigest[]): Promise<NightPlan> {
  const { settings, place } = sleep;
  const models = await chooseModels(settings, sleep);
  agentTargetOf(models);
  for (const role of ROLES) if (!isHandoff(models[role])) checkModelSpec(models[role], role);
  return planNight({ sessions, settings, models, env: place.env, countTokens, skillTokens: 0 });
}

const ROLES = ['target', 'optimizer', 'judge'] as const;

/** What keeps a model from being asked, though it is named well: a missing key, a program that is not installed. */
export async function modelProblems({ models }: NightPlan, { place, project }: OpenSleep): Promise<string[]> {
  const real = ROLES.filter((role) => !isSimulated(models[role]) && !isHandoff(models[role]));
  const agent = agentTargetOf(models);
  const opened: Promise<unknown>[] = [
    ...real.map((role) => resolveModel(models[role], { role, env: place.env, directory: project })),
    ...(agent ? [findWork(agent, { env: place.env, project })] : []),
  ];
  const problems = opened.map((one) =>
    one.then(
      () => undefined,
      (error: unknown) => (error instanceof SkillError ? error.message : Promise.reject(error)),
    ),
  );
  return (await Promise.all(problems)).filter((problem) => problem !== undefined);
}

/**
 * No agent CLI says in the output of its headless mode which share of a usage limit is used: at most whether one is reached, and when
 * it ends. A guess would be worse than none.
 */
export const USAGE_LIMIT_SHARE = null;
const USAGE_LIMIT_LINE = 'share of a usage limit: unknown';

type PlanNotes = {
  readonly settings: SleepSettings;
  /** Providers that nobody agreed to yet. */
  readonly missing: readonly string[];
  readonly problems: readonly string[];
  /** How many tasks an agent does with tools, and where. */
  readonly withTools: readonly string[];
};

export function planLines(plan: NightPlan, notes: PlanNotes, terminal: Terminal): string[] {
  const { settings, missing, problems, withTools } = notes;
  const { width } = terminal;
  const { sessions, estimate } = plan;
  if (sessions === 0) return ['No session to learn from: a night would do nothing.'];
  const opening = `A night would read ${plural(sessions, 'session')} and make ${tasksOf(plan)}. Nothing was sent, no model was asked.`;
  return [
    ...wrap(opening, width),
    '',
    ...estimateLines(estimate, terminal),
    minutesOf(estimate),
    USAGE_LIMIT_LINE,
    ...limitLines(estimate.totals.tokens, settings.maxTokensPerNight, width),
    '',
    ...recipientLines(plan, missing, terminal),
    ...withTools.flatMap((line) => wrap(line, width)),
    ...problems.flatMap((problem) => wrap(`not ready: ${problem}`, width)),
  ];
}

const minutesOf = ({ minutes }: NightEstimate) =>
  `about ${rangeText(minutes, (value) => (value < 1 ? '<1' : value.toFixed(0)))} minutes`;

/** Before a night begins. */
export const costLine = ({ estimate }: NightPlan): string =>
  `${estimateLine(estimate)}, ${minutesOf(estimate)}; ${USAGE_LIMIT_LINE}`;

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

function recipientLines(
  { pages, recipients, models }: NightPlan,
  missing: readonly string[],
  { width, colors }: Terminal,
): string[] {
  if (isHandoff(models.target)) return wrap(HANDED_OVER, width);
  if (recipients.length === 0)
    return wrap(
      'No text leaves this process: the models are simulated, and learn nothing real. Name one with --target.',
      width,
    );
  return recipients.flatMap(({ name, roles, isRemote, provider }) => {
    const asked = missing.includes(provider) ? 'you will be asked first' : 'you agreed';
    const consent = isRemote ? asked : 'on this machine';
    const text = `${plural(pages.length, 'page')} of text may be sent to ${name}, as ${roles.join(', ')} (${consent})`;
    return wrap(text, width).map((line) => line.replace(name, () => colors.bold(name)));
  });
}

/** One page, or all of them, and how to see more. */
export function pageLines(
  pages: readonly Page[],
  wanted: PageNumber | undefined,
  flags: SleepFlags,
  terminal: Terminal,
): string[] {
  const { colors } = terminal;
  if (pages.length === 0) return [];
  const shown = wanted === undefined ? [] : choosePages(pages, wanted);
  const texts = shown
    .flatMap((page) => ['', ...pageText(page, pages.indexOf(page) + 1, pages.length, colors)])
    .slice(1);
  const next = wanted === undefined ? 1 : wanted === 'all' ? pages.length + 1 : wanted + 1;
  if (next > pages.length) return texts;
  const why = wanted === undefined ? 'the texts, page by page (or --page all)' : 'the next page';
  return [...texts, '', ...nextLines([[retyped(`run --plan --page ${next}`, flags), why]], terminal)];
}

export function choosePages(pages: readonly Page[], wanted: PageNumber | undefined): readonly Page[] {
  if (wanted === undefined || wanted === 'all') return pages;
  if (wanted <= pages.length) return [pages[wanted - 1]!];
  const range = pages.length === 0 ? 'no page: there is nothing to send' : `a page from 1 to ${pages.length}`;
  throw new SkillError('USAGE', `expected ${range}, got ${wanted}`, {
    hint: 'Leave --page out to see how many there are.',
  });
}

export type PageNumber = number | 'all';

function pageText(
  { sessionId, source, project, day, texts, speakers }: Page,
  at: number,
  of: number,
  colors: Terminal['colors'],
): string[] {
  return [
    colors.bold(`page ${at} of ${of}: ${source}, ${oneLine(project) || 'project not known'}, ${day}`),
    colors.dim(`all of the session that may be sent; leave it out with --drop ${shellWord(sessionId)}`),
    ...texts.flatMap((text, index) => {
      const isSame = speakers[index] === speakers[index - 1];
      return text
        .split('\n')
        .map((line, row) => `${(row > 0 || isSame ? '' : speakers[index]!).padStart(7)} | ${line}`);
    }),
  ];
}
