import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { mcpClient } from '../../support/mcp/mcp-client.ts';
import { nightHome } from '../../support/mcp/night-home.ts';
import { type SleepHome, sleepHome } from '../../support/sleep/sleep-home.ts';

const PRICES = 'prices:\n  m: { input: 1000, output: 1000 }\n';

type Home = Pick<SleepHome, 'shop'> & { readonly env: Readonly<Record<string, string | undefined>> };

/** The plan, and what is answered to a run of it. `answer` is what the person says. */
async function planAndRun(home: Home, limits: object, more: Partial<Parameters<typeof mcpClient>[0]> = {}) {
  const asked: string[] = [];
  const answer = ({ message }: { message: string }) => {
    asked.push(message);
    return { action: 'decline' };
  };
  await using client = mcpClient({ env: home.env, answer, ...more });
  await client.open();
  const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop, ...limits });
  const input = { project: home.shop, planDigest: plan.planDigest, ...limits };
  const { structuredContent: run } = await client.call('sleep_run', input);
  return { plan, run, asked };
}

describe('what a project file may not name here', () => {
  it.each([
    ['baseURL', '{ provider: compatible, model: m, baseURL: http://127.0.0.1:9/v1 }'],
    ['baseURL', 'compatible:m@http://127.0.0.1:9/v1'],
    ['baseURL', '{ agent: claude, baseURL: http://127.0.0.1:9 }'],
    ['resource', 'azure:d@evil'],
    ['apiKeyEnv', '{ provider: openai, model: m, apiKeyEnv: AWS_SECRET_ACCESS_KEY }'],
  ])('%s in %s', async (key, model) => {
    using home = sleepHome();
    home.said();
    await using client = mcpClient({ env: home.env });
    await client.open();
    const roles = model.includes('agent') ? ['target'] : ['target', 'optimizer', 'judge'];
    const own = model.includes('agent') ? '  optimizer: openai:m\n' : '';
    for (const role of roles) {
      const others = role === 'target' ? '' : '  target: openai:m\n';
      home.write('shop/skillopt.config.yaml', `sleep:\n  ${role}: ${model}\n${others}${own}`);
      const { structuredContent } = await client.call('sleep_plan', { project: home.shop });
      expect(structuredContent).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(new RegExp(`^(target|${role})\\.${key}: an address, or a key for it`)),
      });
    }
  });
});

describe('a night through the server', () => {
  it('is one for one plan, and a resumed one says what is paid', async () => {
    await using far = await startFakeLLM(() => 'no tasks that anybody could read');
    using home = nightHome(far.baseURL, true, PRICES);
    await using client = mcpClient({ env: home.env, mayRun: true });
    await client.open();
    const { structuredContent: plan } = await client.call('sleep_plan', { project: home.shop });
    expect(plan).toMatchObject({ resumes: null, paid: null });
    const input = { project: home.shop, planDigest: plan.planDigest };
    const { jobId } = (await client.call('sleep_run', input)).structuredContent;
    const job = async () => (await client.call('sleep_job', { jobId, waitSeconds: 5 })).structuredContent.state;
    await expect.poll(job).toBe('done');
    expect((await client.call('sleep_run', input)).structuredContent).toMatchObject({
      message: 'the night would not be the one that was shown',
    });

    const file = readdirSync(home.state, { recursive: true, encoding: 'utf8' }).find((name) =>
      /night\.json$/.test(name),
    );
    const path = join(home.state, file!);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), status: 'running' }));
    const resumed = await planAndRun(home, {});
    expect(resumed.plan).toMatchObject({ resumes: 1, problems: [], paid: { calls: 2, usd: expect.any(Number) } });
    expect(resumed.plan.planDigest).not.toBe(plan.planDigest);
    expect(resumed.asked[0]).toMatch(/^Resume night 1\? .*It has made 2 calls for .* before, which counts towards/);
  });

  it('is asked for with the bounds that hold, and a no is final', async () => {
    await using far = await startFakeLLM([]);
    using home = nightHome(far.baseURL, true, `${PRICES}maxTokensPerNight: 1000\n`);
    const limits = { maxUsd: 1.5, maxCalls: 60 };
    const { plan, run, asked } = await planAndRun(home, limits);
    expect(plan.usd.high).toBeGreaterThan(1.5);
    expect(plan.limits).toEqual({ ...limits, maxTokensPerNight: 1000 });
    expect(plan.likely.calls).toBeGreaterThanOrEqual(plan.calls.low);
    expect(plan.likely.calls).toBeLessThanOrEqual(plan.calls.high);
    expect(asked).toEqual([expect.stringMatching(/in \d+ to (60|[1-5]?\d) calls, for at most 1\.50 dollars\./)]);
    expect(asked[0]).toContain('Limits: maxUsd 1.5, maxCalls 60, maxTokensPerNight 1000.');
    expect(run).toMatchObject({ code: 'CONSENT_MISSING', message: 'the person declined' });
    expect(run.hint).toContain('Do not ask again');
    const mute = (await planAndRun(home, limits, { answer: undefined as never })).run;
    expect(mute).toMatchObject({ code: 'CONSENT_MISSING', message: 'nobody agreed that this night is started' });
    expect(mute.hint).toContain(`sleep run --project ${home.shop} --max-cost-usd 1.5 --max-calls 60.`);
    expect(existsSync(join(home.state, 'jobs'))).toBe(false);
  });

  it('with nothing to learn from is not started', async () => {
    await using far = await startFakeLLM([]);
    using home = nightHome(far.baseURL);
    const { plan, run } = await planAndRun({ env: home.env, shop: home.blog }, {}, { mayRun: true });
    expect(plan.problems).toEqual(['No session to learn from: a night would do nothing.']);
    expect(run).toMatchObject({ code: 'CONFIG_INVALID', message: plan.problems[0] });
    expect(existsSync(join(home.state, 'jobs'))).toBe(false);
  });
});

describe('a command to type', () => {
  const call = async (name: string) => {
    await using far = await startFakeLLM([]);
    using home = nightHome(far.baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]'));
    const shop = join(home.path, name);
    mkdirSync(shop, { recursive: true });
    const called = (text: string) => text.replaceAll(/(?:npx )?skillopt sleep/g, 'npx skillopt sleep');
    return { shop: realpathSync(shop), ...(await planAndRun({ shop, env: home.env }, {}, { called })) };
  };

  it.each(['shop ', 'a  b', 'a\u2028b', 'a\u00a0b', 'a\ufe0fb', 'a\u202eb'])('is not given for %j', async (name) => {
    const { plan } = await call(name);
    for (const command of [plan.textsCommand, plan.consentCommand]) expect(command).toMatch(/cannot be typed safely/);
    expect(JSON.stringify(plan)).not.toContain('--project');
  });

  it.each(["it's a shop", 'my skillopt sleep/x', '$(touch x)', '-n'])('names exactly the folder %j', async (name) => {
    const { shop, plan, run } = await call(name);
    const quoted = /^[\w/.-]+$/.test(shop) ? shop : `'${shop.replaceAll("'", String.raw`'\''`)}'`;
    expect(plan.textsCommand).toBe(`npx skillopt sleep run --plan --page all --project ${quoted}`);
    expect(plan.consentCommand).toContain(`npx skillopt sleep run --project ${quoted} --consent `);
    expect(run.code).toBe('CONFIG_INVALID'); // nothing to learn from
  });

  it('stays what it is in an error', async () => {
    using home = nightHome('http://[::ffff:127.0.0.1]:9/v1');
    const shop = join(home.path, 'my skillopt sleep/x');
    mkdirSync(shop, { recursive: true });
    home.said({ cwd: shop });
    const called = (text: string) => text.replaceAll(/(?:npx )?skillopt sleep/g, 'npx skillopt sleep');
    const { run } = await planAndRun({ shop, env: home.env }, {}, { called });
    expect(run.hint).toContain(`typing: npx skillopt sleep run --project '${realpathSync(shop)}' --consent `);
    await using client = mcpClient({ env: home.env, called });
    await client.open();
    const { structuredContent: report } = await client.call('sleep_report', { project: shop });
    expect(report.message).toBe(`no night is over yet in ${realpathSync(shop)}`);
  });
});
