import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { RolloutResult, SkillError } from '../core/contracts/index.ts';
import type { RunEvent, RunState } from '../core/run/index.ts';
import { suggestion } from '../core/text/index.ts';
import type { TaskAttempt } from '../report/index.ts';
import type { LoadedRun } from './load-run.ts';

type AskedTask = { readonly task: string; readonly step?: number | undefined };

/** All attempts at a task that a run has files of, in its order. Throws for a task that nobody attempted. */
export async function loadAttempts({ path, name }: LoadedRun, { task, step }: AskedTask): Promise<TaskAttempt[]> {
  const files = await resultFiles(path);
  const lists = await Promise.all(files.map(async (file) => ({ ...file, results: await readResults(path, file) })));
  const chosen = lists.filter((list) => step === undefined || list.step === step);
  const attempts = chosen.flatMap(({ part, step: of, results }) =>
    results
      .filter(({ id }) => id === task)
      .map((result) => ({ part, ...(of === undefined ? {} : { step: of }), result })),
  );
  if (attempts.length > 0) return attempts;
  const ids = [...new Set(lists.flatMap(({ results }) => results.map(({ id }) => id)))];
  const parts = lists.filter(({ results }) => results.some(({ id }) => id === task)).map(({ part }) => part);
  throw notAttempted({ task, step }, { name, ids, parts: [...new Set(parts)] });
}

/** The attempt that shows what a version of the skill did: one with the test tasks, else one of the search. */
export function attemptOf(version: string, attempts: readonly TaskAttempt[], state: RunState): TaskAttempt {
  const { best, current, stepsDone } = state;
  const step = stepOf(version);
  const candidate = (of: number) => `step ${of}, the candidate`;
  const parts: Readonly<Record<string, readonly string[]>> = {
    initial: ['test, baseline skill', 'the beginning'],
    best: ['test, best skill', 'the end', candidate(best.step)],
    current: ['test, final skill', 'the end', candidate(current.step)],
  };
  const ofStep = (of: number) => (of === 0 ? parts.initial! : of === best.step ? parts.best! : [candidate(of)]);
  const wanted = step === undefined ? (parts[version] ?? []) : ofStep(step);
  const found = wanted.map((part) => attempts.findLast((attempt) => attempt.part === part)).find(Boolean);
  if (found !== undefined) return found;
  const isKnown = step === undefined ? Object.hasOwn(parts, version) : step <= stepsDone;
  if (!isKnown) throw noVersion(version, stepsDone);
  const seen = [...new Set(attempts.map(({ part }) => part))].join('; ');
  throw new SkillError('USAGE', `no attempt at this task was made with the version ${version} of the skill`, {
    hint: `It was attempted in: ${seen}. Versions are initial, best, current, or a step whose candidate attempted it.`,
  });
}

type Seen = { readonly name: string; readonly ids: readonly string[]; readonly parts: readonly string[] };

function notAttempted({ task, step }: AskedTask, { name, ids, parts }: Seen) {
  const isKnown = ids.includes(task);
  const where = step !== undefined && isKnown ? `step ${step} of the run ${name}` : `the run ${name}`;
  const hint = isKnown ? `It was attempted in: ${parts.join('; ')}` : tasksOf(ids);
  return new SkillError(
    'USAGE',
    `${where} has no attempt at the task ${JSON.stringify(task)}${isKnown ? '' : suggestion(task, ids)}`,
    { hint },
  );
}

function tasksOf(ids: readonly string[]): string {
  if (ids.length === 0) return 'It has no attempts yet.';
  return `Tasks: ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? `, and ${ids.length - 10} more` : ''}`;
}

type ResultFile = { readonly path: string; readonly part: string; readonly step?: number; readonly order: number };

/** What the parts of a run are called, by the beginning of their files, in the order of a run. */
const PARTS: readonly (readonly [pattern: RegExp, part: (match: RegExpExecArray) => string])[] = [
  [/^baseline_selection_eval\/results/, () => 'the beginning'],
  [/^steps\/step_(\d+)\/rollout_results/, ([, step]) => `step ${Number(step)}, training`],
  [/^steps\/step_(\d+)\/selection_eval\/results/, ([, step]) => `step ${Number(step)}, the candidate`],
  [/^slow_update\/epoch_(\d+)\/selection_eval\/results/, ([, epoch]) => `epoch ${Number(epoch)}, guidance`],
  [/^final_selection_eval\/results/, () => 'the end'],
  [/^final_measurement\/results/, () => 'the final measurement'],
  [/^test_eval_(\w+)\/results/, ([, subject]) => `test, ${subject} skill`],
];

async function resultFiles(folder: string): Promise<ResultFile[]> {
  const paths = (await readdir(folder, { recursive: true })).map((path) => path.split(sep).join('/'));
  const found = paths.sort().flatMap((path): ResultFile[] => {
    const rank = PARTS.findIndex(([pattern]) => pattern.test(path));
    if (rank === -1 || !path.endsWith('.json')) return [];
    const [pattern, partOf] = PARTS[rank]!;
    const match = pattern.exec(path)!;
    const step = path.startsWith('steps/') ? Number(match[1]) : undefined;
    return [{ path, part: partOf(match), order: orderOf(rank, step), ...(step === undefined ? {} : { step }) }];
  });
  return found.sort((one, other) => one.order - other.order);
}

const LATER = 1e9;

/** Steps one after the other, the training of each before its candidate; the rest as it is listed. */
const orderOf = (rank: number, step: number | undefined) =>
  step === undefined ? (rank === 0 ? 0 : rank * LATER) : step * PARTS.length + rank;

async function readResults(folder: string, { path }: ResultFile): Promise<RolloutResult[]> {
  try {
    const list: unknown = JSON.parse(await readFile(join(folder, path), 'utf8'));
    return Array.isArray(list) ? list.map((result) => RolloutResult.parse(result)) : [];
  } catch (cause) {
    const problem = `${join(folder, path)} cannot be read: ${(cause as Error).message}`;
    throw new SkillError('JOURNAL_CORRUPT', problem, {
      cause,
      hint: 'Remove the file: the rest of the run does not need it.',
    });
  }
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
    /** Told of each event and the state after it. None, when the last state knows all that is asked for. */
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

/** The step that a version is named by. */
const stepOf = (name: string) => (/^v?\d+$/.test(name) ? Number(name.replace('v', '')) : undefined);
