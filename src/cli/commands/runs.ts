import { basename, join } from 'node:path';
import {
  attemptOf,
  findRun,
  finishedNight,
  isNight,
  listNightRuns,
  listRuns,
  loadAttempts,
  onlyRun,
  type RunRow,
  versionFinder,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { filesBehind } from '../../core/document/index.ts';
import { callWords, costWords } from '../../core/run/index.ts';
import { percent, printable } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import {
  ago,
  attemptLines,
  attemptText,
  byteSize,
  type Column,
  coloured,
  figureTable,
  filesPatch,
  foldPatch,
  listLines,
  patchOf,
  rightColumns,
  table,
} from '../../report/index.ts';
import { cacheStats, clearCache, listRuns as findRuns } from '../../stores/index.ts';
import { jsonOption, readOrdinal, rootOption } from '../flags/flags.ts';
import { placeOfNights, runPlace } from '../night-runs.ts';
import { reportNight, reportRun } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const defineRuns: DefineCommand = (command, terminal) => {
  command
    .option('--root <dir>', 'folder of runs (default: runs, and the nights of this project)')
    .addOption(jsonOption())
    .addHelpText('after', RUNS_EXAMPLES)
    .action(async (flags: { root?: string }) => {
      const root = flags.root ?? 'runs';
      const sayWithout = (error: unknown): [] => {
        if (!(error instanceof SkillError)) throw error;
        terminal.warn(`the nights of this project are not listed: ${error.message}`);
        return [];
      };
      const nights = flags.root === undefined ? await listNightRuns(placeOfNights(terminal)).catch(sayWithout) : [];
      const runs = await listRuns(resolvePath(terminal.io.cwd(), root), nights);
      const none = [`no runs in ${root}; start one with: ${terminal.called('skillopt train, or skillopt demo')}`];
      terminal.answer({ root, runs }, runs.length > 0 ? runTable(runs, terminal) : none);
    });
};

const RUNS_EXAMPLES = examples([
  ['skillopt runs', 'every run below runs/ and every night of this project, newest first'],
  ['skillopt runs --root ~/experiments --json', 'another folder, for machines'],
]);

function runTable(runs: readonly RunRow[], { lineWidth: width, colors }: Terminal): string[] {
  const paint = (text: string, row: number) =>
    runs[row]!.problem !== undefined || runs[row]!.verdict === 'broken' ? colors.red(text) : text;
  const columns: Column[] = [
    { title: 'run', isElastic: true },
    { title: 'state', isElastic: true, paint },
    ...rightColumns(['validation']),
    ...rightColumns(['test', 'accepted', 'when', 'cost'], true),
  ];
  const now = new Date();
  const rows = runs.map((run) => cells(run, now));
  return table(columns, rows, { width, colors });
}

function cells(run: RunRow, now: Date): string[] {
  const { name, state, baselineScore, bestScore, testScore, accepted, rejected, modifiedAt, cost } = run;
  const change = baselineScore === null ? '–' : `${percent(baselineScore).replace(' %', '')} → ${percent(bestScore)}`;
  const kept = accepted + rejected > 0 ? `${accepted} of ${accepted + rejected}` : '–';
  return [
    name,
    state,
    change,
    percent(testScore),
    kept,
    ago(modifiedAt, now),
    cost ? `${callWords(cost)}, ${costWords(cost)}` : '–',
  ];
}

type ShowFlags = { readonly root: string; readonly all?: boolean; readonly task?: string; readonly step?: number };

export const defineShow: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .addOption(rootOption())
    .option('--all', 'show everything, every edit in full')
    .option('--task <id>', 'the attempts at one task: what was done, and how it was judged')
    .option('--step <n>', 'with --task: the attempts of one step', readOrdinal('the number of a step, from 1'))
    .addOption(jsonOption())
    .addHelpText('after', SHOW_EXAMPLES)
    .action(async (given: string | undefined, flags: ShowFlags) => {
      const { root, all = false, task, step } = flags;
      if (step !== undefined && task === undefined) throw stepWithoutTask(step);
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      if (task !== undefined) return showTask(name, flags, terminal);
      const night = await finishedNight(name, placeOfNights(terminal));
      if (night?.name === name && !all) return reportNight(night, root, terminal);
      const run = await findRun(...runPlace(name, root, terminal));
      const called = isNight(name) ? { called: name } : {};
      await reportRun(run, terminal, { isComplete: all, night: night?.name, ...called });
    });
};

async function showTask(name: string, { root, task = '', step, all = false }: ShowFlags, terminal: Terminal) {
  const run = await findRun(...runPlace(name, root, terminal));
  const attempts = await loadAttempts(run, { task, step });
  terminal.answer({ name: run.name, task, attempts }, attemptLines(task, attempts, { ...terminal, isComplete: all }));
}

function stepWithoutTask(step: number): SkillError {
  const hint = `For example: skillopt show RUN --task ID --step ${step}. What a step changed: skillopt diff RUN ${step - 1} ${step}`;
  return new SkillError('USAGE', '--step needs --task: it shows the attempts of one step at one task', { hint });
}

const SHOW_EXAMPLES = examples([
  ['skillopt show demo', 'what the run runs/demo came to'],
  ['skillopt show night-3', 'the third night of this project, as skillopt runs names it'],
  ['skillopt show demo --all', 'with every edit in full'],
  ['skillopt show demo --task q7', 'the attempts at the task q7, the last one in full'],
  ['skillopt show /tmp/elsewhere --json', 'a run by path, for machines'],
]);

type DiffFlags = { readonly root: string; readonly task?: string };

export const defineDiff: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .argument('[a]', 'initial, best, current, or a step', 'initial')
    .argument('[b]', 'the same', 'best')
    .option('--task <id>', 'compare the attempts at one task under the two versions')
    .addOption(rootOption())
    .addOption(jsonOption())
    .addHelpText('after', DIFF_EXAMPLES)
    .action(async (given: string | undefined, from: string, to: string, { root, task }: DiffFlags) => {
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      if (task !== undefined) return diffTask({ name, root, task, from, to }, terminal);
      const { watch, find } = versionFinder([from, to]);
      const { state } = await findRun(...runPlace(name, root, terminal), watch);
      const [before, after] = [from, to].map((version) =>
        Object.entries(filesBehind(find(version, state), state.config)),
      );
      const patch = filesPatch({ from, to }, before!, after!);
      const isChanged = patch !== '';
      const lines = isChanged ? coloured(patch, terminal.colors) : [`no difference between ${from} and ${to}`];
      terminal.answer({ run: name, from, to, isChanged, patch }, lines);
    });
};

type TaskVersions = Readonly<Record<'name' | 'root' | 'task' | 'from' | 'to', string>>;

async function diffTask({ name, root, task, from, to }: TaskVersions, terminal: Terminal): Promise<void> {
  const run = await findRun(...runPlace(name, root, terminal));
  const attempts = await loadAttempts(run, { task });
  const [before, after] = [attemptOf(from, attempts, run.state), attemptOf(to, attempts, run.state)];
  const patch = patchOf({ from, to, before: attemptText(before.result), after: attemptText(after.result) });
  const folded = foldPatch(printable(patch), terminal.width);
  const shown = patch === '' ? ['what was done is the same in both'] : coloured(folded, terminal.colors);
  const head = [terminal.colors.bold(`task ${task}, ${from} and ${to}`), ...listLines([before, after], terminal), ''];
  terminal.answer({ run: name, task, from: before, to: after, patch }, [...head, ...shown]);
}

const DIFF_EXAMPLES = examples([
  ['skillopt diff demo', 'what training changed'],
  ['skillopt diff demo 2 3', 'what step 3 changed'],
  ['skillopt diff demo best current', 'the best version against the last'],
  ['skillopt diff demo --task q7', 'what was done at the task q7 before and after training'],
]);

type CacheFlags = { readonly root: string };

export const defineCache: DefineCommand = (command, terminal) => {
  const part = (name: string, what: string, isDefault = false) =>
    command.command(name, { isDefault }).description(what).addOption(rootOption()).addOption(jsonOption());
  const stats = part('stats', 'entries and size of every cache below a folder of runs', true);
  const clear = part('clear <run>', 'delete the cache of one run; what it held is paid for again');
  stats.action((flags: CacheFlags) => showStats(flags, terminal));
  clear.action((run: string, flags: CacheFlags) => clearOne(run, flags, terminal));
  command.addOption(jsonOption()).addHelpText('after', CACHE_EXAMPLES);
};

const CACHE_EXAMPLES = examples([
  ['skillopt cache stats', 'what the caches hold'],
  ['skillopt cache clear demo', 'delete the replies of runs/demo; its journal stays'],
]);

async function showStats({ root }: CacheFlags, terminal: Terminal): Promise<void> {
  const folder = resolvePath(terminal.io.cwd(), root);
  const paths = [...(await findRuns(folder)).map(({ path }) => path), join(folder, '.eval')];
  const all = await Promise.all(paths.map(async (path) => ({ run: basename(path), ...(await cacheStats(path)) })));
  const caches = all.filter(({ bytes }) => bytes > 0);
  const rows = caches.map(({ run, replies, rollouts, bytes, isDamaged }) => {
    const counts = isDamaged ? ['damaged', 'damaged'] : [`${replies}`, `${rollouts}`];
    return [run, ...counts, byteSize(bytes)];
  });
  const lines = figureTable(['cache of', 'replies', 'rollouts', 'size'], rows, terminal);
  terminal.answer({ root, caches }, rows.length > 0 ? lines : [`no caches in ${root}`]);
}

async function clearOne(name: string, { root }: CacheFlags, terminal: Terminal): Promise<void> {
  const run = await findRun(name, { cwd: terminal.io.cwd(), root });
  const freedBytes = await clearCache(run.path);
  terminal.answer({ run: run.name, freedBytes }, [`freed ${byteSize(freedBytes)}; the journal of ${run.name} is kept`]);
}
