import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { maskKeys } from '../core/guard/index.ts';
import { changeOfPage, type RunPage } from '../core/page/index.ts';
import { problemOf } from './failure.ts';
import type { Shown } from './read-run.ts';
import type { WatchedRun } from './watched-run.ts';

const PING_MS = 15_000;

/**
 * Sends a run to one browser: the whole page first, unless its last event says that it has it, then what changes. A browser that
 * reads slowly gets fewer and larger changes.
 */
export function streamRun(context: Context, run: WatchedRun): Response {
  const lastId = context.req.header('last-event-id');
  return streamSSE(context, async (stream) => {
    const bell = ringer();
    const leave = run.watch(bell.ring);
    stream.onAbort(bell.ring);
    try {
      let sent = await sendNews(stream, await run.look(), {}, lastId);
      while (!stream.aborted && !stream.closed) {
        if (!(await bell.wait(PING_MS))) await stream.write(': still there\n\n');
        sent = await sendNews(stream, run.now()!, sent);
      }
    } catch (error) {
      await stream.writeSSE({ event: 'problem', data: JSON.stringify(problemOf(error)) });
    } finally {
      leave();
    }
  });
}

type Sent = { readonly shown?: Shown; readonly page?: RunPage };

async function sendNews(stream: SSEStreamingApi, shown: Shown, sent: Sent, lastId?: string): Promise<Sent> {
  const { page, id, problem, doing } = shown;
  const send = (event: string, data: object) =>
    stream.writeSSE({ event, data: maskKeys(JSON.stringify(data)), ...(event === 'problem' ? {} : { id }) });
  const isKnown = sent.shown === undefined && (lastId === id || lastId === `${page.lines}`);
  const hasRecovered = sent.shown?.problem !== undefined && problem === undefined;
  const isReadable = page.lines > 0 || problem === undefined;
  if (sent.page === undefined) {
    if (!isKnown && isReadable) await send('page', page);
  } else if (page !== sent.page || hasRecovered) await send('change', changeOfPage(sent.page, page));
  if (problem && problem !== sent.shown?.problem) await send('problem', problem);
  if (doing !== sent.shown?.doing && (doing.progress || sent.shown)) await send('progress', doing);
  return { shown, ...(isKnown || isReadable ? { page } : {}) };
}

/** Waits until it rings; a ring between two waits is not lost. */
function ringer() {
  let [hasRung, wake]: [boolean, (() => void)?] = [false];
  return {
    ring() {
      hasRung = true;
      wake?.();
    },
    /** False when it has not rung within this time. */
    async wait(ms: number): Promise<boolean> {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const heard = hasRung;
      hasRung = false;
      return heard;
    },
  };
}
