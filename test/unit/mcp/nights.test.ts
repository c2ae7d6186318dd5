import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { mcpClient } from '../../support/mcp/mcp-client.ts';
import { sleepHome } from '../../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../cli/sleep/night-over-http.ts';

const config = (baseURL: string, llmMine: boolean) =>
  `sleep:\n  target: compatible:m@${baseURL}\n  llmMine: ${llmMine}\n  lookbackHours: 0\n`;

/** A home with one session, whose project names a model at `baseURL`. */
function nightHome(baseURL: string, llmMine = false) {
  const home = sleepHome();
  home.said();
  home.write('shop/skillopt.config.yaml', config(baseURL, llmMine));
  const env = { ...process.env, ...home.env, PATH: process.env.PATH, OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
  return { ...home, env, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

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
async function heldNight(answer = nightAnswer) {
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
  return {
    ...{ far, home, open, start, job },
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
