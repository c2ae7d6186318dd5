import {
  type Cost,
  costRows,
  type LineSupport,
  type ListedEdit,
  lineSupport,
  listEdits,
  loadingOf,
  type RunState,
  type RunSummary,
  stepTotal,
  summarize,
  toEvidence,
  type Verdict,
  type VerdictOptions,
  verdictOf,
  type WaveVerdict,
} from '../run/index.ts';
import { type Calibration, calibrate } from '../stats/index.ts';
import { memoizeWeakly } from '../text/index.ts';
import { type Cells, cellAt, cellsIn, isNoisy, isPassing, type Split } from './attempts.ts';
import type { CurvePoint, RunView, SkillVersion } from './run-view.ts';

/** A version as a list shows it: without its text, and without the tasks that its race met. */
export type VersionRow = Omit<SkillVersion, 'skill' | 'decision'> & {
  readonly isTextKept: boolean;
  readonly race?: Race;
};

/** How the gate judged a version. */
export type Race = {
  readonly verdict: string;
  readonly expectedGain: number;
  readonly chance: number;
  readonly meanGain: number;
  /** Tasks by name, the first of them: with thousands of tasks each of thousands of versions would list them all. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly counts: { readonly gained: number; readonly lost: number };
  readonly total: number;
  /** About how many more rollouts would decide it. */
  readonly needs: number | null;
  readonly secondPass: number;
  readonly askedAgain: number;
  readonly veto: string | null;
  /** Judgements in their order; none in older journals. */
  readonly waves: readonly WaveVerdict[];
};

/** Tasks whose outcome differs between two versions. Where one version had both outcomes, it may be luck. */
type ChangedTasks = {
  readonly on: Split | 'all';
  readonly better: readonly ChangedTask[];
  readonly worse: readonly ChangedTask[];
};
export type ChangedTask = { readonly id: string; readonly isNoisy: boolean };

/** Every number that is shown of a run. Page, report and the JSON of `show` have them from here. */
export type RunFigures = {
  readonly about: RunState['about'] & {
    readonly startedAt: string;
    readonly items: RunState['items'];
    readonly steps: string;
    readonly gate: string;
    readonly metric: string;
    readonly limits: Readonly<Record<string, number>>;
    readonly notes: readonly string[];
  };
  readonly verdict: Verdict;
  readonly summary: Omit<RunSummary, 'bestSkill'>;
  readonly curve: readonly CurvePoint[];
  readonly versions: readonly VersionRow[];
  readonly current: number;
  readonly best: number;
  readonly edits: readonly ListedEdit[];
  /** The lines that the run added to the best skill, with what speaks for each. */
  readonly lines: readonly LineSupport[];
  readonly changed: ChangedTasks;
  readonly cost: { readonly total: Cost; readonly rows: ReturnType<typeof costRows> };
  readonly calibration: Calibration | null;
  readonly loading: ReturnType<typeof loadingOf> | null;
  readonly taskCount: number;
};

/** What is shown of a run. `standing` is what its journal does not say: whether it runs, and what it has spent since. */
export function runFigures(view: RunView, standing: VerdictOptions = {}): RunFigures {
  const { state, curve, current, best, tasks } = view;
  const verdict = verdictOf(state, standing);
  const { bestSkill: _bestSkill, ...summary } = summarize(state);
  const { calls, tokens, costUsd, isPriced, mayHaveBeen } = verdict;
  const total = { calls, tokens, costUsd, isPriced, ...(mayHaveBeen && { mayHaveBeen }) };
  return {
    about: aboutRun(state),
    ...{ verdict, summary, curve, current, best },
    versions: view.versions.map(versionRow),
    edits: listEdits(state),
    lines: lineSupport(state),
    changed: changedTasks(view, verdict),
    cost: { total, rows: costRows(state, total) },
    calibration: state.baseline ? calibrate(toEvidence(state.gate.seed), confidenceOf(state)) : null,
    loading: loadingOf(state.usage.rollout ?? {}) ?? null,
    taskCount: tasks.length,
  };
}

const confidenceOf = ({ config }: RunState) => (config ? { confidence: config.confidence } : {});

function gateName({ about, config }: RunState): string {
  if (about.hasOwnGate) return 'a rule of its own';
  return config?.useGate === false ? 'none' : (config?.gate ?? '');
}

const LIMITS = ['maxCalls', 'maxTotalTokens', 'maxCostUsd', 'maxMinutes', 'maxRollouts'] as const;

function aboutRun(state: RunState): RunFigures['about'] {
  const { about, startedAt, items, config, aboutTasks = [] } = state;
  const set = LIMITS.flatMap((name) => (config?.[name] === undefined ? [] : [[name, config[name]] as const]));
  return {
    ...{ ...about, startedAt, items, steps: stepTotal(state) },
    gate: gateName(state),
    metric: config?.gateMetric ?? 'hard',
    limits: Object.fromEntries(set),
    notes: aboutTasks,
  };
}

/** Kept: a stream sends the rows that are new. */
const versionRow = memoizeWeakly(({ skill, decision, ...version }: SkillVersion): VersionRow => {
  return { ...version, isTextKept: skill !== null, ...(decision ? { race: raceOf(decision) } : {}) };
});

const MOST_NAMED = 50;

function raceOf(decision: NonNullable<SkillVersion['decision']>): Race {
  const { verdict, expectedGain, chance, meanGain, gains, regressions, total, needs, confirmation, refreshed, veto } =
    decision;
  return {
    ...{ verdict, expectedGain, chance, meanGain, total },
    gained: gains.items.slice(0, MOST_NAMED),
    lost: regressions.items.slice(0, MOST_NAMED),
    counts: { gained: gains.items.length, lost: regressions.items.length },
    needs: needs?.rollouts ?? null,
    secondPass: confirmation?.length ?? 0,
    askedAgain: refreshed.length + (veto?.incumbent.length ?? 0) + (veto?.candidate.length ?? 0),
    veto: veto?.isVetoed ? veto.reason : null,
    waves: decision.waves ?? [],
  };
}

/** The tasks that the verdict names; before there is one, those that the search has seen change. */
function changedTasks(view: RunView, { comparison }: Verdict): ChangedTasks {
  const [before, after] = [cellsOf(view, 0), cellsOf(view, view.best)];
  const isLuck = (id: string) => {
    const task = view.taskIndex.get(id) ?? -1;
    return [cellAt(before, task), cellAt(after, task)].some((cell) => cell !== undefined && isNoisy(cell));
  };
  const named = (ids: readonly string[]) => ids.map((id) => ({ id, isNoisy: isLuck(id) }));
  const isJudged = comparison?.gain !== undefined;
  const { gained, lost } = isJudged ? comparison : flipsBetween(view, 0, view.best);
  const on = !isJudged ? 'all' : comparison.on === 'test' ? 'test' : 'val';
  return { on, better: named(gained), worse: named(lost) };
}

/** Tasks that fail with one version and pass with the other, by the means of all their attempts. */
export function flipsBetween(view: RunView, from: number, to: number) {
  const [before, after] = [cellsOf(view, from), cellsOf(view, to)];
  const changed = (isGained: boolean) =>
    view.tasks.flatMap(({ id }, task) => {
      const [was, is] = [isPassing(cellAt(before, task)), isPassing(cellAt(after, task))];
      return was === !isGained && is === isGained ? [id] : [];
    });
  return { gained: changed(true), lost: changed(false) };
}

/** Every task that a version met. */
export const cellsOf = ({ attempts, tasks }: RunView, version: number): Cells =>
  cellsIn(attempts, version, tasks.length);
