import { InvalidArgumentError } from 'commander';
import { SkillError } from '../../core/errors.ts';
import { oneLine } from '../../core/text/printable.ts';
import { countTokens } from '../../models/index.ts';
import { chooseModels } from '../../sleep/choose-models.ts';
import type { Page } from '../../sleep/plan/pages.ts';
import { type NightPlan, planNight } from '../../sleep/plan/plan-night.ts';
import type { SessionDigest } from '../../transcripts/session-digest.ts';
import { estimateLines, span } from '../estimate/estimate-lines.ts';
import { plural } from '../terminal/figures.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { OpenSleep } from './open-sleep.ts';

export async function planOf(sleep: OpenSleep, sessions: readonly SessionDigest[]): Promise<NightPlan> {
  const { settings, place } = sleep;
  const models = await chooseModels(settings, place.env);
  return planNight({ sessions, settings, models, env: place.env, countTokens, skillTokens: 0 });
}

export function planLines(plan: NightPlan, missing: readonly string[], terminal: Terminal): string[] {
  const { colors } = terminal;
  const { sessions, pages, estimate, recipients, miner } = plan;
  if (sessions === 0) return ['No session to learn from: a night would do nothing.'];
  const found =
    miner === 'model'
      ? `about ${span(estimate.tasks, String)} tasks, as the model finds them`
      : `${estimate.tasks.high} tasks, by rule`;
  return [
    `A night would read ${plural(sessions, 'session')} and make ${found}. Nothing was sent, no model was asked.`,
    '',
    ...estimateLines(estimate, terminal),
    `about ${span(estimate.minutes, (value) => (value < 1 ? '<1' : value.toFixed(0)))} minutes`,
    '',
    ...recipients.map(({ name, roles, isRemote, provider }) => {
      const consent = !isRemote
        ? 'on this machine'
        : missing.includes(provider)
          ? 'you will be asked first'
          : 'you agreed';
      return `${plural(pages.length, 'page')} of text may be sent to ${colors.bold(name)}, as ${roles.join(', ')} (${consent})`;
    }),
    ...(recipients.length === 0 ? ['No text leaves this process: the models are simulated.'] : []),
  ];
}

/** One page, or all of them; else how to see them. */
export function pageLines(pages: readonly Page[], wanted: PageNumber | undefined, { colors }: Terminal): string[] {
  if (pages.length === 0) return [];
  if (wanted === undefined)
    return ['', `next:  ${colors.bold('skillopt sleep run --plan --page 1')}  the texts, page by page (or --page all)`];
  return choosePages(pages, wanted).flatMap((page) => [
    '',
    ...pageText(page, pages.indexOf(page) + 1, pages.length, colors),
  ]);
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

export function readPage(text: string): PageNumber {
  if (text === 'all') return text;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of a page, or all.');
}

function pageText(
  { sessionId, source, project, day, texts }: Page,
  at: number,
  of: number,
  colors: Terminal['colors'],
): string[] {
  return [
    colors.bold(`page ${at} of ${of}: ${source}, ${oneLine(project) || 'project not known'}, ${day}`),
    colors.dim(
      `all that may be sent of session ${oneLine(sessionId)}; leave it out with --drop ${shellWord(sessionId)}`,
    ),
    ...texts.flatMap((text) => text.split('\n').map((line) => `  | ${line}`)),
  ];
}
