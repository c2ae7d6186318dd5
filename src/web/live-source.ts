import { changePage, type PageChange, type ProposalPage, type RunPage } from '../core/page/index.ts';
import { LOST, problemOf, type RunListener, type Source, SourceError } from './source.ts';

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
