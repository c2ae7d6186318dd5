import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { CurvePoint, RunPage, TaskRow, VersionRow } from '../../../src/core/page/index.ts';
import { addPage } from './page-app.ts';

export type BigRun = { readonly steps: number; readonly tasks: number; readonly events: number };

/** A run as large as they get, answered out of nothing. Its figures are those of a small one, repeated. */
export function bigApp(small: RunPage, { steps, tasks, events }: BigRun, built: string): Hono {
  const page = grown(small, steps, tasks);
  const app = new Hono();
  addPage(app, built);
  app.get('/api/runs/:run/stream', (c) =>
    streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: 'page', id: String(events), data: JSON.stringify({ ...page, lines: events }) });
      await new Promise<void>((resolve) => stream.onAbort(resolve));
    }),
  );
  app.get('/api/runs/:run/tasks', (c) =>
    c.json({ lines: events, rows: Array.from({ length: tasks }, (_, index) => taskRow(index)) }),
  );
  app.get('/api/runs/:run/columns', (c) => {
    const versions = (c.req.query('versions') ?? '').split(',').map(Number);
    return c.json(versions.map((version) => ({ version, cells: cellsOf(version, tasks) })));
  });
  app.get('/api/runs/:run/events', (c) => {
    const [from, count] = [Number(c.req.query('from')), Number(c.req.query('count'))];
    const rows = Array.from({ length: Math.max(0, Math.min(count, events - from)) }, (_, index) => from + index);
    const eventOf = (index: number) => ({
      line: index + 1,
      type: 'stage-end',
      at: '2026-01-01T00:00:00.000Z',
      text: `{"line":${index + 1}}`,
    });
    return c.json({ total: events, events: rows.map(eventOf) });
  });
  return app;
}

const FATES = ['accepted', 'rejected', 'undecided', 'invalid'] as const;

function grown(small: RunPage, steps: number, tasks: number): RunPage {
  const [first, second] = small.figures.versions as [VersionRow, VersionRow];
  const score = (step: number) => 0.3 + (0.6 * step) / steps;
  const version = (step: number): VersionRow => ({
    ...second,
    index: step,
    step,
    parent: step - 1,
    fate: FATES[step % 4]!,
    score: score(step),
  });
  const point = (step: number): CurvePoint => ({
    ...small.figures.curve[0]!,
    step,
    calls: step * 100,
    best: score(step),
    current: score(step),
    candidate: score(step),
  });
  const all = Array.from({ length: steps }, (_, index) => index + 1);
  const edits = all.flatMap((step) => small.figures.edits.slice(0, 3).map((edit) => ({ ...edit, step })));
  return {
    ...small,
    name: 'big',
    figures: {
      ...small.figures,
      versions: [first, ...all.map(version)],
      curve: all.map(point),
      edits,
      taskCount: tasks,
    },
  };
}

const taskRow = (index: number): TaskRow => ({
  ...{ index, id: `task-${index}`, split: 'val', attempts: 20, score: (index % 101) / 100, spread: (index % 7) / 7 },
  change: (['better', 'worse', 'same', 'unknown'] as const)[index % 4]!,
  ...{ isNoisy: index % 5 === 0, isErrored: index % 97 === 0, isNeverPassed: false },
});

const CELLS = ['2s11', '0021', '1e21', '    ', '--10'];
const cellsOf = (version: number, tasks: number) =>
  Array.from({ length: tasks }, (_, task) => CELLS[(task + version) % 5]).join('');
