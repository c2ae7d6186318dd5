import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

const tasksWith = (verify: object) =>
  Array.from({ length: 10 }, (_, at) => JSON.stringify({ id: `t${at}`, prompt: `Count the teapots ${at}.`, verify }));

it.each([
  ['exit-code', { command: 'no-such-program' }, 'must end by itself: with exit code 0'],
  ['reward', { command: 'true', verdict: 'reward' }, 'must write a number from 0 to 1 into reward.txt'],
  ['junit', { command: 'true', verdict: 'junit' }, 'must write a JUnit report: junit.xml'],
  ['json', { command: 'echo ok', verdict: 'json' }, 'the last line that the verifier prints must be {"hard": 1'],
])('a verifier without a verdict by %s stops the run, which says what it must leave', async (_kind, verify, words) => {
  await using llm = await startFakeAgentLLM({ script: [] });
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': tasksWith(verify).join('\n') } });
  const { code, err } = await project.run('train', '--quiet');
  expect([code, err]).toEqual([4, expect.stringMatching(/3 of 3 tasks got no score, the first because: no verdict: /)]);
  expect(err).toContain(words);
  expect(err).not.toContain('judge');
});
