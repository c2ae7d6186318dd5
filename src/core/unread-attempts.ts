import type { RolloutResult } from './rollout-result.ts';
import type { StageUsage } from './run/stage-usage.ts';
import type { SkillPart } from './skill/skill-parts.ts';
import { plural } from './text/figures.ts';

/** Attempts of agents by whether they loaded the skill. Those that were ended before they had say nothing about it. */
export type LoadingCount = { readonly loaded: number; readonly unread: number; readonly cutShort: number };

/** What an attempt says about loading. An outage says nothing. */
function loadingOfAttempt({ errored, skillUnread, extras }: RolloutResult): keyof LoadingCount | undefined {
  if (errored) return undefined;
  if (!skillUnread) return 'loaded';
  return (extras?.ended ?? 'done') === 'done' ? 'unread' : 'cutShort';
}

export function countLoading(results: readonly RolloutResult[]): LoadingCount {
  const kinds = results.map(loadingOfAttempt);
  const count = (kind: keyof LoadingCount) => kinds.filter((one) => one === kind).length;
  return { loaded: count('loaded'), unread: count('unread'), cutShort: count('cutShort') };
}

/** What to tell of the attempts in which the skill was not loaded; nothing where each loaded it. */
export function describeUnread({ loaded = 0, unread = 0, cutShort = 0 }: Counted, parts: readonly SkillPart[] = []) {
  if (unread === 0) return undefined;
  const what = unread === 1 ? 'it says' : 'they say';
  const todo = parts.includes('description')
    ? ''
    : ' What decides about loading is the description: parts: [description].';
  const others = cutShort === 0 ? '' : ` Not counted: ${cutShortWords(cutShort)}.`;
  return `The skill was not loaded in ${unread} of ${plural(loaded + unread, 'attempt')}: ${what} nothing of its body.${others}${todo}`;
}

type Counted = Pick<StageUsage, 'loaded' | 'unread' | 'cutShort'>;

/** Only what agents do tells of skills that were loaded; all other texts need not be read. */
const MARKS = ['"skillsLoaded":', '"skillUnread":true'];

/** Whether an agent loaded the skill in the attempt that a text holds, as one to count; nothing where no agent was at work. */
export function loadingIn(text: string): Counted {
  if (!MARKS.some((mark) => text.includes(mark))) return {};
  const kind = loadingOfAttempt(JSON.parse(text));
  return kind === undefined ? {} : { [kind]: 1 };
}

/** In how many attempts of a run the skill was loaded; nothing where no agent was at work. */
export function loadingOf({ loaded = 0, unread = 0, cutShort = 0 }: Counted) {
  const attempts = loaded + unread;
  return attempts + cutShort === 0 ? undefined : { loaded, attempts, ...(cutShort > 0 && { cutShort }) };
}

/** `2 attempts were ended before they had loaded it`; empty for none. */
export function cutShortWords(cutShort = 0): string {
  if (cutShort === 0) return '';
  return cutShort === 1
    ? '1 attempt was ended before it had loaded it'
    : `${plural(cutShort, 'attempt')} were ended before they had loaded it`;
}
