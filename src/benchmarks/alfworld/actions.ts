import { strip } from '../../core/text/index.ts';

/** What is done when a reply names no action, as in SkillOpt. It changes nothing in the house. */
export const FALLBACK_ACTION = 'look';

const OPENING = '<action>';
const CLOSING = '</action>';

/** What stands in the first `<action></action>` of a reply; `undefined` without such a pair. Tags in capitals do not count. */
export function extractAction(reply: string): string | undefined {
  const from = reply.indexOf(OPENING);
  const to = from === -1 ? -1 : reply.indexOf(CLOSING, from + OPENING.length);
  return to === -1 ? undefined : strip(reply.slice(from + OPENING.length, to));
}

/** An action as the house gets it: it only knows lower case. */
export const projectAction = (extracted: string | undefined): string => (extracted ?? FALLBACK_ACTION).toLowerCase();

/** What a reply says before its action, without the tags around it. */
export function thoughtOf(reply: string): string {
  const before = reply.split(OPENING, 1)[0]!;
  return strip(before.replaceAll('<think>', '').replaceAll('</think>', ''));
}

export const TASK_TYPES = [
  'pick_and_place',
  'pick_two_obj_and_place',
  'look_at_obj_in_light',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_clean_then_place_in_recep',
] as const;

export type TaskType = (typeof TASK_TYPES)[number] | 'other';

/** The task type that a path or a name holds. */
export const taskTypeOf = (name: string): TaskType => TASK_TYPES.find((type) => name.includes(type)) ?? 'other';
