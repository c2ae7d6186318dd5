import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeRunLock } from '../../src/stores/index.ts';
import { INITIALIZE, startMcp } from '../support/mcp/mcp-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SKILL = '---\nname: project\ndescription: Names capitals of countries.\n---\n# Capitals\n';

/** A project, the folder that the agent is started in, and a place for state, each apart. */
function folders() {
  const root = tempFolder({
    'project/SKILL.md': SKILL,
    'cwd/notes.txt': 'mine',
    'special/events.jsonl': '',
    'home/.keep': '',
  });
  const at = (name: string) => join(root.path, name);
  const files = (name: string) =>
    readdirSync(at(name), { recursive: true, encoding: 'utf8' })
      .sort()
      .map((path) => [path, statSync(join(at(name), path)).mtimeMs]);
  return {
    at,
    snapshot: () => ({ cwd: files('cwd'), project: files('project') }),
    /** `before` is run in the process before the server. */
    start: (before?: string) =>
      startMcp({
        cwd: at('cwd'),
        env: { HOME: at('home'), SKILLOPT_HOME: at('home/state') },
        ...(before && { before }),
      }),
    [Symbol.dispose]: root[Symbol.dispose],
  };
}

/** Something happens in a tool when it looks at this path: code of ours does it nowhere, so it is put into the process. */
const whenLooked = (act: string) => `
import fs, { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const real = fs.promises.stat;
fs.promises.stat = async (path, ...more) => {
  if (!String(path).endsWith('/special')) return real(path, ...more);
  writeSync(2, 'looked\\n');
  ${act}
};
syncBuiltinESMExports();
`;

type Server = ReturnType<typeof startMcp>;

const lint = (path: string) => ({ name: 'skill_lint', arguments: { path } });

/** Every byte is of a line, and every line is a message. */
function expectMessagesAlone(server: Server): void {
  expect(server.stdout()).toMatch(/^(?:\{[^\n]*\}\n)*$/);
  for (const message of server.messages()) expect(message).toMatchObject({ jsonrpc: '2.0' });
}

describe('skillopt mcp as a process', () => {
  it('serves over its lines, ends with its input, and leaves no file behind', async () => {
    using place = folders();
    const before = place.snapshot();
    await using server = place.start();
    expect(await server.request('initialize', INITIALIZE)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    server.send({ method: 'notifications/initialized' });
    expect(await server.request('tools/list', {})).toMatchObject({ result: { tools: expect.any(Array) } });
    const linted = await server.request('tools/call', lint(place.at('project')));
    expect(linted).toMatchObject({ result: { structuredContent: { isOk: true } } });
    const project = place.at('project');
    for (const name of ['sleep_status', 'sleep_plan', 'sleep_report'])
      await server.request('tools/call', { name, arguments: { project } });
    server.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expectMessagesAlone(server);
    expect(server.messages()).toHaveLength(6);
    expect(server.stderr()).toBe('');
    expect(place.snapshot()).toEqual(before);
  });

  it('ends with its input before anything is asked, and in the midst of a call', async () => {
    using place = folders();
    await using idle = place.start();
    idle.end();
    expect(await idle.ended).toEqual({ code: 0, signal: null });
    expect(idle.stdout()).toBe('');
    await using busy = place.start(whenLooked('return new Promise(() => {});'));
    await busy.request('initialize', INITIALIZE);
    busy.send({ id: 'call', method: 'tools/call', params: lint(place.at('special')) });
    await busy.until(() => busy.stderr().includes('looked'));
    busy.end();
    expect(await busy.ended).toEqual({ code: 0, signal: null });
    expectMessagesAlone(busy);
  });

  it.skipIf(process.platform === 'win32')('ends with its input although a call hangs in a file', async () => {
    using place = folders();
    execFileSync('mkfifo', [place.at('pipe')]);
    const hang = `return fs.promises.readFile(${JSON.stringify(place.at('pipe'))});`; // which nobody writes to
    await using server = place.start(whenLooked(hang));
    await server.request('initialize', INITIALIZE);
    server.send({ id: 'call', method: 'tools/call', params: lint(place.at('special')) });
    await server.until(() => server.stderr().includes('looked'));
    server.end();
    await server.ended;
    expectMessagesAlone(server);
  });

  it('says on a terminal what it waits for', async () => {
    using place = folders();
    await using server = place.start(`Object.defineProperty(process.stdin, 'isTTY', { value: true });`);
    await server.until(() => server.stderr().includes('\n'));
    expect(server.stderr()).toMatch(/^This waits for messages of an agent.*Ctrl-D or Ctrl-C\.\n$/);
    server.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.stdout()).toBe('');
  });

  it('does not call a night dead whose lock appears between two looks', async () => {
    using place = folders();
    const id = '20260101-000000-00000000';
    const job = place.at(`home/state/jobs/${id}`);
    mkdirSync(job, { recursive: true });
    chmodSync(place.at('home/state'), 0o700);
    const record = { project: place.at('project'), startedAt: new Date().toISOString(), planDigest: 'x' };
    const none = { done: null, total: null, night: null, proposals: [], cost: null, reason: '', hint: '' };
    writeFileSync(join(job, 'job.json'), JSON.stringify(record));
    writeFileSync(join(job, 'state.json'), JSON.stringify({ state: 'running', phase: 'starting', ...none }));
    const lock = await takeRunLock(job);
    await using server = place.start(`
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const real = fs.promises.readFile;
      let looks = 0;
      fs.promises.readFile = async (path, ...more) => {
        const isFirst = String(path).endsWith('/run.lock') && looks++ === 0;
        return real(isFirst ? '/is/not/there/yet' : path, ...more);
      };
      syncBuiltinESMExports();
    `);
    await server.request('initialize', INITIALIZE);
    const answer = await server.request('tools/call', { name: 'sleep_job', arguments: { jobId: id } });
    expect(answer).toMatchObject({ result: { structuredContent: { state: 'running' } } });
    await lock.release();
  });

  it('answers a call whose tool crashes, and goes on', async () => {
    using place = folders();
    await using server = place.start(whenLooked('return { get mtime() { return undefined.nothing; } };'));
    await server.request('initialize', INITIALIZE);
    const crashed = await server.request('tools/call', { name: 'run_status', arguments: { run: place.at('special') } });
    expect(crashed).toMatchObject({ result: { isError: true, structuredContent: { code: 'BUG' } } });
    expect(await server.request('tools/call', lint(place.at('project')))).toMatchObject({ result: expect.anything() });
    server.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expectMessagesAlone(server);
  });

  it('says on stderr what nobody caught, and ends', async () => {
    using place = folders();
    await using server = place.start(
      whenLooked(`setTimeout(() => { throw new Error('too late'); }); await new Promise(() => {});`),
    );
    await server.request('initialize', INITIALIZE);
    server.send({ id: 'call', method: 'tools/call', params: lint(place.at('special')) });
    expect((await server.ended).code).toBeGreaterThan(0);
    expectMessagesAlone(server);
    expect(server.stderr()).toContain('too late');
  });

  it('ends at SIGTERM in the midst of a call, with whole lines alone', async () => {
    using place = folders();
    const before = place.snapshot();
    await using server = place.start(whenLooked('return new Promise(() => {});'));
    await server.request('initialize', INITIALIZE);
    server.send({ id: 'call', method: 'tools/call', params: lint(place.at('special')) });
    await server.until(() => server.stderr().includes('looked'));
    server.child.kill('SIGTERM');
    const { code, signal } = await server.ended;
    expect([code, signal]).toBeOneOf([
      [null, 'SIGTERM'],
      [143, null],
    ]);
    expectMessagesAlone(server);
    expect(place.snapshot()).toEqual(before);
  });

  it('sends to stderr what other code writes to stdout', async () => {
    using place = folders();
    const noise = `console.log('noise of a console'); process.stdout.write('noise of a stream\\n');`;
    await using server = place.start(whenLooked(`${noise} return real(path.replace(/special$/, 'project'));`));
    await server.request('initialize', INITIALIZE);
    expect(await server.request('tools/call', lint(place.at('special')))).toMatchObject({ result: expect.anything() });
    server.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expectMessagesAlone(server);
    expect(server.stderr()).toContain('noise of a console');
    expect(server.stderr()).toContain('noise of a stream');
  });
});
