import { once, setMaxListeners } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';

export type Abuse = 'gzip' | 'open' | 'trickle' | 'valid';

const MEGABYTE = Buffer.alloc(1_000_000, ' ');

/** Packed by a stream: what it unpacks to is never in memory. */
async function gzipBomb(megabytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const packed = gzip.toArray();
  for (let n = 0; n < megabytes; n++) if (!gzip.write(MEGABYTE)) await once(gzip, 'drain');
  gzip.end();
  return Buffer.concat(await packed);
}

let bomb: Promise<Buffer> | undefined;

/** Sends to a gateway what no agent should, again and again. Returns how often each status came; `cut` is a connection that ended. */
export async function abuse(url: string, kind: Abuse, signal: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {};
  setMaxListeners(0, signal);
  while (!signal.aborted) {
    const headers = kind === 'gzip' ? { 'content-encoding': 'gzip' } : {};
    const asked = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false });
    const left = () => asked.destroy();
    signal.addEventListener('abort', left);
    const status = new Promise<string>((resolve) => {
      asked.on('response', (response) => resolve(String(response.resume().statusCode)));
      asked.on('error', () => resolve('cut'));
      asked.on('close', () => resolve('cut'));
    });
    await Promise.race([WAYS[kind](asked, signal).catch(() => {}), status]);
    const came =
      kind === 'gzip' || kind === 'valid' ? await status : await Promise.race([status, delay(5_000, 'open')]);
    statuses[came] = (statuses[came] ?? 0) + 1;
    signal.removeEventListener('abort', left);
    asked.destroy();
  }
  return statuses;
}

const WAYS: Readonly<Record<Abuse, (asked: ClientRequest, signal: AbortSignal) => Promise<unknown>>> = {
  /** 1 GB in 1 MB. */
  async gzip(asked) {
    bomb ??= gzipBomb(1_000);
    asked.end(await bomb);
  },
  /** 60 MB that are never ended. */
  async open(asked) {
    for (let n = 0; n < 60 && !asked.destroyed; n++) if (!asked.write(MEGABYTE)) await once(asked, 'drain');
  },
  async trickle(asked, signal) {
    asked.write('{"messages": [');
    while (!signal.aborted && !asked.destroyed) {
      asked.write('{},'.repeat(300));
      await delay(1);
    }
  },
  /** JSON that takes up many times its size when it is read. */
  async valid(asked) {
    asked.end(`{"model": "some-model", "messages": [${'{},'.repeat(300_000)}{}]}`);
  },
};
