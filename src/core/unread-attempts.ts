import type { RolloutResult } from './rollout-result.ts';
import type { StageUsage } from './run/stage-usage.ts';
import type { SkillPart } from './skill/skill-parts.ts';
import { plural } from './text/figures.ts';

export type LoadingCount = { readonly attempts: number; readonly unread: number };

export const noLoading: LoadingCount = { attempts: 0, unread: 0 };

/** Attempts so far, and in how many of them an agent never loaded the skill. An outage says nothing. */
export function countLoading(so: LoadingCount, { errored, skillUnread }: Partial<RolloutResult>): LoadingCount {
  if (errored) return so;
  return { attempts: so.attempts + 1, unread: so.unread + (skillUnread ? 1 : 0) };
}

/** What to tell of the attempts in which the skill was not loaded; nothing where each loaded it. */
export function describeUnread({ attempts, unread }: LoadingCount, parts: readonly SkillPart[] = []) {
  if (unread === 0) return undefined;
  const what = unread === 1 ? 'it says' : 'they say';
  const todo = parts.includes('description')
    ? ''
    : ' What decides about loading is the description: parts: [description].';
  return `The skill was not loaded in ${unread} of ${plural(attempts, 'attempt')}: ${what} nothing of its body.${todo}`;
}

/** Only what agents do tells of skills that were loaded; all other texts need not be read. */
const MARK = '"skillsLoaded":';

/** Whether an agent loaded the skill in the attempt that a text holds; nothing where no agent was at work. */
export function loadingIn(text: string): Pick<StageUsage, 'loaded' | 'unread'> {
  if (!text.includes(MARK)) return {};
  const { skillUnread, extras }: RolloutResult = JSON.parse(text);
  if (!Array.isArray(extras?.skillsLoaded)) return {};
  return skillUnread ? { unread: 1 } : { loaded: 1 };
}

/** In how many attempts of a run the skill was loaded; nothing where no agent was at work. */
export function loadingOf({ loaded = 0, unread = 0 }: Partial<StageUsage>) {
  const attempts = loaded + unread;
  return attempts === 0 ? undefined : { loaded, attempts };
}
