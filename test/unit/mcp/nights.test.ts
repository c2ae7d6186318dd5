import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { takeLock } from '../../../src/stores/index.ts';
import { mcpClient } from '../../support/mcp/mcp-client.ts';
import { nightHome } from '../../support/mcp/night-home.ts';
import { sleepHome } from '../../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../cli/sleep/night-over-http.ts';

/** The address of this machine that nobody takes for this machine. */
const asRemote = (baseURL: string) => baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]');

it('a night goes from plan to report, in a process that its client does not need', async () => {
  await using far = await startFakeLLM(nightAnswer);
  using home = nightHome(far.baseURL);
  let jobId = '';
  {
    await using client = mcpClient({ env: home.env, mayRun: true });
    await client.open();
    const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop, maxCalls: 50 });
    expect(plan).toMatchObject({ sessions: 1, limits: { maxCalls: 50 }, problems: [], consentCommand: null });
    expect(plan.sent).toMatchObject([{ session: 's-1', agent: 'claude' }]);
    expect(far.requests).toEqual([]);

    const other = await client.call('sleep_run', { project: home.shop, planDigest: plan.planDigest, maxCalls: 51 });
    expect([other.isError, other.structuredContent.code]).toEqual([true, 'CONSENT_MISSING']);
    const run = { project: home.shop, planDigest: plan.planDigest, maxCalls: 50 };
    const started = await client.call('sleep_run', run);
    jobId = started.structuredContent.jobId;
    const status = await client.call('sleep_status', { project: home.shop });
    expect(status.structuredContent.job).toMatchObject({ jobId });
  }
  await using client = mcpClient({ env: home.env });
  await client.open();
  await expect
    .poll(async () => (await client.call('sleep_job', { jobId, waitSeconds: 5 })).structuredContent)
    .toMatchObject({ state: 'done', night: 1, proposals: [], reason: '' });
  const { structuredContent: report } = await client.call('sleep_report', { project: home.shop });
  expect(report).toMatchObject({ night: 1, sessions: 1, markdown: expect.stringContaining('# Night 1') });
  expect((await client.call('sleep_job', { jobId: '../../x' })).structuredContent.code).toBe('USAGE');
});

/** A night whose model answers once `open` was called. */
async function heldNight(answer: (request: FakeRequest) => string | Promise<string> = nightAnswer) {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const far = await startFakeLLM((request) => opened.then(() => answer(request)));
  const home = nightHome(far.baseURL, true);
  const client = mcpClient({ env: home.env, mayRun: true });
  await client.open();
  const start = async () => {
    const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop });
    const input = { project: home.shop, planDigest: plan.planDigest };
    return (await client.call('sleep_run', input)).structuredContent;
  };
  const job = async (jobId: string, more = {}) =>
    (await client.call('sleep_job', { jobId, ...more })).structuredContent;
  const call = async (name: string, input: object) => (await client.call(name, input)).structuredContent;
  return {
    ...{ far, home, open, start, job, call },
    async [Symbol.asyncDispose]() {
      open();
      await client[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

it('a night that is cancelled, or whose process is killed, says so, and goes on from there', async () => {
  await using held = await heldNight();
  const { far, home, open, start, job } = held;
  const { jobId: first } = await start();
  await expect.poll(() => far.requests.length).toBeGreaterThan(0);
  expect(await job(first)).toMatchObject({ state: 'running' });
  expect(await start()).toMatchObject({ code: 'RUN_LOCKED', message: expect.stringContaining(first) });
  await job(first, { cancel: true });
  await expect.poll(() => job(first, { waitSeconds: 5 })).toMatchObject({ state: 'cancelled', hint: RESUMES });

  const { jobId: second } = await start();
  const lock = join(home.state, 'jobs', second, 'run.lock');
  await expect.poll(() => existsSync(lock)).toBe(true);
  process.kill(JSON.parse(readFileSync(lock, 'utf8')).pid, 'SIGKILL');
  await expect.poll(() => job(second)).toMatchObject({ state: 'failed', hint: RESUMES });

  open();
  const { jobId: third } = await start();
  await expect.poll(() => job(third, { waitSeconds: 5 })).toMatchObject({ state: 'done', night: 1 });
});

const RESUMES = expect.stringContaining('resumes');

it('a night whose process is killed says what its ledger knows, and what may have been answered', async () => {
  let isOver = false;
  const answer = (request: FakeRequest) => {
    if (isOver) return nightAnswer(request);
    return held.far.requests.length === 1 ? 'no JSON' : new Promise<never>(() => {});
  };
  await using held = await heldNight(answer);
  const { far, home, open, start, job, call } = held;
  open();
  const { jobId } = await start();
  const phases = new Set<string>();
  await expect.poll(() => far.requests.length).toBe(2);
  await expect.poll(async () => phases.add((await job(jobId)).phase)).toContain('finding tasks');
  expect(await job(jobId)).toMatchObject({ state: 'running', done: null, total: null });
  const folder = join(home.state, 'jobs', jobId);
  process.kill(JSON.parse(readFileSync(join(folder, 'run.lock'), 'utf8')).pid, 'SIGKILL');
  await expect.poll(() => job(jobId)).toMatchObject({ state: 'failed' });
  const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')); // as if it was written before the first answer
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...state, night: null, cost: null }));

  const spent = { calls: 1, isWhole: false, mayHaveBeen: { calls: 1 }, words: '1 call answered, 1 more may have been' };
  expect((await job(jobId)).cost).toMatchObject(spent);
  const status = await call('sleep_status', { project: home.shop });
  expect(status).toMatchObject({ job: { jobId, cost: spent } });
  isOver = true;
  const { jobId: next } = await start();
  await expect.poll(() => job(next, { waitSeconds: 5 })).toMatchObject({ state: 'done', cost: { isWhole: false } });
  const { cost, markdown } = await call('sleep_report', { project: home.shop });
  expect(cost).toMatchObject({ isWhole: false, mayHaveBeen: { calls: 1 } });
  expect(markdown).toContain('1 more may have been');
});

it('a night whose model gives no reply that can be read says so', async () => {
  await using held = await heldNight(() => 'no JSON');
  const { home, open, start, job, call } = held;
  open();
  const { jobId } = await start();
  const reason = expect.stringMatching(
    /^2 replies of .*\bm\b.* about 1 session could not be read, so no task was found/,
  );
  await expect.poll(() => job(jobId, { waitSeconds: 5 })).toMatchObject({ state: 'done', reason });
  const report = await call('sleep_report', { project: home.shop });
  expect(report).toMatchObject({ whyNothing: reason, needs: expect.stringContaining('another optimizer') });
});

it('a night that is being started is not called dead, nor started twice', async () => {
  using home = sleepHome();
  const id = '20260101-000000-00000000';
  const folder = join(home.state, 'jobs', id);
  await using client = mcpClient({ env: home.env });
  await client.open();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(home.state, 'state.json'), '{}');
  const record = { project: home.shop, startedAt: new Date().toISOString(), planDigest: 'x' };
  const begun = {
    state: 'running',
    phase: 'starting',
    done: null,
    total: null,
    night: null,
    proposals: [],
    cost: null,
  };
  writeFileSync(join(folder, 'job.json'), JSON.stringify(record));
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...begun, reason: '', hint: '' }));
  const state = async () => (await client.call('sleep_job', { jobId: id })).structuredContent.state;
  expect(await state()).toBe('running');
  writeFileSync(join(folder, `run.lock.${randomUUID()}`), '{}'); // a draft, which becomes the lock in a moment
  expect(await state()).toBe('running');
  writeFileSync(join(folder, 'run.lock'), JSON.stringify({ pid: 2 ** 30, startedAt: '1', host: hostname() }));
  expect(await state()).toBe('failed');
});

it('refuses a second start at the same time, and says where the night will be seen', async () => {
  await using held = await heldNight();
  const { home, start } = held;
  mkdirSync(join(home.state, 'jobs'), { recursive: true, mode: 0o700 });
  const lock = await takeLock(join(home.state, 'jobs/start.lock'), { whenOwn: '', whenAlive: '' });
  expect(await start()).toEqual({
    code: 'RUN_LOCKED',
    message: 'a night is being started right now',
    hint: expect.stringContaining('sleep_status'),
  });
  await lock.release();
  expect(await start()).toHaveProperty('jobId');
});

it('sends nothing to anybody without a consent that a person has typed', async () => {
  await using far = await startFakeLLM(nightAnswer);
  using home = nightHome(asRemote(far.baseURL));
  await using client = mcpClient({ env: home.env, mayRun: true });
  await client.open();
  const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop });
  expect(plan.recipients).toMatchObject([{ leavesThisMachine: true, isAgreed: false }]);
  expect(plan.consentCommand).toContain('skillopt sleep run --project');
  const { structuredContent } = await client.call('sleep_run', { project: home.shop, planDigest: plan.planDigest });
  expect(structuredContent).toMatchObject({ code: 'CONSENT_MISSING', hint: expect.stringContaining('by typing') });
  expect(far.requests).toEqual([]);
  expect(existsSync(join(home.state, 'jobs'))).toBe(false);
});

const ANSWERS = {
  cancel: { action: 'cancel' },
  decline: { action: 'decline' },
  'an acceptance without words': { action: 'accept', content: {} },
  no: { action: 'accept', content: { run: false } },
};

it.each(Object.entries(ANSWERS))('does not start a night after %s', async (_, answer) => {
  await using far = await startFakeLLM(nightAnswer);
  using home = nightHome(far.baseURL);
  await using client = mcpClient({ env: home.env, answer: () => answer });
  await client.open();
  const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop });
  const refused = await client.call('sleep_run', { project: home.shop, planDigest: plan.planDigest });
  expect(refused.isError).toBe(true);
  expect(existsSync(join(home.state, 'jobs'))).toBe(false);
});

it('adopts nothing, and answers with the command that adopts what was shown', async () => {
  await using far = await startFakeLLM(nightAnswer);
  using home = sleepHome();
  reviewedTasks(home);
  Object.assign(home.env, { OPENAI_COMPATIBLE_API_KEY: 'dummy-key' });
  expect(await home.run(nightFlags(far.baseURL))).toMatchObject({ code: 0 });
  const before = snapshot(home.shop);
  await using client = mcpClient({ env: home.env, answer: () => ({ action: 'accept', content: { run: true } }) });
  await client.open();
  const nights = join(home.state, 'nights');
  const night = join(nights, readdirSync(nights)[0]!, '1');
  const report = await client.call('sleep_report', { project: home.shop });
  const run = await client.call('run_status', { run: night });
  expect(Object.keys(run.structuredContent.cost)).toEqual([
    'calls',
    'tokens',
    'usd',
    'isWhole',
    'mayHaveBeen',
    'words',
  ]);
  expect(Object.keys(report.structuredContent.cost)).toEqual(Object.keys(run.structuredContent.cost));
  const { structuredContent: status } = await client.call('sleep_status', { project: home.shop });
  const [{ id, digest, command, after }] = status.pending;
  expect(after).not.toBe('');
  const shown = await client.call('sleep_adopt', { project: home.shop, id, digest });
  expect(shown.structuredContent).toMatchObject({ adopted: false, isAsShown: true, command });
  const stale = await client.call('sleep_adopt', { project: home.shop, id, digest: 'f'.repeat(64) });
  expect(stale.structuredContent).toMatchObject({ adopted: false, isAsShown: false });
  expect(snapshot(home.shop)).toEqual(before);

  const [, ...words] = command.replace('skillopt ', '').split(' ');
  expect(await home.run(words)).toMatchObject({ code: 0 });
  expect(snapshot(home.shop)).not.toEqual(before);
});

function snapshot(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

it('sends nothing to an address that only the .env of the project names', async () => {
  await using far = await startFakeLLM(nightAnswer);
  await using evil = await startFakeLLM(nightAnswer);
  using home = sleepHome();
  home.said();
  home.write('shop/skillopt.config.yaml', 'sleep:\n  target: compatible:m\n  lookbackHours: 0\n');
  const roles = ['', 'TARGET_', 'OPTIMIZER_', 'JUDGE_'];
  home.write('shop/.env', roles.map((role) => `${role}OPENAI_COMPATIBLE_BASE_URL=${evil.baseURL}\n`).join(''));
  const address = { OPENAI_COMPATIBLE_BASE_URL: far.baseURL, OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
  await using client = mcpClient({
    env: { ...process.env, ...home.env, PATH: process.env.PATH, ...address },
    mayRun: true,
  });
  await client.open();
  const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop });
  expect(plan.recipients).toMatchObject([{ provider: `compatible@${far.baseURL}` }]);
  const { structuredContent: started } = await client.call('sleep_run', {
    project: home.shop,
    planDigest: plan.planDigest,
  });
  await expect
    .poll(
      async () => (await client.call('sleep_job', { jobId: started.jobId, waitSeconds: 5 })).structuredContent.state,
    )
    .not.toBe('running');
  expect([far.requests.length > 0, evil.requests]).toEqual([true, []]);
});

it('shows who reads texts by the address that is called', async () => {
  using home = sleepHome();
  home.said();
  const recipients = async (target: string, variables: object) => {
    home.write('shop/skillopt.config.yaml', `sleep:\n  target: ${target}\n  lookbackHours: 0\n`);
    await using client = mcpClient({ env: { ...home.env, ...variables } });
    await client.open();
    const { structuredContent } = await client.call('sleep_plan', { project: home.shop });
    return structuredContent.recipients.map(({ provider }: { provider: string }) => provider);
  };
  const url = 'https://other.example/v1';
  expect(await recipients('qwen:m', { QWEN_CHAT_BASE_URL: url })).toEqual(['qwen@https://other.example/v1']);
  expect(await recipients('compatible:m', { OPENAI_COMPATIBLE_BASE_URL: url })).toEqual([
    'compatible@https://other.example/v1',
  ]);
  expect(await recipients('minimax:m', { MINIMAX_BASE_URL: url })).toEqual(['minimax@https://other.example/v1']);
  expect(await recipients('azure:d', { AZURE_OPENAI_ENDPOINT: url })).toEqual(['azure@https://other.example/v1']);
  expect(await recipients('openai:m', {})).toEqual(['openai']);
});

it('asks the person about the night that was checked, in one line', async () => {
  await using far = await startFakeLLM(nightAnswer);
  using home = nightHome(far.baseURL);
  const project = join(home.path, 'shop/a\u202e Cost: $0. Approve?');
  mkdirSync(project);
  const asked: string[] = [];
  const answer = ({ message }: { message: string }) => {
    asked.push(message);
    return { action: 'decline' };
  };
  await using client = mcpClient({ env: home.env, answer });
  await client.open();
  expect((await client.call('sleep_run', { project, planDigest: 'x' })).isError).toBe(true);
  expect(asked).toEqual([]);
  home.said({ id: 's-2', cwd: project });
  const { structuredContent: plan } = await client.call('sleep_plan', { project, maxCalls: 9 });
  await client.call('sleep_run', { project, planDigest: plan.planDigest, maxCalls: 9 });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatch(
    /^Start a night\? It sends texts of \d+ sessions? to compatible at http:\/\/127\.0\.0\.1.*maxCalls 9/,
  );
  expect([...asked[0]!].filter((sign) => sign < ' ' || sign === '\u202e')).toEqual([]);
});

it('takes from a project neither programs, nor sessions of other projects, nor a state folder', async () => {
  using home = sleepHome();
  home.said();
  const plan = async (settings: string, env = {}) => {
    home.write('shop/skillopt.config.yaml', settings);
    await using client = mcpClient({ env: { ...home.env, ...env } });
    await client.open();
    return (await client.call('sleep_plan', { project: home.shop })).structuredContent;
  };
  const program = 'sleep:\n  target: { provider: claude-cli, path: /opt/elsewhere/claude }\n';
  expect(await plan(program)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('program') });
  const all = 'sleep:\n  target: openai:m\n  projects: all\n';
  expect(await plan(all)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('projects') });
  const inside = { SKILLOPT_HOME: join(home.shop, '.st') };
  expect(await plan('sleep:\n  target: openai:m\n', inside)).toMatchObject({ code: 'STATE_UNUSABLE' });
  expect(await plan('sleep:\n  target: openai:m\n', { SKILLOPT_HOME: '.st' })).toMatchObject({
    code: 'STATE_UNUSABLE',
  });
});

it('runs nothing of a project: neither its settings in code nor a program in it', async () => {
  using home = sleepHome();
  home.said();
  home.write(
    'shop/skillopt.config.mjs',
    "import { writeFileSync } from 'node:fs'; writeFileSync('RAN', ''); export default {};",
  );
  await using client = mcpClient({ env: home.env });
  await client.open();
  const plan = () => client.call('sleep_plan', { project: home.shop });
  expect((await plan()).structuredContent).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('is code'),
  });
  const evil = home.write('shop/node_modules/.bin/claude', '#!/bin/sh\ntouch "$0.ran"\necho 2.0.0\n');
  mkdirSync(join(home.shop, 'more'));
  writeFileSync(join(home.shop, 'skillopt.config.mjs'), '');
  const inner = join(home.shop, 'more');
  home.write(
    'shop/more/skillopt.config.yaml',
    `sleep:\n  target: { provider: claude-cli, path: ../node_modules/.bin/claude }\n`,
  );
  const refused = await client.call('sleep_plan', { project: inner });
  expect(refused.structuredContent.code).toBe('CONFIG_INVALID');
  expect([existsSync(join(home.shop, 'RAN')), existsSync(`${evil}.ran`), existsSync('RAN')]).toEqual([
    false,
    false,
    false,
  ]);
});
