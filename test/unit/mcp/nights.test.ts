import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
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
