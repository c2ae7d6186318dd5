import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getPath } from 'hono/utils/url';
import { z } from 'zod';
import type { NightsPlace } from '../app/index.ts';
import { maskKeys } from '../core/guard/index.ts';
import { gridColumns, taskRows } from '../core/page/index.ts';
import { type RunListing, runOwner } from '../stores/index.ts';
import { attemptPage, attemptsPage } from './attempts-page.ts';
import { comparePage } from './compare-page.ts';
import { eventsPage } from './events-page.ts';
import { problemOf, Refusal, statusOf } from './failure.ts';
import { admit, guard, homeOf } from './guard.ts';
import { adoptShown, nightsPage } from './nights-page.ts';
import { readAsset, readIndex, typeOf } from './page-files.ts';
import type { Shown } from './read-run.ts';
import { stepPage } from './run-files.ts';
import { type RunFolder, runFolder } from './run-folder.ts';
import { streamRun } from './stream-run.ts';
import { runViews } from './watched-run.ts';

export type AppOptions = {
  /** The folder of the runs. */
  readonly root: string;
  /** Anyone who has it may see everything. */
  readonly token: string;
  /** Whether a page may stop runs and adopt proposals. */
  readonly control?: boolean | undefined;
  /** The project whose nights are shown. */
  readonly nights?: NightsPlace | undefined;
  /** Host names, with their port, that browsers may use. */
  readonly hosts?: readonly string[] | undefined;
};

/** The pages of a folder of runs, as an app that answers requests. Only reads, but for `control`. */
export const createApp = (options: AppOptions): Hono => openApp(options).app;

const LOCAL = ['localhost', '127.0.0.1'];

/** `close` ends the watching of runs. */
export function openApp(options: AppOptions): { readonly app: Hono; close(): void } {
  const { token, hosts = LOCAL } = options;
  const [folder, views] = [runFolder(options), runViews()];
  const home = homeOf(token);
  const app = new Hono({ getPath: (request) => withoutHome(getPath(request), home) });
  app.onError((error, context) => {
    const { message, hint } = problemOf(error);
    const shown = { message: maskKeys(message), hint: maskKeys(hint) };
    const isRead = context.req.header('accept')?.includes('text/html'); // by a person, in a browser
    return isRead
      ? context.text(`${shown.message}\n${shown.hint}\n`, statusOf(error))
      : context.json({ error: shown }, statusOf(error));
  });
  app.notFound(() => {
    throw new Refusal(404, 'there is nothing at this address', 'Open the page at its beginning.');
  });
  app.use(guard({ token, hosts }));
  app.get('/open', (context) => admit(context, token));
  addPage(app, options);
  addRunRoutes(app, folder, views);
  addOtherRoutes(app, folder, options);
  return { app, close: views.close };
}

/** Browsers ask below the home; the routes are the same there. */
const withoutHome = (path: string, home: string) => (path.startsWith(`${home}/`) ? path.slice(home.length) : path);

/** A JSON answer in which no key of this process is left. */
const answer = (context: Context, value: unknown) =>
  context.body(maskKeys(JSON.stringify(value)), 200, { 'content-type': 'application/json; charset=utf-8' });

function addPage(app: Hono, { control = false }: AppOptions): void {
  // The page shows buttons where it may act.
  const shown = (html: string) => (control ? html.replace('<html', '<html data-control') : html);
  app.get('/', async (context) => context.html(shown(await readIndex())));
  app.get('/assets/:name', async (context) => {
    const name = context.req.param('name');
    const bytes = await readAsset(name);
    return context.body(new Uint8Array(bytes), 200, { 'content-type': typeOf(name) });
  });
}

type Seen = Shown & { readonly path: string };
type Reply = (seen: Seen, context: Context) => unknown;

function addRunRoutes(app: Hono, folder: RunFolder, views: ReturnType<typeof runViews>): void {
  const open = async (context: Context) => views.open(await folder.find(context.req.param('run') ?? ''));
  const seeing = (reply: Reply) => async (context: Context) => {
    const run = await open(context);
    const shown = await run.look();
    // What was read before the damage is shown by the stream, which says what is wrong.
    if (shown.problem) throw new Refusal(409, shown.problem.message, shown.problem.hint);
    return answer(context, await reply({ ...shown, path: run.path }, context));
  };
  app.get('/api/runs', async (context) => answer(context, await folder.page()));
  app.get('/api/runs/:run/stream', async (context) => streamRun(context, await open(context)));
  app.get(
    '/api/runs/:run',
    seeing(({ page }) => page),
  );
  app.get(
    '/api/runs/:run/tasks',
    seeing(({ view }) => ({ lines: view.lines, rows: taskRows(view) })),
  );
  app.get(
    '/api/runs/:run/columns',
    seeing(({ view }, { req }) => gridColumns(view, readVersions(req.query('versions')))),
  );
  app.get('/api/runs/:run/skills/:version', seeing(skillOf));
  app.get(
    '/api/runs/:run/steps/:step',
    seeing(({ path, view }, { req }) => stepPage(path, view, readNumber('step', req.param('step')))),
  );
  app.get('/api/runs/:run/attempts', seeing(findAttempts));
  app.get(
    '/api/runs/:run/attempts/:file/:place',
    seeing(({ path, view }, { req }) =>
      attemptPage(path, view, req.param('file') ?? '', readNumber('place', req.param('place'))),
    ),
  );
  app.get('/api/runs/:run/events', seeing(findEvents));
}

function skillOf({ view }: Seen, { req }: Context) {
  const version = readNumber('version', req.param('version'));
  const text = view.versions[version]?.skill;
  if (typeof text === 'string') return { version, text };
  const why = text === null ? `the text of version ${version} was not kept` : `there is no version ${version}`;
  throw new Refusal(404, why, `There are ${view.versions.length} versions, from 0.`);
}

function findAttempts({ path, view }: Seen, { req }: Context) {
  const { task, version, q, cursor } = req.query();
  return attemptsPage(path, view, {
    task: task || undefined,
    text: q || undefined,
    version: version ? readNumber('version', version) : undefined,
    cursor: readNumber('cursor', cursor || '0'),
  });
}

const MOST_EVENTS = 200;

function findEvents({ path, types }: Seen, { req }: Context) {
  const { from, count, type } = req.query();
  const wanted = Math.min(MOST_EVENTS, readNumber('count', count || '50'));
  return eventsPage(path, { types }, { from: readNumber('from', from || '0'), count: wanted, type: type || undefined });
}

const MOST_COLUMNS = 200;

function readVersions(text = ''): number[] {
  const versions = text === '' ? [] : text.split(',').map((one) => readNumber('versions', one));
  if (versions.length <= MOST_COLUMNS) return versions;
  throw new Refusal(400, `${versions.length} versions were asked for`, `Ask for at most ${MOST_COLUMNS} at once.`);
}

function readNumber(name: string, text = ''): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Refusal(
    400,
    `${name} must be a whole number, got ${JSON.stringify(text.slice(0, 40))}`,
    'Correct the address.',
  );
}

const Adoption = z.object({ id: z.string(), project: z.string(), digest: z.string() });
const LONGEST_BODY = 10_000;

function addOtherRoutes(app: Hono, folder: RunFolder, { nights, control = false }: AppOptions): void {
  const stop = runStopper();
  app.get('/api/compare', async (context) => {
    const { a = '', b = '', split = 'test' } = context.req.query();
    return answer(context, await comparePage(await folder.find(a), await folder.find(b), split));
  });
  app.get('/api/nights', async (context) =>
    answer(context, nights ? await nightsPage(nights) : { project: '', nights: [], proposals: [] }),
  );
  app.use('/api/*', bodyLimit({ maxSize: LONGEST_BODY, onError: () => refuse(400, 'the request is too long') }));
  app.post('/api/runs/:run/stop', async (context) => {
    requireControl(control);
    return answer(context, await stop(await folder.find(context.req.param('run'))));
  });
  app.post('/api/nights/adopt', async (context) => {
    requireControl(control);
    const { data } = Adoption.safeParse(await context.req.json().catch(() => undefined));
    if (!data || !nights) return refuse(400, 'id, project and digest of a proposal were expected');
    return answer(context, await adoptShown(nights, data));
  });
}

function refuse(status: 400, message: string): never {
  throw new Refusal(status, message, 'Use the buttons of the page.');
}

function requireControl(control: boolean): void {
  if (!control) throw new Refusal(403, 'this page only shows runs', 'Start it with control to stop runs and adopt.');
}

/** Stops runs as Ctrl-C does. A second Ctrl-C would end a process at once, so each one is asked once. */
function runStopper() {
  const asked = new Set<string>();
  return async ({ name, path }: RunListing): Promise<{ message: string }> => {
    const owner = await runOwner(path);
    if (!owner) {
      const hint = 'If it runs on another machine, stop it there.';
      throw new Refusal(409, `no process of this machine works on ${name}`, hint);
    }
    const { pid, startedAt } = owner;
    if (asked.has(`${pid} ${startedAt}`))
      throw new Refusal(409, `${name} was asked to stop already`, 'It ends after the calls in flight.');
    asked.add(`${pid} ${startedAt}`);
    process.kill(pid, 'SIGINT');
    return { message: `${name} stops after the calls in flight` };
  };
}
