import type { TestedNight } from '../../core/stats/index.ts';
import type { Trained } from '../replay/sleep-env.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import type { SleepState } from '../state/sleep-state.ts';
import { sortEdits } from './consolidation-result.ts';
import { labelOf } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

const rowsOf = ({ history }: SleepState, project: string) => history.filter((row) => row.project === project);

/** The nights of a project on which something was put to the test. */
export const testedNights = (state: SleepState, project: string): TestedNight[] =>
  rowsOf(state, project)
    .filter(({ isTested }) => isTested === true)
    .map(({ accepted }) => ({ isProven: accepted }));

/** Enough to keep an optimizer from going round in circles. */
const MOST_REJECTED = 20;

/** Of an existing skill, with its name. */
type Rejected = { readonly target: string; readonly content: string; readonly named?: string };

/** What a night has tried in vain for a document, as later nights are told of it. */
export const rejectedIn = (document: TrainedDocument): Rejected[] =>
  sortEdits(document).rejectedEdits.map(({ target, content }) =>
    document.named === '' ? { target, content } : { target, content, named: document.named },
  );

/** What analysts should know: what the person wants, and what earlier nights have tried in vain. */
export function nightNotes(
  state: SleepState,
  project: string,
  { preferences }: Pick<SleepSettings, 'preferences'>,
  trained: Trained,
  named = '',
): string[] {
  const rejected = rowsOf(state, project).flatMap((row) => (row.rejected as Rejected[] | undefined) ?? []);
  const isOfIt = (one: Rejected) => one.target === trained && (one.named ?? '') === named;
  const lines = rejected.filter(isOfIt).map(({ content }) => content.trim());
  const last = [...new Set(lines)].slice(-MOST_REJECTED);
  const known = state.overNights.find((one) => one.project === project && one.document === labelOf({ trained, named }));
  return [
    ...(known === undefined || known.guidance === '' ? [] : [`Noticed over several nights:\n${known.guidance}`]),
    ...(preferences.trim() === '' ? [] : [`What the person wants of it:\n${preferences.trim()}`]),
    ...(last.length === 0 ? [] : [`Rejected on earlier nights, since it did not help:\n${last.join('\n')}`]),
  ];
}
