import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bucket, SkillError } from '../core/contracts/index.ts';
import { runFigures } from '../core/page/index.ts';
import {
  type Cost,
  gateMetricScore,
  lineSupport,
  listEdits,
  loadingOf,
  type RunEvent,
  type RunState,
  reportedScores,
  stepTotal,
  summarize,
  type Verdict,
  type VerdictKind,
  type VerdictOptions,
  verdictOf,
} from '../core/run/index.ts';
import { suggestion } from '../core/text/index.ts';
import { KIND_WORDS, type TaskAttempt, type TriggerFigures } from '../report/index.ts';
import { kindOf } from '../runners/index.ts';
import {
  listRuns as findRuns,
  listAttemptFiles,
  type RunListing,
  readAttempt,
  readAttemptIndex,
  shownPath,
} from '../stores/index.ts';
import { type LoadedRun, loadRun, standingOf, viewRun } from './load-run.ts';

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
  /** What was answered, and what calls in flight at a kill may have cost; `null` when the run cannot be read. */
  readonly cost: Cost | null;
  readonly modifiedAt: Date;
  readonly problem?: string;
};

/** The runs in a folder with their figures, newest first. `others` are listed among them. */
export async function listRuns(folder: string, others: readonly RunListing[] = []): Promise<RunRow[]> {
  const newestFirst = (a: RunListing, b: RunListing) => Number(b.modifiedAt) - Number(a.modifiedAt);
  const rows: RunRow[] = [];
  // One by one: long journals are large.
  for (const listing of [...(await findRuns(folder)), ...others].sort(newestFirst))
    rows.push((await describeRun(listing)).row);
  return rows;
}

/** A run in a list, and what its row was made from. A run that cannot be read is a row that says so. */
export type DescribedRun = {
  readonly row: RunRow;
  readonly read?: { readonly state: RunState; readonly verdict: Verdict; readonly isRunning: boolean };
};

export async function describeRun({ name, path, modifiedAt }: RunListing): Promise<DescribedRun> {
  const place = { name, path, modifiedAt };
  try {
    const run = await loadRun(path);
    const standing = await standingOf(run);
    const verdict = verdictOf(run.state, standing);
    const summary = summarize(run.state);
    const scores = reportedScores(run.state);
    const isRunning = standing.isRunning ?? false;
    const row = {
      ...place,
      baselineScore: scores?.before ?? null,
      bestScore: scores?.after ?? null,
      testHard: summary.testHard,
      testScore: gateMetricScore(run.state.tests.best, run.state) ?? null,
      accepted: summary.totalAccepts,
      rejected: summary.totalRejects,
      cost: costIn(verdict),
      verdict: verdict.kind,
      state: describeState(run.state, verdict, isRunning),
    };
    return { row, read: { state: run.state, verdict, isRunning } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { row: { ...place, ...noFigures, verdict: null, state: 'unreadable', problem } };
  }
}

const noScores = { baselineScore: null, bestScore: null, testHard: null, testScore: null };
const noFigures = { ...noScores, accepted: 0, rejected: 0, cost: null };

const costIn = ({ calls, tokens, costUsd, isPriced, mayHaveBeen }: Verdict): Cost => ({
  ...{ calls, tokens, costUsd, isPriced },
  ...(mayHaveBeen && { mayHaveBeen }),
});

/** A finished run shows its verdict: «done» alone would sound well for a run whose models never answered. */
function describeState(state: RunState, { kind, reason }: Verdict, isRunning: boolean): string {
  const over = kind === 'broken' ? 'broken' : `done, ${KIND_WORDS[kind].toLowerCase()}`;
  const progress = state.isDone ? over : `step ${state.stepsDone} of ${stepTotal(state)}`;
  if (isRunning) return `running, ${progress}`;
  if (state.isDone) return progress;
  return `${kind === 'broken' ? 'broken' : reason === 'limit' ? 'at its limit' : 'not finished'}, ${progress}`;
}

const [SHOULD, SHOULD_NOT] = [true, false].map((shouldTrigger) => kindOf({ shouldTrigger })) as [string, string];

/** By queries that the search never saw. Undefined for runs with other tasks, and before the test. */
export function triggerFigures({ tests: { baseline, best } }: Pick<RunState, 'tests'>): TriggerFigures | undefined {
  const share = (kind: string) => {
    const [before, after] = [baseline?.buckets[kind], best?.buckets[kind]];
    if (!before || !after) return undefined;
    const ofBefore = before.total === after.total ? {} : { ofBefore: before.total };
    return { of: after.total, before: passed(before), after: passed(after), ...ofBefore };
  };
  const [recall, specificity] = [share(SHOULD), share(SHOULD_NOT)];
  return recall && specificity && { recall, specificity };
}

const passed = ({ hard, total }: Bucket) => Math.round(hard * total);

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

/** The same with all figures that a page shows. */
export async function wholeAnswer(run: LoadedRun, options: AnswerOptions) {
  const {
    verdict: _verdict,
    summary: _summary,
    edits: _edits,
    lines: _lines,
    ...figures
  } = runFigures(await viewRun(run.path), options.standing);
  return { ...runAnswer(run, options), figures };
}

/** What a run came to, for programs. Paths are relative to `cwd`. */
export function runAnswer({ path, name, state }: LoadedRun, { cwd, warnings = [], standing = {} }: AnswerOptions) {
  const bestSkillPath = shownPath(join(path, 'best_skill.md'), cwd);
  const summary = summarize(state, { outRoot: shownPath(path, cwd), warnings });
  const [loading, trigger] = [loadingOf(state.usage.rollout ?? {}), triggerFigures(state)];
  const agents = { ...(loading && { loading }), ...(trigger && { trigger }) };
  const parts = { edits: listEdits(state), lines: lineSupport(state) };
  return { name, verdict: verdictOf(state, standing), bestSkillPath, ...summary, ...agents, ...parts };
}

type AttemptQuery = { readonly task: string; readonly step?: number | undefined };

/** All attempts at a task that a run has files of, in the order of the run. Throws for a task without attempts. */
export async function loadAttempts({ path, name }: LoadedRun, { task, step }: AttemptQuery): Promise<TaskAttempt[]> {
  const [attempts, ids, parts]: [TaskAttempt[], Set<string>, Set<string>] = [[], new Set(), new Set()];
  // One by one: files without an index are read whole.
  for (const { path: file, part, step: of } of await listAttemptFiles(path)) {
    const rows = await readAttemptIndex(file);
    for (const row of rows) ids.add(row.id);
    const mine = rows.filter(({ id }) => id === task);
    if (mine.length > 0) parts.add(part);
    if (step !== undefined && step !== of) continue;
    for (const row of mine)
      attempts.push({ part, ...(of === undefined ? {} : { step: of }), result: await readAttempt(file, row) });
  }
  if (attempts.length > 0) return attempts;
  if (!ids.has(task)) {
    const message = `the run ${name} has no attempt at the task ${JSON.stringify(task)}${suggestion(task, [...ids])}`;
    throw new SkillError('USAGE', message, { hint: tasksOf([...ids]) });
  }
  const where = step === undefined ? `the run ${name}` : `step ${step} of the run ${name}`;
  const hint = `It was attempted in: ${[...parts].join('; ')}`;
  throw new SkillError('USAGE', `${where} has no attempt at the task ${JSON.stringify(task)}`, { hint });
}

/** The attempt that shows what a version of the skill did: one from the test, else one from the search. */
export function attemptOf(version: string, attempts: readonly TaskAttempt[], state: RunState): TaskAttempt {
  const { best, current, stepsDone, history } = state;
  const step = stepOf(version);
  // Where a part of a rejected patch was kept, the attempts of the candidate are those of another skill.
  const isSalvaged = (of: number) => history.some((record) => record.step === of && record.salvagedEdits !== undefined);
  const candidate = (of: number) => (isSalvaged(of) ? '' : `step ${of}, the candidate`);
  const parts: Readonly<Record<string, readonly string[]>> = {
    initial: ['test, baseline skill', 'the beginning'],
    best: ['test, best skill', 'the end', candidate(best.step)],
    current: ['test, final skill', 'the end', candidate(current.step)],
  };
  const ofStep = (of: number) => (of === 0 ? parts.initial! : of === best.step ? parts.best! : [candidate(of)]);
  const isNamed = Object.hasOwn(parts, version);
  const wanted = step === undefined ? (isNamed ? parts[version]! : []) : ofStep(step);
  const found = wanted.map((part) => attempts.findLast((attempt) => attempt.part === part)).find(Boolean);
  if (found !== undefined) return found;
  if (step === undefined ? !isNamed : step > stepsDone) throw noVersion(version, stepsDone);
  const seen = [...new Set(attempts.map(({ part }) => part))].join('; ');
  throw new SkillError('USAGE', `no attempt at this task was made with the version ${version} of the skill`, {
    hint: `It was attempted in: ${seen}. Versions are initial, best, current, or a step whose candidate attempted it.`,
  });
}

function tasksOf(ids: readonly string[]): string {
  if (ids.length === 0) return 'It has no attempts yet.';
  return `Tasks: ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? `, and ${ids.length - 10} more` : ''}`;
}

/** Finds versions of a skill by name while a journal is read: `initial`, `best`, `current`, or after a step (`3`, `v0003`). */
export function versionFinder(names: readonly string[]) {
  const wanted = new Set(names.map(stepOf));
  const afterStep = new Map<number | undefined, string>();
  const watch = (event: RunEvent, { current }: RunState): void => {
    const isFound = event.type === 'step-end' && wanted.has(event.step) && !afterStep.has(event.step);
    if (isFound) afterStep.set(event.step, current.skill);
  };
  return {
    /** Is notified of each event and the state after it. Undefined if the last state is enough. */
    watch: names.some(stepOf) ? watch : undefined, // step 0 is the initial one
    find(name: string, { initialSkill: initial, best, current, stepsDone }: RunState): string {
      const named: Readonly<Record<string, string>> = { initial, best: best.skill, current: current.skill };
      if (Object.hasOwn(named, name)) return named[name]!;
      const step = stepOf(name);
      const text = step === 0 ? initial : afterStep.get(step);
      if (step !== undefined && text !== undefined) return text;
      throw noVersion(name, stepsDone);
    },
  };
}

function noVersion(name: string, stepsDone: number): SkillError {
  const message = `no version ${name}: initial, best, current or a step from 0 to ${stepsDone} was expected`;
  const hint = 'For example: skillopt diff RUN initial best, or skillopt diff RUN 2 3';
  return new SkillError('USAGE', message, { hint });
}

const stepOf = (name: string) => (/^v?\d+$/.test(name) ? Number(name.replace('v', '')) : undefined);
