import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { startClone } from '../clone-cli.ts';
import { agentProject, shopTask, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Enough work for a run to be stopped in the midst of it. */
const files = { 'tasks.jsonl': taskRows(shopTask, 4) };

it('counts what attempts had used when their provider failed in the midst of them', async () => {
  await using llm = await startFakeAgentLLM({ script: [{ shell: 'true' }, { shell: 'true' }, { fail: 401 }] });
  using project = agentProject({ baseURL: llm.url, config: { maxTotalTokens: 50_000_000 } });
  const { code } = await project.run('train', '--quiet', '--workers', '1');
  expect(code).toBe(4);
  const ledger = join(project.path, 'runs/run/spent.json');
  expect(existsSync(ledger)).toBe(true);
  const { input, output } = llm.usage();
  expect(input + output).toBeGreaterThan(0);
  expect(JSON.parse(readFileSync(ledger, 'utf8'))).toMatchObject({ totalTokens: input + output });
});

const loadingOf = (report: string) => /^the skill was loaded in .*$/m.exec(report)?.[0];

it.each([
  ['without a limit', {}],
  ['under a limit', { maxTotalTokens: 50_000_000 }],
])(
  '%s tells what attempts have cost that no step has counted, and counts it once when it is resumed',
  async (_, limits) => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    const usual = {
      gate: undefined,
      finalPasses: undefined,
      proposalsPerBatch: undefined,
      batchSize: 4,
      minibatchSize: 4,
    };
    const rows = Array.from({ length: 10 }, (_, index) => JSON.stringify({ id: `t${index}`, ...shopTask(index) }));
    const config = { ...usual, ...limits, evalTest: false };
    const files = { 'tasks.jsonl': rows.join('\n') };
    using undisturbed = agentProject({ baseURL: llm.url, config, files });
    expect((await undisturbed.run('train', '--quiet', '--workers', '1')).code).toBe(0);
    const whole = llm.usage().input + llm.usage().output;
    const wholeCalls = llm.calls();
    using project = agentProject({ baseURL: llm.url, config, files });
    const trained = project.run('train', '--quiet', '--workers', '1');
    await expect.poll(() => llm.calls(), { timeout: 60_000, interval: 20 }).toBeGreaterThan(wholeCalls + 4);
    llm.failWith(401);
    expect((await trained).code).toBe(4);
    const toldTokens = async () => JSON.parse((await project.run('show', 'runs/run', '--json')).out).verdict.tokens;
    const paidTokens = () => llm.usage().input + llm.usage().output - whole;
    expect(await toldTokens()).toBe(paidTokens());
    expect(readFileSync(join(project.path, 'runs/run/report.md'), 'utf8')).toContain('unfinished work');
    const before = paidTokens();
    llm.failWith(undefined);
    expect((await project.run('train', '--quiet', '--workers', '1')).code).toBe(0);
    expect(paidTokens()).toBeGreaterThan(before);
    expect(await toldTokens()).toBe(paidTokens());
    const loading = loadingOf((await project.run('show', 'runs/run')).out);
    expect(loading).toBeDefined();
    expect(loading).toBe(loadingOf((await undisturbed.run('show', 'runs/run')).out));
  },
);

it.each([
  ['calls', '--max-calls', 40, 'the next attempt may take up to 51'],
  ['dollars', '--max-cost-usd', 0.05, 'the next call may take up to $'],
  ['tokens', '--max-total-tokens', 20_000, 'the next call may take up to '],
])(
  'says what a limit of %s must be raised to, once, and that pays for the rest of the run',
  async (_, flag, limit, next) => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    using project = agentProject({ baseURL: llm.url });
    const train = (most: number) => project.run('train', '--ignore-estimate', flag, String(most));
    const { code, out, err } = await train(limit);
    expect([code, err]).toEqual([3, expect.stringContaining(`${flag} is reached: `)]);
    expect(err).toContain(next);
    const [, hint] = new RegExp(`hint: Raise ${flag} to ([\\d.]+) and run the same command again`).exec(err)!;
    expect(Number(hint)).toBeGreaterThan(limit);
    expect(out).toContain(`next:  npx skillopt train ${flag} ${hint}  resumes`);
    expect((await project.run('show', 'run')).out).toBe(out);
    const { code: ended, err: said } = await train(Number(hint));
    expect([ended, said]).toEqual([0, expect.stringContaining('  baseline  100.0 % on 1 validation task')]);
  },
);

it('speaks of one call as one', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  expect((await project.run('train', '--ignore-estimate', '--max-calls', '1')).err).toContain('0 of 1 call is spent');
});

it.each([
  ['without a limit', []],
  ['with a limit', ['--max-calls', '900', '--max-total-tokens', '90000000']],
])('tells of a run that was killed %s what was answered, and what may have been', async (_, limit) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, files });
  const { child, finished } = startClone(['train', '--quiet', '--workers', '1', ...limit], { cwd: project.path });
  await expect.poll(() => llm.calls(), { timeout: 60_000, interval: 20 }).toBeGreaterThan(4);
  child.kill('SIGKILL');
  await finished;
  const { calls, mayHaveBeen = { calls: 0 } } = JSON.parse(
    (await project.run('show', 'runs/run', '--json')).out,
  ).verdict;
  expect(calls).toBeGreaterThan(3); // of attempts that have not ended
  expect([calls, calls + 1]).toContain(llm.calls());
  expect(mayHaveBeen.calls).toBeLessThanOrEqual(1);
  expect(calls + mayHaveBeen.calls).toBeGreaterThanOrEqual(llm.calls());
  const told = mayHaveBeen.calls > 0 ? `${calls} calls answered, 1 more may have been` : `${calls} calls, `;
  for (const line of ['show runs/run', 'runs'])
    expect((await project.run(...line.split(' '))).out, line).toContain(told);
  const [row] = JSON.parse((await project.run('runs', '--json')).out).runs;
  expect([row.cost.calls, row.cost.mayHaveBeen?.calls ?? 0]).toEqual([calls, mayHaveBeen.calls]);
});
