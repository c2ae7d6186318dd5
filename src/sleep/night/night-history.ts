import type { TestedNight } from '../../core/stats/error-spending.ts';
import type { Trained } from '../replay/sleep-env.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import type { SleepState } from '../state/sleep-state.ts';

const rowsOf = ({ history }: SleepState, project: string) => history.filter((row) => row.project === project);

/** The nights of a project on which something was put to the test. */
export const testedNights = (state: SleepState, project: string): TestedNight[] =>
  rowsOf(state, project)
    .filter(({ isTested }) => isTested === true)
    .map(({ accepted }) => ({ isProven: accepted }));

/** Enough to keep an optimizer from going round in circles. */
const MOST_REJECTED = 20;

type Rejected = { readonly target: string; readonly content: string };

/** What analysts should know: what the person wants, and what earlier nights have tried in vain. */
export function nightNotes(
  state: SleepState,
  project: string,
  { preferences }: Pick<SleepSettings, 'preferences'>,
  trained: Trained,
): string[] {
  const rejected = rowsOf(state, project).flatMap((row) => (row.rejected as Rejected[] | undefined) ?? []);
  const lines = rejected.filter(({ target }) => target === trained).map(({ content }) => content.trim());
  const last = [...new Set(lines)].slice(-MOST_REJECTED);
  return [
    ...(preferences.trim() === '' ? [] : [`What the person wants of it:\n${preferences.trim()}`]),
    ...(last.length === 0 ? [] : [`Rejected on earlier nights, since it did not help:\n${last.join('\n')}`]),
  ];
}
