import { isFileLine, withoutMarkers } from '../document/index.ts';
import { memoizeWeakly, plural, points } from '../text/index.ts';
import { isAccepted, keptEdits } from './reduce/acceptance.ts';
import type { RunState } from './run-state.ts';
import type { StepRecord } from './step-record.ts';
import { verdictOf } from './verdict.ts';

/**
 * What speaks for something that a run added. `proven`: it was measured by itself, its gain is more than luck among all that was
 * tried, and the gain of the whole skill is proven too. `plausible`: measured by itself it gained something, or several analysts
 * asked for it. `unsupported`: it came with others.
 */
const STANDINGS = ['proven', 'plausible', 'unsupported'] as const;
type LineStanding = (typeof STANDINGS)[number];

type Support = {
  readonly standing: LineStanding;
  /** What it gains by itself, if that was measured. */
  readonly gain: number | null;
  /** How many analysts asked for it, if that is known. */
  readonly analysts: number | null;
};

/** A line of the best skill that was not in the initial one. */
export type LineSupport = Support & {
  readonly line: string;
  /** The step that wrote it; `null` for guidance, reminders and rewritten documents. */
  readonly step: number | null;
};

/** The chance that any of a run's lines is called proven by luck. */
const MAY_BE_LUCK = 0.05;

const UNKNOWN: Support = { standing: 'unsupported', gain: null, analysts: null };

/** Every line that the run added to the best skill or changed in it, in their order. Empty lines and markers do not count. */
export function lineSupport(state: RunState): LineSupport[] {
  const { history, initialSkill, best } = state;
  const initial = new Set(linesOf(initialSkill));
  const written = writtenLines(history);
  const added = linesOf(best.skill)
    .filter((line) => !initial.has(line))
    .map((line) => ({ line, ...(written.get(line) ?? { ...UNKNOWN, step: null }) }));
  if (verdictOf(state).kind === 'better') return added;
  return added.map((one) => (one.standing === 'proven' ? { ...one, standing: 'plausible' } : one)); // a part of what may be luck
}

type Written = ReadonlyMap<string, Support & { readonly step: number }>;

/** Each line with what speaks for the accepted edit that wrote it: of several the strongest, then the last. Kept, since a report asks several times. */
const writtenLines = memoizeWeakly((history: readonly StepRecord[]): Written => {
  const edits = history
    .filter(({ action }) => isAccepted(action))
    .flatMap((record) => keptEdits(record).map((index) => ({ record, index })));
  const tried = history.filter(({ verdict }) => verdict !== undefined).length;
  const sure = 1 - MAY_BE_LUCK / Math.max(1, tried);
  const written = new Map<string, Support & { readonly step: number }>();
  for (const { record, index } of edits) {
    const support = { ...editSupport(record, index, sure), step: record.step };
    for (const line of newIn(record.edits[index]!)) {
      const known = written.get(line);
      if (!known || rankOf(support) <= rankOf(known)) written.set(line, support);
    }
  }
  return written;
});

const rankOf = ({ standing }: Support) => STANDINGS.indexOf(standing);

/** An edit repeats what it replaces where it changes a part of it. A suggestion is no text of the skill. */
function newIn({ op, content, target }: StepRecord['edits'][number]): string[] {
  if (op === 'suggest' || op === 'delete') return [];
  const old = new Set(op === 'replace' ? linesOf(target) : []);
  return linesOf(content).filter((line) => !old.has(line));
}

/** What speaks for an edit of an accepted step. The lines of a rewritten document were never measured by themselves. */
export function editSupport(record: StepRecord, index: number, sure = 1 - MAY_BE_LUCK): Support {
  const { edits, editEffects, analystCounts } = record;
  const analysts = analystCounts?.[index] ?? null;
  const isWhole = edits[index]!.op === 'rewrite';
  const { gain = null, chance = 0 } = (isWhole ? null : editEffects?.[index]) ?? {};
  if (chance >= sure) return { standing: 'proven', gain, analysts };
  const isPlausible = gain === null ? !isWhole && (analysts ?? 0) > 1 : gain > 0;
  return { standing: isPlausible ? 'plausible' : 'unsupported', gain, analysts };
}

/** `3 proven, 2 plausible, 1 unsupported`. */
export const standingWords = (lines: readonly LineSupport[]): string =>
  STANDINGS.map((name) => `${lines.filter(({ standing }) => standing === name).length} ${name}`).join(', ');

/** Why a line stands as it does, such as `+4.2 points by itself`. */
export function supportWords({ standing, gain, analysts, step }: LineSupport): string {
  if (gain !== null) return `${points(gain)} points by itself${standing === 'plausible' ? ', may be luck' : ''}`;
  if (standing === 'plausible') return `${plural(analysts ?? 0, 'analyst')} asked for it`;
  return step === null ? 'no edit wrote this whole line' : 'measured together with others';
}

const linesOf = (text: string): string[] =>
  withoutMarkers(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !isFileLine(line));
