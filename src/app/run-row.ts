import {
  gateMetricScore,
  type RunState,
  reportedScores,
  stepTotal,
  summarize,
  type Verdict,
  type VerdictKind,
  verdictOf,
} from '../core/run/index.ts';
import { KIND_WORDS } from '../report/index.ts';
import type { RunListing } from '../stores/index.ts';
import { loadRun, standingOf } from './load-run.ts';

/** One run in the list of runs. */
export type RunRow = {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  /** What it came to; `null` when the run cannot be read. */
  readonly verdict: VerdictKind | null;
  readonly baselineScore: number | null;
  readonly bestScore: number | null;
  readonly testHard: number | null;
  /** By the metric of the gate, as the two scores are. */
  readonly testScore: number | null;
  readonly accepted: number;
  readonly rejected: number;
  readonly modifiedAt: Date;
  /** Why the run cannot be read. */
  readonly problem?: string;
};

/** A run that cannot be read is a row that says so: the others are still worth listing. */
export async function describeRun({ name, path, modifiedAt }: RunListing): Promise<RunRow> {
  const place = { name, path, modifiedAt };
  try {
    const run = await loadRun(path);
    const standing = await standingOf(run);
    const verdict = verdictOf(run.state, standing);
    const state = describeState(run.state, verdict, standing.isRunning ?? false);
    return { ...place, ...figures(run.state), verdict: verdict.kind, state };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...place, ...noFigures, verdict: null, state: 'unreadable', problem };
  }
}

const noFigures = { baselineScore: null, bestScore: null, testHard: null, testScore: null, accepted: 0, rejected: 0 };

function figures(
  state: RunState,
): typeof noFigures | Omit<RunRow, 'name' | 'path' | 'state' | 'verdict' | 'modifiedAt'> {
  const summary = summarize(state);
  const scores = reportedScores(state);
  return {
    baselineScore: scores?.before ?? null,
    bestScore: scores?.after ?? null,
    testHard: summary.testHard,
    testScore: gateMetricScore(state.tests.best, state) ?? null,
    accepted: summary.totalAccepts,
    rejected: summary.totalRejects,
  };
}

/** One that is over says what it came to: «done» alone would speak well of a run whose models never answered. */
function describeState(state: RunState, { kind, reason }: Verdict, isRunning: boolean): string {
  const over = kind === 'broken' ? 'broken' : `done, ${KIND_WORDS[kind].toLowerCase()}`;
  const progress = state.isDone ? over : `step ${state.stepsDone} of ${stepTotal(state)}`;
  if (isRunning) return `running, ${progress}`;
  if (state.isDone) return progress;
  return `${kind === 'broken' ? 'broken' : reason === 'limit' ? 'at its limit' : 'not finished'}, ${progress}`;
}
