import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bucket } from '../core/contracts/index.ts';
import {
  gateMetricScore,
  listEdits,
  loadingOf,
  type RunState,
  reportedScores,
  stepTotal,
  summarize,
  type Verdict,
  type VerdictKind,
  type VerdictOptions,
  verdictOf,
} from '../core/run/index.ts';
import { KIND_WORDS, type TriggerFigures } from '../report/index.ts';
import { kindOf } from '../runners/index.ts';
import { listRuns as findRuns, type RunListing, shownPath } from '../stores/index.ts';
import { type LoadedRun, loadRun, standingOf } from './load-run.ts';

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

/** The runs in a folder with their figures, newest first. `others` are listed among them. */
export async function listRuns(folder: string, others: readonly RunListing[] = []): Promise<RunRow[]> {
  const newestFirst = (a: RunListing, b: RunListing) => Number(b.modifiedAt) - Number(a.modifiedAt);
  const rows: RunRow[] = [];
  // One by one: long journals are large.
  for (const listing of [...(await findRuns(folder)), ...others].sort(newestFirst))
    rows.push(await describeRun(listing));
  return rows;
}

/** A run that cannot be read is a row that says so: the others are still worth listing. */
async function describeRun({ name, path, modifiedAt }: RunListing): Promise<RunRow> {
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

const [SHOULD, SHOULD_NOT] = [true, false].map((shouldTrigger) => kindOf({ shouldTrigger })) as [string, string];

/** By queries that the search never saw. Nothing where a run is about other tasks, or has not come to its test. */
export function triggerFigures({ tests: { baseline, best } }: Pick<RunState, 'tests'>): TriggerFigures | undefined {
  const share = (kind: string) => {
    const [before, after] = [baseline?.buckets[kind], best?.buckets[kind]];
    return before && after && { of: after.total, before: passed(before), after: passed(after) };
  };
  const [recall, specificity] = [share(SHOULD), share(SHOULD_NOT)];
  return recall && specificity && { recall, specificity };
}

const passed = ({ hard, total }: Bucket) => Math.round(hard * total);

/** The queries of a run by their ids, as far as its files tell: an id says nothing to a person. */
export async function loadQueries({ path, state }: LoadedRun): Promise<ReadonlyMap<string, string>> {
  if (triggerFigures(state) === undefined) return new Map();
  const text = await readFile(join(path, 'test_eval_baseline/results.json'), 'utf8').catch(() => '[]');
  const results: readonly { id: string; question?: string }[] = JSON.parse(text);
  return new Map(results.flatMap(({ id, question }) => (question === undefined ? [] : [[id, question]])));
}

type AnswerOptions = {
  readonly cwd: string;
  readonly warnings?: readonly string[];
  readonly standing?: VerdictOptions;
};

/** What a run came to, for machines. Paths are as they are seen from `cwd`. */
export function runAnswer({ path, name, state }: LoadedRun, { cwd, warnings = [], standing = {} }: AnswerOptions) {
  const bestSkillPath = shownPath(join(path, 'best_skill.md'), cwd);
  const summary = summarize(state, { outRoot: shownPath(path, cwd), warnings });
  const [loading, trigger] = [loadingOf(state.usage.rollout ?? {}), triggerFigures(state)];
  const agents = { ...(loading && { loading }), ...(trigger && { trigger }) };
  return { name, verdict: verdictOf(state, standing), bestSkillPath, ...summary, ...agents, edits: listEdits(state) };
}
