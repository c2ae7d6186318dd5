import { count, plural } from '../../../core/text/index.ts';
import { leastCallsFor, type SleepSettings, smallestNight, type TaskRecord, usualCalls } from '../../../sleep/index.ts';
import type { Terminal } from '../../terminal/terminal.ts';

type Limited = { readonly maxCalls: number | undefined; readonly settings: SleepSettings };

/** Before anybody knows the tasks; says whether it has warned. */
export function warnOfAnyNight({ maxCalls, settings }: Limited, terminal: Terminal): boolean {
  const least = smallestNight(settings);
  const isTooFew = maxCalls !== undefined && maxCalls < least;
  if (isTooFew) terminal.warn(`${tooFew(maxCalls)} the smallest night that can have one takes about ${least} calls`);
  return isTooFew;
}

/** The same for a job that starts every night, with what to set. */
export function warnOfEveryNight(limited: Limited, terminal: Terminal): void {
  const { maxTasksPerNight } = limited.settings;
  const usual = Math.ceil(usualCalls(maxTasksPerNight, limited.settings) / 10) * 10;
  if (warnOfAnyNight(limited, terminal))
    terminal.warn(`--max-calls ${usual} is about what a night of ${plural(maxTasksPerNight, 'task')} takes`);
}

type Known = Limited & {
  readonly tasks: readonly TaskRecord[];
  readonly ownerOf: (task: TaskRecord) => string;
  /** By the search for tasks. */
  readonly spentCalls: number;
  readonly isQuiet: boolean;
};

/** With the tasks of a night, before they are attempted: of the document that takes least. */
export function sayNeed({ tasks, ownerOf, spentCalls, isQuiet, maxCalls, settings }: Known, terminal: Terminal): void {
  const owners = [...new Set(tasks.map(ownerOf))];
  const needs = owners.flatMap(
    (owner) =>
      leastCallsFor(
        tasks.filter((task) => ownerOf(task) === owner),
        settings,
      ) ?? [],
  );
  if (needs.length === 0) return; // nothing will be tried
  const least = Math.min(...needs);
  const held = tasks.filter(({ split }) => split === 'val').length;
  const what = `${plural(tasks.length, 'task')}, ${held} of them held out`;
  const left = maxCalls === undefined ? Number.POSITIVE_INFINITY : maxCalls - spentCalls;
  if (left < least) terminal.warn(`${tooFew(maxCalls!)} ${what}: about ${count(least + spentCalls)} calls`);
  else if (!isQuiet) terminal.say(`${what}: a proposal takes at least about ${count(least)} calls`);
}

const tooFew = (maxCalls: number) => `--max-calls ${maxCalls} is too few for a proposal:`;
