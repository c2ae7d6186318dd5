import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRun, loadAttempts } from '../../../src/app/index.ts';
import { knowKey } from '../../../src/core/guard/index.ts';
import {
  type AttemptPage,
  type AttemptsPage,
  type ComparePage,
  type EventsPage,
  type GridColumn,
  noView,
  projectRun,
  type RunPage,
  type RunsPage,
  runFigures,
  type StepPage,
  type TasksPage,
  taskRows,
} from '../../../src/core/page/index.ts';
import { journalLines } from '../../../src/core/run/index.ts';
import { foldJournal } from '../../../src/stores/index.ts';
import { openPages, problemIn, runsFolder, trainSimulated } from '../../support/page/served-runs.ts';

let folder: ReturnType<typeof runsFolder>;
let pages: ReturnType<typeof openPages>;
beforeAll(async () => {
  folder = runsFolder();
  await trainSimulated(join(folder.root, 'demo'));
  pages = openPages({ root: folder.root });
});
afterAll(() => folder[Symbol.dispose]());

const copyDemo = (name: string) => {
  cpSync(join(folder.root, 'demo'), join(folder.root, name), { recursive: true });
  return join(folder.root, name);
};

async function viewOfDemo() {
  let view = noView;
  await foldJournal(join(folder.root, 'demo/events.jsonl'), (event) => {
    view = projectRun(view, event);
  });
  return view;
}

describe('a folder of runs', () => {
  it('is listed with the figures of each run, and says which cannot be read', async () => {
    const broken = copyDemo('broken');
    writeFileSync(join(broken, 'events.jsonl'), 'no journal\n');
    const { runs } = await pages.json<RunsPage>('/api/runs');
    rmSync(broken, { recursive: true });
    const byName = Object.fromEntries(runs.map((run) => [run.name, run]));
    expect(byName.demo).toMatchObject({ verdict: 'better', isRunning: false, isProven: true });
    const { comparison } = runFigures(await viewOfDemo()).verdict;
    const { on, before: baselineScore, after: bestScore, gain } = comparison!;
    expect(byName.demo).toMatchObject({ on: 'test', baselineScore, bestScore, gain: JSON.parse(JSON.stringify(gain)) });
    expect(on).toBe('test');
    expect(byName.demo!.sparkline.length).toBeGreaterThan(0);
    expect(byName.broken).toMatchObject({ verdict: null, state: 'unreadable' });
    expect(byName.broken!.problem).toContain('events.jsonl:1');
    expect(JSON.stringify(runs)).not.toContain(folder.root);
  });

  it('says of an undecided step the same in the list, in its curve, its versions and its edits', async () => {
    await trainSimulated(join(folder.root, 'undecided'), { seed: 13, leastLead: 1 });
    const { runs } = await pages.json<RunsPage>('/api/runs');
    const { figures } = await pages.json<RunPage>('/api/runs/undecided');
    rmSync(join(folder.root, 'undecided'), { recursive: true });
    const { curve, versions, edits } = figures;
    expect(curve.map(({ fate }) => fate)).toEqual(['accepted', 'undecided', 'rejected', 'undecided']);
    const fateOf = (step: number) => curve.find((point) => point.step === step)!.fate;
    const candidates = versions.filter(({ kind }) => kind === 'candidate');
    expect(candidates).toHaveLength(curve.length);
    for (const { step, fate } of candidates) expect(fate).toBe(fateOf(step));
    for (const { step, fate } of edits) expect(fate).toBe(fateOf(step));
    const listed = runs.find(({ name }) => name === 'undecided');
    expect(listed).toMatchObject({ accepted: 1, rejected: 1, undecided: 2 });
  });

  it('says of a run of a newer version what to do, in the list and on its page', async () => {
    const journal = join(copyDemo('newer'), 'events.jsonl');
    const [from, to] = [journalLines(), journalLines()];
    const events = readFileSync(journal, 'utf8').trimEnd().split('\n').map(from.read);
    const written = events.map((event) => to.write(event.type === 'run-start' ? { ...event, format: 2 as 1 } : event));
    writeFileSync(journal, written.map((line) => `${line}\n`).join(''));
    const { runs } = await pages.json<RunsPage>('/api/runs');
    const refused = await problemIn(await pages.get('/api/runs/newer'));
    rmSync(join(folder.root, 'newer'), { recursive: true });
    const words = 'has format 2, and this version of skillopt reads format 1';
    expect(runs.find(({ name }) => name === 'newer')).toMatchObject({ state: 'unreadable', verdict: null });
    expect(runs.find(({ name }) => name === 'newer')!.problem).toContain(words);
    expect(refused).toMatchObject({
      message: expect.stringContaining(words),
      hint: 'Update skillopt to read this run.',
    });
  });

  it('is listed without nights that cannot be read, and says so without a path', async () => {
    const stateFolder = join(folder.root, 'state-loop');
    symlinkSync(stateFolder, stateFolder); // a link to itself leads nowhere
    const others = openPages({ root: folder.root, nights: { cwd: folder.root, stateFolder } });
    const { runs, warning } = await others.json<RunsPage>('/api/runs');
    rmSync(stateFolder);
    expect(runs.map(({ name }) => name)).toContain('demo');
    expect(warning).toMatch(/^The nights of this project are not listed: /);
    expect(warning).not.toContain(folder.root);
    expect(await pages.json('/api/runs')).not.toHaveProperty('warning');
  });

  it('answers a run with the figures of its fold, and its tasks and columns', async () => {
    const view = await viewOfDemo();
    const page = await pages.json<RunPage>('/api/runs/demo');
    expect(page.figures).toEqual(JSON.parse(JSON.stringify(runFigures(view))));
    expect(page).toMatchObject({ name: 'demo', lines: view.lines, isRunning: false, words: { head: 'Better' } });
    expect(await pages.json<TasksPage>('/api/runs/demo/tasks')).toEqual({ lines: view.lines, rows: taskRows(view) });
    const columns = await pages.json<GridColumn[]>(`/api/runs/demo/columns?versions=0,${view.best}`);
    expect(columns.map(({ version }) => version)).toEqual([0, view.best]);
    expect(columns[0]!.cells).toHaveLength(4 * view.tasks.length);
  });

  it('answers the texts of versions, and says which were not kept or are not there', async () => {
    const { best, versions } = await viewOfDemo();
    expect(await pages.json(`/api/runs/demo/skills/${best}`)).toEqual({ version: best, text: versions[best]!.skill });
    expect(await (await pages.get('/api/runs/demo/skills/999')).json()).toMatchObject({
      error: { message: 'there is no version 999' },
    });
  });

  it('answers a step with its files, and names those that are missing', async () => {
    const whole = await pages.json<StepPage>('/api/runs/demo/steps/1');
    expect(whole.missing).toEqual([]);
    expect(whole.failed.length + whole.passed.length).toBe(12);
    expect(whole.patches![0]!.patch.edits.length).toBeGreaterThan(0);
    expect(whole.versions[0]).toMatchObject({ version: 1 });
    const path = copyDemo('torn');
    rmSync(join(path, 'steps/step_0001/merged_patch.json'));
    writeFileSync(join(path, 'steps/step_0001/raw_patches.json'), '{"not": [');
    const torn = await pages.json<StepPage>('/api/runs/torn/steps/1');
    rmSync(path, { recursive: true });
    expect(torn).toMatchObject({ merged: null, patches: null, missing: ['raw_patches.json', 'merged_patch.json'] });
    expect((await pages.get('/api/runs/demo/steps/77')).status).toBe(404);
  });

  it('lists events as they stand in the journal, also those of one type', async () => {
    const lines = readFileSync(join(folder.root, 'demo/events.jsonl'), 'utf8').trimEnd().split('\n');
    const { total, events } = await pages.json<EventsPage>('/api/runs/demo/events?from=2&count=3');
    expect(total).toBe(lines.length);
    expect(events.map(({ text }) => text)).toEqual(lines.slice(2, 5));
    const ends = await pages.json<EventsPage>('/api/runs/demo/events?type=step-end');
    expect(ends.total).toBe(lines.filter((line) => line.startsWith('{"type":"step-end"')).length);
    expect(ends.events[0]!.type).toBe('step-end');
  });
});

describe('attempts', () => {
  it('are found by task, version and text, and opened by file and place', async () => {
    const run = await findRun('demo', { cwd: folder.root, root: '.' });
    const expected = await loadAttempts(run, { task: 'val-001' });
    const { rows, total } = await pages.json<AttemptsPage>('/api/runs/demo/attempts?task=val-001');
    expect(total).toBe(expected.length);
    expect(rows.map(({ part }) => part)).toEqual(expected.map(({ part }) => part));
    const { file, place } = rows[0]!;
    const opened = await pages.json<AttemptPage>(`/api/runs/demo/attempts/${encodeURIComponent(file)}/${place}`);
    expect(opened.result).toEqual(JSON.parse(JSON.stringify(expected[0]!.result)));
    const word = opened.result.question!.split(' ')[1]!;
    const hits = await pages.json<AttemptsPage>(
      `/api/runs/demo/attempts?version=0&q=${encodeURIComponent(word.toUpperCase())}`,
    );
    expect(hits.rows.length).toBeGreaterThan(0);
    expect(hits.rows.every((row) => row.version === 0)).toBe(true);
    expect(hits.next === null).toBe(hits.searched === hits.total);
  });

  it('of a skill that was tested under two names are one test, with both of its names', async () => {
    const { best, current } = await viewOfDemo();
    expect(best).toBe(current);
    const { rows, total } = await pages.json<AttemptsPage>('/api/runs/demo/attempts?task=test-001');
    expect(rows.map(({ part }) => part)).toEqual(['test, baseline skill', 'test, best and final skill']);
    expect(total).toBe(2);
    const { rows: tasks } = await pages.json<TasksPage>('/api/runs/demo/tasks');
    expect(tasks.find(({ id }) => id === 'test-001')!.attempts).toBe(2);
    const { file, place } = rows[1]!;
    const opened = await pages.json<AttemptPage>(`/api/runs/demo/attempts/${encodeURIComponent(file)}/${place}`);
    expect(opened.row.part).toBe('test, best and final skill');
  });

  it('are not read from files that a link leads to outside of the run', async () => {
    const path = copyDemo('linked');
    writeFileSync(join(folder.root, 'secret.json'), '[{"id":"stolen","hard":1,"soft":1}]');
    mkdirSync(join(path, 'final_selection_eval'), { recursive: true });
    symlinkSync(join(folder.root, 'secret.json'), join(path, 'final_selection_eval/results.json'));
    rmSync(join(path, 'steps/step_0001/merged_patch.json'));
    symlinkSync(join(folder.root, 'secret.json'), join(path, 'steps/step_0001/merged_patch.json'));
    const one = await pages.get(`/api/runs/linked/attempts/${encodeURIComponent('final_selection_eval/results')}/0`);
    expect(one.status).toBe(404);
    expect((await pages.json<StepPage>('/api/runs/linked/steps/1')).merged).toBeNull();
    rmSync(path, { recursive: true });
  });
});

describe('a journal that is a link', () => {
  const SECRET = 'AWS_SECRET=abcd1234efgh5678';

  it('is not read, and no line of it is quoted', async () => {
    writeFileSync(join(folder.root, 'secrets.env'), `${SECRET}\nMORE=1\n`);
    mkdirSync(join(folder.root, 'planted'));
    symlinkSync(join(folder.root, 'secrets.env'), join(folder.root, 'planted/events.jsonl'));
    const [list, run, events, stream] = await Promise.all(
      ['', '/planted', '/planted/events', '/planted/stream'].map((path) => pages.get(`/api/runs${path}`)),
    );
    const { value } = await stream!.body!.getReader().read();
    const texts = [
      ...(await Promise.all([list, run, events].map((one) => one!.text()))),
      Buffer.from(value!).toString(),
    ];
    rmSync(join(folder.root, 'planted'), { recursive: true });
    rmSync(join(folder.root, 'secrets.env'));
    for (const text of texts) expect(text).toContain('events.jsonl is a link, and the journal of a run must be a file');
    expect(texts.join()).not.toContain('AWS_SECRET');
  });

  it('is not read either when it leads to the journal of another run', async () => {
    mkdirSync(join(folder.root, 'borrowed'));
    symlinkSync('../demo/events.jsonl', join(folder.root, 'borrowed/events.jsonl'));
    const { status } = await pages.get('/api/runs/borrowed');
    rmSync(join(folder.root, 'borrowed'), { recursive: true });
    expect(status).toBe(409);
  });

  it('is another thing than a run whose folder is a link', async () => {
    symlinkSync('demo', join(folder.root, 'alias'));
    const { status } = await pages.get('/api/runs/alias');
    const { rows } = await pages.json<AttemptsPage>('/api/runs/alias/attempts?task=val-001');
    rmSync(join(folder.root, 'alias'));
    expect([status, rows.length > 0]).toEqual([200, true]);
  });
});

describe('two runs', () => {
  it('are compared on the same tasks, or it is said why not', async () => {
    const compared = await pages.json<ComparePage>('/api/compare?a=demo&b=demo&split=test');
    expect(compared).toMatchObject({ tasks: 16, gained: [], lost: [], head: 'demo and demo are the same skill' });
    const refused = await pages.get('/api/compare?a=demo&b=demo&split=nonsense');
    expect(refused.status).toBe(400);
    expect((await problemIn(refused)).message).toBe('there is no split nonsense in demo');
  });
});

describe('paths and digests', () => {
  it('are shown from the folder that holds the runs, and a digest as words', async () => {
    await trainSimulated(join(folder.root, 'other'), { seed: 12 });
    const { words } = await pages.json<RunPage>('/api/runs/demo');
    const compared = await pages.json<ComparePage>('/api/compare?a=demo&b=other&split=test');
    rmSync(join(folder.root, 'other'), { recursive: true });
    expect(words.next.command).toBe(`${basename(folder.root)}/demo/best_skill.md`);
    expect(compared.settings).toContainEqual({ name: 'test tasks', a: 'its own', b: 'its own' });
    expect(JSON.stringify(compared.settings)).not.toMatch(/[0-9a-f]{12}/);
  });
});

describe('what goes wrong', () => {
  it('a damaged journal is said in words, without a path', async () => {
    const path = copyDemo('damaged');
    const lines = readFileSync(join(path, 'events.jsonl'), 'utf8').split('\n');
    lines[3] = '{"type":"of a newer version"}';
    writeFileSync(join(path, 'events.jsonl'), lines.join('\n'));
    const response = await pages.get('/api/runs/damaged');
    const error = await problemIn(response);
    rmSync(path, { recursive: true });
    expect(response.status).toBe(409);
    expect(error.message).toContain('events.jsonl:4 is damaged');
    expect(JSON.stringify(error)).not.toContain(folder.root);
  });

  it('what nobody understands is refused in words', async () => {
    for (const path of ['steps/x', 'skills/-1', 'columns?versions=1,b', 'attempts?cursor=1e9', 'events?from=NaN']) {
      const response = await pages.get(`/api/runs/demo/${path}`);
      expect([path, response.status]).toEqual([path, 400]);
    }
    expect((await pages.get('/api/nothing')).status).toBe(404);
  });

  it('a key of this process is not in any answer', async () => {
    const path = copyDemo('leaking');
    const file = join(path, 'steps/step_0001/rollout_results.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"question": "/, '"question": "sk-page-0123456789abcdef '));
    knowKey('sk-page-0123456789abcdef');
    const opened = await pages.get(
      `/api/runs/leaking/attempts/${encodeURIComponent('steps/step_0001/rollout_results')}/0`,
    );
    const text = await opened.text();
    rmSync(path, { recursive: true });
    expect(text).toContain('[secret]');
    expect(text).not.toContain('sk-page-0123456789abcdef');
  });

  it('an empty journal is a page without figures', async () => {
    mkdirSync(join(folder.root, 'begun'));
    writeFileSync(join(folder.root, 'begun/events.jsonl'), '');
    expect(await pages.json<RunPage>('/api/runs/begun')).toMatchObject({ lines: 0, figures: { taskCount: 0 } });
    copyFileSync(join(folder.root, 'demo/events.jsonl'), join(folder.root, 'begun/events.jsonl'));
    expect((await pages.json<RunPage>('/api/runs/begun')).lines).toBeGreaterThan(0);
    rmSync(join(folder.root, 'begun'), { recursive: true });
  });
});
