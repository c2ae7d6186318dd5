import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import {
  flipsBetween,
  gridColumns,
  noView,
  projectRun,
  type RunPage,
  type RunView,
  runFigures,
  taskRows,
} from '../../../src/core/page/index.ts';
import type { RunEvent } from '../../../src/core/run/index.ts';
import { chosenByWords, nextStep, verdictWords } from '../../../src/report/verdict-words.ts';
import { runDirectory } from '../../../src/stores/index.ts';

/** A run as the server knows it, for tests of the page alone. */
export type ServedRun = {
  readonly name: string;
  readonly view: RunView;
  readonly events: readonly RunEvent[];
  readonly folder?: string;
  readonly isRunning?: boolean;
};

export async function readServed(folder: string, name: string): Promise<ServedRun> {
  const events = await runDirectory(join(folder, name)).read();
  return { name, events, view: events.reduce(projectRun, noView), folder: join(folder, name) };
}

export function pageOf({ name, view, isRunning = false }: ServedRun): RunPage {
  const figures = runFigures(view, { isRunning });
  const { head, sentence, amounts } = verdictWords(figures.verdict, view.state, { added: 9, removed: 0 });
  const [command, why] = nextStep(figures.verdict, view.state, { run: name, bestSkillPath: 'runs/demo/best_skill.md' });
  const words = { head, sentence, amounts, chosenBy: chosenByWords(figures.verdict) ?? null, next: { command, why } };
  return JSON.parse(JSON.stringify({ name, lines: view.lines, isRunning, words, figures }));
}

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The built page, with the policy that the server sends. */
export function addPage(app: Hono, built: string): void {
  app.use(async (c, next) => {
    await next();
    c.header('content-security-policy', CSP);
  });
  app.get('/', serveStatic({ root: built }));
  app.get('/index.html', serveStatic({ root: built }));
  app.get('/assets/*', serveStatic({ root: built }));
}

/** Answers every route of the page out of what is in memory and the files of the run. */
export function pageApp(runs: readonly ServedRun[], built = 'dist/web'): Hono {
  const app = new Hono();
  addPage(app, built);
  const runOf = (c: Context) => runs.find(({ name }) => name === c.req.param('run'))!;
  app.onError((error, c) => c.json({ error: { message: error.message, hint: '' } }, 500));
  app.get('/api/runs', (c) => c.json({ folder: 'runs', runs: runs.map(listed) }));
  app.get('/api/runs/:run/stream', (c) => {
    const run = runs.find(({ name }) => name === c.req.param('run'));
    if (!run) return c.json({ error: NO_RUN }, 404);
    return streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: 'page', id: String(run.view.lines), data: JSON.stringify(pageOf(run)) });
      if (run.isRunning) await stream.writeSSE({ event: 'progress', data: JSON.stringify(DOING) });
      await new Promise<void>((resolve) => stream.onAbort(resolve));
    });
  });
  app.get('/api/runs/:run', (c) => {
    const run = runs.find(({ name }) => name === c.req.param('run'));
    return run ? c.json(pageOf(run)) : c.json({ error: NO_RUN }, 404);
  });
  app.get('/api/runs/:run/tasks', (c) => c.json({ lines: runOf(c).view.lines, rows: taskRows(runOf(c).view) }));
  app.get('/api/runs/:run/columns', (c) =>
    c.json(gridColumns(runOf(c).view, (c.req.query('versions') ?? '').split(',').map(Number))),
  );
  app.get('/api/runs/:run/skills/:version', (c) => {
    const version = Number(c.req.param('version'));
    return c.json({ version, text: runOf(c).view.versions[version]!.skill });
  });
  app.get('/api/runs/:run/steps/:n', (c) => c.json(stepOf(runOf(c), Number(c.req.param('n')))));
  app.get('/api/runs/:run/attempts', (c) => c.json(attemptsOf(runOf(c), c.req.query())));
  app.get('/api/runs/:run/attempts/:file/:place', (c) => {
    const [file, place] = [c.req.param('file'), Number(c.req.param('place'))];
    return c.json({ row: rowsIn(runOf(c), file)[place], result: resultsIn(runOf(c), file)[place] });
  });
  app.get('/api/runs/:run/events', (c) => {
    const { from = '0', count = '100', type } = c.req.query();
    const all = runOf(c).events.map((event, index) => ({ line: index + 1, type: event.type, at: event.at, event }));
    const chosen = all.filter((one) => !type || one.type === type);
    const some = chosen.slice(Number(from), Number(from) + Number(count));
    return c.json({
      total: chosen.length,
      events: some.map(({ event, ...one }) => ({ ...one, text: JSON.stringify(event) })),
    });
  });
  app.get('/api/compare', (c) => c.json(compared(runs, c.req.query())));
  app.get('/api/nights', (c) => c.json(NIGHTS));
  return app;
}

function listed(run: ServedRun) {
  const { words, figures, isRunning } = pageOf(run);
  const { verdict, curve, cost, summary } = figures;
  return {
    ...{ name: run.name, state: words.head, isRunning, verdict: verdict.kind, cost: cost.total },
    on: verdict.comparison?.on ?? null,
    baselineScore: verdict.comparison?.before ?? null,
    bestScore: verdict.comparison?.after ?? null,
    gain: verdict.comparison?.gain ?? null,
    isProven: verdict.comparison?.isProven ?? false,
    accepted: summary.totalAccepts,
    rejected: summary.totalRejects,
    undecided: 0,
    sparkline: curve.map(({ best }) => best),
    modifiedAt: run.events.at(-1)?.at ?? '',
  };
}

function fileIn({ folder }: ServedRun, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder!, `${name}.json`), 'utf8'));
  } catch {
    return null;
  }
}

function stepOf(run: ServedRun, step: number) {
  const at = `steps/step_${String(step).padStart(4, '0')}`;
  const { state, versions } = run.view;
  const results = (fileIn(run, `${at}/rollout_results`) ?? []) as { id: string; hard: number }[];
  const read = (name: string) => fileIn(run, `${at}/${name}`);
  return {
    ...{ step, record: state.history.find((one) => one.step === step) ?? null },
    failed: results.filter(({ hard }) => hard < 1).map(({ id }) => id),
    passed: results.filter(({ hard }) => hard >= 1).map(({ id }) => id),
    patches: camel(read('raw_patches')),
    merged: camel(read('merged_patch')),
    ranked: camel(read('ranked_patch')),
    refused: [],
    repeats: camel(read('repeated_edits')) ?? [],
    report: camel(read('edit_apply_report')),
    versions: versions
      .filter((one) => one.step === step && one.parent !== null)
      .map(({ index, parent }) => ({ version: index, ...flipsBetween(run.view, parent!, index) })),
    missing: [],
  };
}

function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== 'object' || value === null) return value;
  const named = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [named(key), camel(one)]));
}

const resultsIn = (run: ServedRun, file: string) =>
  camel(fileIn(run, file) ?? []) as ({ id: string } & Record<string, unknown>)[];

const rowsIn = (run: ServedRun, file: string) =>
  resultsIn(run, file).map(({ id, hard, soft, errored }, place) => ({
    ...{ task: id, file, place, part: file, step: Number(/step_(\d+)/.exec(file)?.[1] ?? 0) || null },
    ...{ version: run.view.attempts.find((list) => list.part === file)?.version ?? null, hard, soft },
    errored: errored === true,
  }));

function attemptsOf(run: ServedRun, { task, version, q }: Record<string, string>) {
  const files = [...new Set(run.view.attempts.flatMap(({ part, sameAs }) => (sameAs ? [] : [part])))];
  const rows = files
    .flatMap((file) => rowsIn(run, file))
    .filter((row) => (!task || row.task === task) && (!version || row.version === Number(version)))
    .filter((row) => !q || JSON.stringify(resultsIn(run, row.file)[row.place]).toLowerCase().includes(q.toLowerCase()));
  return { rows: rows.slice(0, 200), next: null, searched: rows.length, total: rows.length };
}

function compared(runs: readonly ServedRun[], { a = '', b = '' }: Record<string, string>) {
  const [one, other] = [a, b].map((name) => pageOf(runs.find((run) => run.name === name)!)) as [RunPage, RunPage];
  const { verdict } = other.figures;
  return {
    ...{ a, b, split: 'test', head: 'Better', sentence: other.words.sentence, tasks: verdict.comparison?.tasks ?? 0 },
    ...{ before: verdict.comparison?.before ?? null, after: verdict.comparison?.after ?? null },
    gain: verdict.comparison?.gain ?? null,
    ...{ gained: verdict.comparison?.gained ?? [], lost: verdict.comparison?.lost ?? [] },
    notes: ['Both runs attempted the same tasks.'],
    settings: [{ name: 'seed', a: '11', b: '12' }],
    costs: [one.figures.cost.total, other.figures.cost.total],
    texts: { before: '# Skill\n\nOld.\n', after: '# Skill\n\nNew.\n' },
  };
}

const NO_RUN = { message: 'There is no run of this name.', hint: 'Choose one of the list.' };

const DOING = {
  progress: { phase: 'evaluate', step: 4, done: 17, total: 48 },
  waiting: 8,
  retries: 1,
  notices: ['The server asked to wait for 2 s.'],
};

const NIGHTS = {
  project: 'rig',
  nights: [
    {
      ...{ name: 'night-2', night: 2, endedAt: '2026-11-17T03:12:00.000Z', head: 'Better', sessions: 4, tasks: 19 },
      cost: { calls: 212, tokens: 91_000, costUsd: 0, isPriced: false },
    },
    {
      ...{ name: 'night-1', night: 1, endedAt: '2026-11-16T03:10:00.000Z', head: 'No change', sessions: 2, tasks: 7 },
      cost: { calls: 90, tokens: 31_000, costUsd: 0.12, isPriced: true },
    },
  ],
  proposals: [
    {
      ...{ id: 'night-2-skill', night: 2, status: 'pending', document: 'skill', path: '.claude/skills/rig/SKILL.md' },
      digest: 'b3a1c2',
      before: '# Rig\n\nAnswer briefly.\n',
      after: '# Rig\n\nAnswer briefly.\n- Run the linter before you commit.\n- Write dates as YYYY-MM-DD.\n',
      evidence: ['8 of 9 held-out tasks pass with it, 4 without it.', 'You asked for this in 3 sessions.'],
      marks: [{ line: '- Run the linter before you commit.', reasons: ['It names a command.'], isStriking: true }],
    },
  ],
};
