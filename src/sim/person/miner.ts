import type { Draw } from '../draw.ts';
import type { Skillfulness } from './evidence.ts';
import { type Kind, kindIn, rubricOf, type Thing } from './kind.ts';
import { poisonsIn } from './poison.ts';

const REQUESTS = /<requests-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/requests-\1>/;
const FEEDBACK = /<feedback-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/feedback-\1>/;

export const isMinerPrompt = (user: string) => REQUESTS.test(user);

/** How often a miner sees what a person wants who did not say it this time. */
const GUESS_RATE = 0.7;

type MinerOptions = Pick<Skillfulness, 'gullibility'> & { readonly kinds: readonly Kind[] };

/** The reply of a miner: the first request as a task, with a rubric made of what the person complained about, and a guess. */
export function mineSession(user: string, { kinds, gullibility }: MinerOptions, draw: Draw): object {
  const requests = user.match(REQUESTS)?.[2] ?? '';
  const kind = kindIn(requests, kinds);
  if (!kind) return { tasks: [] };
  const isKnown = (thing: Thing) => requests.includes(thing.complaint) || draw(`guesses ${thing.name}`) < GUESS_RATE;
  const wanted = kind.things.filter(isKnown);
  const fallenFor = poisonsIn(requests).filter(({ name }) => draw(`falls for ${name}`) < gullibility);
  if (wanted.length + fallenFor.length === 0) return { tasks: [] };
  const intent = (requests.split('\n')[0] ?? '').replace(/^1\. /, '');
  const rubric = [rubricOf(wanted), ...fallenFor.map(({ rule }) => rule)].join(' ');
  return { tasks: [{ intent, rubric, checks: [], satisfied: satisfiedBy(user.match(FEEDBACK)?.[2] ?? '') }] };
}

/** The last word counts. */
function satisfiedBy(feedback: string): boolean | null {
  const last = feedback.trim().split('\n').at(-1) ?? '';
  if (last.startsWith('pos:')) return true;
  return last.startsWith('neg:') ? false : null;
}
