import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { serveRuns } from 'skillopt/server';
import { describe, expect, it } from 'vitest';
import { openPages, problemIn, runsFolder } from '../../support/page/served-runs.ts';

type Asked = { readonly path?: string; readonly headers?: Record<string, string>; readonly method?: string };

/** Sends exactly these headers: `fetch` would not let a host or an origin be forged. */
function ask(url: string, { path = '/api/runs', headers = {}, method = 'GET' }: Asked) {
  const { port, hostname } = new URL(url);
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const sent = request({ port, hostname, path, headers, method, setHost: headers.host === undefined }, (answer) => {
      let body = '';
      answer.on('data', (part) => {
        body += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body }));
    });
    sent.on('error', reject).end();
  });
}

async function serve() {
  const folder = runsFolder();
  const server = await serveRuns({ root: folder.root });
  const { origin, port, searchParams } = new URL(server.url);
  const cookie = `skillopt-${port}=${searchParams.get('token')}`;
  return {
    ...{ url: server.url, origin, port, cookie, token: searchParams.get('token')!, root: folder.root },
    async [Symbol.asyncDispose]() {
      await server.close();
      folder[Symbol.dispose]();
    },
  };
}

describe('the server', () => {
  it('changes the token of its address into a cookie that no script can read', async () => {
    await using server = await serve();
    const opened = await ask(server.url, { path: `/open?token=${server.token}` });
    expect(opened.status).toBe(302);
    const home = String(opened.headers.location);
    expect(opened.headers['set-cookie']).toEqual([`${server.cookie}; Path=${home}; HttpOnly; SameSite=Strict`]);
    expect((await ask(server.url, { headers: { cookie: server.cookie } })).status).toBe(200);
  });

  it('has its cookie sent to no other port: only below a path that nobody can guess', async () => {
    await using one = await serve();
    await using other = await serve();
    const homes = await Promise.all(
      [one, other].map(async ({ url, token }) => (await ask(url, { path: `/open?token=${token}` })).headers.location),
    );
    expect(homes).toEqual([expect.stringMatching(/^\/[\w-]{32,}\/$/), expect.stringMatching(/^\/[\w-]{32,}\/$/)]);
    expect(homes[0]).not.toBe(homes[1]);
    expect(homes.join()).not.toContain(one.token);
    const [home] = homes as [string];
    const { cookie: right } = one;
    const statuses = async (path: string) =>
      Promise.all([{ cookie: right }, {}].map(async (headers) => (await ask(one.url, { path, headers })).status));
    expect(await statuses(`${home}api/runs`)).toEqual([200, 401]);
    expect(await statuses(`${home}api/nothing`)).toEqual([404, 401]);
    expect(await statuses(`${homes[1]}api/runs`)).toEqual([404, 401]);
  });

  it('answers nobody without the token', async () => {
    await using server = await serve();
    const wrong = ['', 'wrong', server.token.slice(1), `${server.token}x`];
    for (const token of wrong) {
      const headers = { cookie: `skillopt-${server.port}=${token}` };
      for (const path of ['/', '/api/runs', '/assets/x.js', '/api/runs/demo/stream'])
        expect([path, (await ask(server.url, { path, headers })).status]).toEqual([path, 401]);
      expect((await ask(server.url, { path: `/open?token=${token}` })).status).toBe(401);
    }
    expect((await ask(server.url, {})).status).toBe(401);
  });

  it('answers no other name and no other site', async () => {
    await using server = await serve();
    const { cookie, port, origin } = server;
    const forged: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { host: '127.0.0.1' },
      { host: `localhost:${Number(port) + 1}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${origin}.evil.example` },
      { origin: `https://127.0.0.1:${port}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of forged) {
      const { status, body } = await ask(server.url, { headers: { cookie, ...headers } });
      expect([headers, status]).toEqual([headers, 403]);
      expect(body).not.toContain('folder');
    }
    const own = { origin, 'sec-fetch-site': 'same-origin', host: `localhost:${port}` };
    expect((await ask(server.url, { headers: { cookie, ...own } })).status).toBe(200);
  });

  it('sends no header that lets another page in, and none that binds the browser to TLS', async () => {
    await using server = await serve();
    for (const headers of [{ cookie: server.cookie }, {} as Record<string, string>]) {
      const answer = await ask(server.url, { headers });
      expect(answer.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(answer.headers['content-security-policy']).not.toContain('unsafe');
      for (const name of ['strict-transport-security', 'access-control-allow-origin'])
        expect(answer.headers[name]).toBeUndefined();
    }
  });

  it('reads no file outside of its runs, whatever the path', async () => {
    await using server = await serve();
    mkdirSync(join(server.root, 'demo'));
    writeFileSync(join(server.root, 'demo/events.jsonl'), '');
    writeFileSync(join(server.root, 'secret.txt'), 'the secret');
    const up = ['..', '../..', '%2e%2e', '..%2f..', '..%5c..', '%252e%252e', '....//', '/etc/passwd', '%00', 'demo%00'];
    const places = up.flatMap((part) => [
      `/${part}/secret.txt`,
      `/assets/${part}/secret.txt`,
      `/assets/${part}%2fsecret.txt`,
      `/api/runs/${part}`,
      `/api/runs/${part}%2fsecret.txt`,
      `/api/runs/demo/skills/${part}`,
      `/api/runs/demo/attempts/${encodeURIComponent(part)}%2fsecret/0`,
      `/api/runs/demo/attempts/${encodeURIComponent(`${part}/secret.txt`)}/0`,
    ]);
    const isStart = (path: string) => new URL(path, server.origin).pathname === '/'; // that is the page
    for (const path of places.filter((place) => !isStart(place))) {
      const { status, body } = await ask(server.url, { path, headers: { cookie: server.cookie } });
      expect([path, [400, 404].includes(status)]).toEqual([path, true]);
      expect(body).not.toContain('the secret');
      expect(body).not.toContain('root:');
      expect(body).not.toContain(server.root);
    }
  });
});

describe('a change', () => {
  it('needs control, JSON, and the header of the page', async () => {
    using folder = runsFolder();
    mkdirSync(join(folder.root, 'demo'));
    writeFileSync(join(folder.root, 'demo/events.jsonl'), '');
    const reading = openPages({ root: folder.root });
    const refused = await reading.post('/api/runs/demo/stop', {});
    expect(refused.status).toBe(403);
    expect((await problemIn(refused)).message).toBe('this page only shows runs');
    const { post } = openPages({ root: folder.root, control: true });
    expect((await post('/api/runs/demo/stop', {}, { 'x-skillopt': '' })).status).toBe(403);
    expect((await post('/api/runs/demo/stop', {}, { 'content-type': 'text/plain' })).status).toBe(403);
    expect((await post('/api/runs/demo/stop', {}, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await post('/api/runs/demo/stop', {})).status).toBe(409); // nobody works on it
    expect((await post('/api/nights/adopt', { id: '1' })).status).toBe(400);
    expect((await post('/api/nights/adopt', { id: 'x'.repeat(20_000) })).status).toBe(400);
    expect((await post('/api/runs/..%2f/stop', {})).status).toBe(404);
  });
});
