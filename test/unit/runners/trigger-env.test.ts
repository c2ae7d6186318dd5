import { setTimeout } from 'node:timers/promises';
import { createStageDeps, ModelCallError, runRollout } from 'skillopt';
import { scripted } from 'skillopt/models';
import { type TriggerQuery, triggerEnv } from 'skillopt/runners';
import { describe, expect, it } from 'vitest';
import { sandbox, shellAgent, skillThatDoes } from './shell-agent.ts';

const queries: TriggerQuery[] = [
  { id: 'yes', query: 'Please count what is in the shop.', shouldTrigger: true },
  { id: 'no', query: 'What is the capital of France?', shouldTrigger: false },
];

/** Loads a skill whose description shares a long word with what is asked. */
const byWords = (prompt: string, description: string) =>
  description
    .toLowerCase()
    .split(/\W+/)
    .some((word) => word.length >= 4 && prompt.toLowerCase().includes(word));

async function measure(agentOptions: Parameters<typeof shellAgent>[0], change = {}) {
  const env = triggerEnv({ items: { val: queries }, sandbox });
  const { agent, calls } = shellAgent(agentOptions);
  const none = scripted('none', () => ({ text: '' }));
  const deps = createStageDeps({ target: none, optimizer: none, agent: { ...agent, ...change } });
  const results = await runRollout({ env, skill: skillThatDoes('echo > made.txt'), items: queries }, deps);
  return { results, calls };
}

describe('whether a skill triggers', () => {
  it('is measured by what is loaded, both ways, after a canary', async () => {
    const { results, calls } = await measure({ loads: byWords });
    expect(results).toMatchObject([
      { id: 'yes', hard: 1, soft: 1, taskType: 'should load it' },
      { id: 'no', hard: 1, soft: 1, taskType: 'should not load it' },
    ]);
    expect(calls).toHaveLength(4);
  });

  it.each([
    ['row 11: nothing is ever seen to load', () => false, 'was not seen to load'],
    ['everything is seen to load', () => true, 'that nobody asked for'],
  ])('is refused before anything else is paid for where %s', async (_, loads, words) => {
    await expect(measure({ loads })).rejects.toThrow(words);
  });

  it('gives the agent a workspace that is there while it works', async () => {
    const { agent } = shellAgent({ loads: byWords });
    const slow: typeof agent.run = async (request) => {
      await setTimeout(50);
      const { exitCode } = await sandbox.run({ command: ['pwd'], workspace: request.workspace, timeoutMs: 30_000 });
      expect(exitCode).toBe(0);
      return agent.run(request);
    };
    const { results } = await measure({}, { run: slow });
    expect(results).toMatchObject([{ hard: 1 }, { hard: 1 }]);
  });

  it('row 10: an outage passes no query, also none that should not trigger', async () => {
    const outage = new ModelCallError('down', { isRetryable: false, isFatal: true });
    await expect(measure({}, { run: () => Promise.reject(outage) })).rejects.toThrow('down');
  });
});
