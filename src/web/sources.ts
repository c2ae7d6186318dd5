import {
  type AttemptPage,
  type AttemptsPage,
  changePage,
  type EventsPage,
  type PageChange,
  type ProposalPage,
  type ReportData,
  type RunPage,
} from '../core/page/index.ts';
import { shellWord } from '../core/text/index.ts';
import { runAddress } from './address.ts';
import {
  type AttemptQuery,
  type EventQuery,
  LOST,
  problemOf,
  type RunListener,
  type Source,
  SourceError,
} from './source.ts';

/** The data of a report, if this page is one. */
export async function embeddedSource(): Promise<Source | null> {
  const element = document.getElementById('skillopt-data');
  if (!element) return null;
  const text = element.textContent ?? '';
  return sourceOf(JSON.parse(element.dataset.encoding === 'gzip' ? await unzip(text) : text));
}

async function unzip(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

function sourceOf(data: ReportData): Source {
  const allLeftOut = [...data.leftOut, ...Object.keys(data.attempts).flatMap((run) => passedNote(data, run))];
  const leftOut = allLeftOut.join(' ');
  const found = <Value>(value: Value | undefined, what: string): Value => {
    if (value !== undefined) return value;
    throw new SourceError({ message: `This report does not hold ${what}.`, hint: leftOut });
  };
  const list = <Value>(of: Readonly<Record<string, readonly Value[]>>, run: string) => of[run] ?? [];
  const findSkill = (run: string, wanted: number) => list(data.skills, run).find(({ version }) => version === wanted);
  const findStep = (run: string, wanted: number) => list(data.steps, run).find(({ step }) => step === wanted);
  const findAttempt = (run: string, file: string, place: number) =>
    list(data.attempts, run).find(({ row }) => row.file === file && row.place === place);
  return {
    isLive: false,
    home: homeOf(data),
    leftOut: allLeftOut,
    runs: async () => data.runs,
    openRun: (run, { onPage, onProblem }) => {
      const page = data.pages[run];
      if (page) onPage(page);
      else onProblem({ message: `This report does not hold the run ${run}.`, hint: leftOut });
      return () => {};
    },
    tasks: async (run) => found(data.tasks[run], 'the tasks'),
    columns: async (run, versions) => list(data.columns, run).filter(({ version }) => versions.includes(version)),
    skill: async (run, wanted) => found(findSkill(run, wanted), 'the text of this version').text,
    step: async (run, wanted) => found(findStep(run, wanted), 'this step'),
    attempts: async (run, query) => chooseAttempts(list(data.attempts, run), query),
    attempt: async (run, file, place) => found(findAttempt(run, file, place), 'this attempt'),
    events: async (run, query) => chooseEvents(found(data.events[run], 'the journal'), query),
    compare: async () => found(data.compare, 'a comparison'),
    nights: async () => {
      throw new SourceError({ message: 'A report holds no nights.', hint: 'skillopt ui shows them.' });
    },
  };
}

/** A report holds failed attempts alone, unless `--attempts all` is given. */
function passedNote({ attempts, tasks }: ReportData, run: string): string[] {
  const isAnyKept = attempts[run]?.some(({ row }) => row.hard >= 1 && !row.errored);
  if (isAnyKept || !tasks[run]?.rows.some(({ score, isNeverPassed }) => score !== null && !isNeverPassed)) return [];
  return [`Passed attempts are not in this file: npx skillopt report ${shellWord(run)} --attempts all writes them.`];
}

/** A report of one run begins with it, and one of a comparison with that. */
function homeOf({ runs, compare }: ReportData): string {
  const [only, ...others] = runs.runs;
  if (only) return others.length === 0 ? runAddress(only.name) : '#/';
  return compare ? '#/compare' : '#/';
}

function chooseAttempts(all: readonly AttemptPage[], query: AttemptQuery): AttemptsPage {
  const rows = all.filter((attempt) => fits(attempt, query)).map(({ row }) => row);
  return { rows, next: null, searched: all.length, total: all.length };
}

function fits({ row, result }: AttemptPage, { task, version, q = '' }: AttemptQuery): boolean {
  if (task && row.task !== task) return false;
  if (version && row.version !== Number(version)) return false;
  return q === '' || JSON.stringify(result).toLowerCase().includes(JSON.stringify(q).slice(1, -1).toLowerCase());
}

function chooseEvents({ events }: EventsPage, { from, count, type }: EventQuery): EventsPage {
  const chosen = type ? events.filter((event) => event.type === type) : events;
  return { total: chosen.length, events: chosen.slice(from, from + count) };
}

const RETRY_MS = 2_000;

/** Asks the server that the page came from. */
export function liveSource(): Source {
  const inRun = (run: string, rest: string) => `api/runs/${encodeURIComponent(run)}${rest}`;
  return {
    isLive: true,
    home: '#/',
    leftOut: [],
    runs: () => ask('api/runs'),
    openRun: (run, listener) => listen(inRun(run, ''), listener),
    tasks: (run) => ask(inRun(run, '/tasks')),
    columns: (run, versions) => ask(inRun(run, `/columns?versions=${versions.join(',')}`)),
    skill: async (run, version) => (await ask<{ text: string }>(inRun(run, `/skills/${version}`))).text,
    step: (run, step) => ask(inRun(run, `/steps/${step}`)),
    attempts: (run, query) => ask(inRun(run, `/attempts?${new URLSearchParams(query)}`)),
    attempt: (run, file, place) => ask(inRun(run, `/attempts/${encodeURIComponent(file)}/${place}`)),
    events: (run, { from, count, type = '' }) =>
      ask(inRun(run, `/events?${new URLSearchParams({ from: `${from}`, count: `${count}`, type })}`)),
    compare: (a, b, split) => ask(`api/compare?${new URLSearchParams({ a, b, ...(split && { split }) })}`),
    nights: () => ask('api/nights'),
    // The server says in its page whether it lets the page act.
    ...(document.documentElement.hasAttribute('data-control') && {
      stop: (run: string) => send(inRun(run, '/stop'), {}),
      adopt: ({ id, digest }: ProposalPage, project: string) => send('api/nights/adopt', { id, project, digest }),
    }),
  };
}

const ask = <Answer>(path: string): Promise<Answer> => answerOf(path, {});

const send = (path: string, body: object): Promise<void> =>
  answerOf(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-skillopt': '1' },
    body: JSON.stringify(body),
  });

async function answerOf<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(path, init).catch(() => {
    throw new SourceError(LOST);
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  throw new SourceError(
    body?.error ?? { message: `The server answered ${response.status} without a reason.`, hint: '' },
  );
}

/** The stream of a run. The browser connects again by itself after a loss; after a refusal we do. */
function listen(path: string, { onPage, onDoing, onProblem }: RunListener): () => void {
  let [page, timer]: [RunPage | undefined, ReturnType<typeof setTimeout> | undefined] = [undefined, undefined];
  let stream = open();
  function open(): EventSource {
    const source = new EventSource(`${path}/stream`);
    const on = (name: string, take: (data: never) => void) =>
      source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as never));
    const show = (next: RunPage) => {
      page = next;
      onProblem(null);
      onPage(next);
    };
    on('page', show);
    on('change', (change: PageChange) => page && show(changePage(page, change)));
    on('progress', onDoing);
    on('problem', onProblem);
    source.addEventListener('open', () => onProblem(null));
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) return onProblem(LOST);
      ask(path).then(
        () => onProblem(LOST),
        (error) => onProblem(problemOf(error)),
      );
      timer = setTimeout(() => (stream = open()), RETRY_MS);
    });
    return source;
  }
  return () => {
    clearTimeout(timer);
    stream.close();
  };
}
