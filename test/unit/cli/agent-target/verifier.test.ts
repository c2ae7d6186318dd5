import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

const tasksWith = (verify: object) => taskRows((index) => ({ prompt: `Count the teapots ${index}.`, verify }));

/** More than doctor tries. */
const tenWith = (verify: object) =>
  Array.from({ length: 10 }, (_, at) =>
    JSON.stringify({ id: `t${at}`, prompt: `Count the teapots of shop ${at}.`, verify }),
  ).join('\n');

it.each([
  ['exit-code', { command: 'no-such-program' }, 'exit code 127: a command was not found in the sandbox'],
  ['exit-code', { command: 'exit 126' }, 'must end by itself: with exit code 0'],
  ['reward', { command: 'true', verdict: 'reward' }, 'must write a number from 0 to 1 into reward.txt'],
  ['junit', { command: 'true', verdict: 'junit' }, 'must write a JUnit report: junit.xml'],
  ['json', { command: 'echo ok', verdict: 'json' }, 'the last line that the verifier prints must be {"hard": 1'],
])('a verifier without a verdict by %s stops the run, which says what it must leave', async (_kind, verify, words) => {
  await using llm = await startFakeAgentLLM({ script: [] });
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': tasksWith(verify) } });
  const { code, err } = await project.run('train', '--quiet');
  expect([code, err]).toEqual([
    4,
    expect.stringMatching(/1 of 1 tasks? got no score, the first, t1, because: no verdict: /),
  ]);
  expect(err).toContain(words);
  expect(err).toContain(`(verifier: ${verify.command}; it printed`);
  expect(err).not.toContain('judge');
  expect(err).toContain('no agent had worked there yet');
  expect(llm.calls()).toBe(0);
});

it.each([
  [
    { command: 'test -f done.txt' },
    '✓',
    /scoring +8 of 10 verifiers tried without an agent: the work is not done, as it should be/,
  ],
  [{ command: 'true' }, '✗', /scoring +verifiers pass before any work is done: all that were tried/],
  [{ command: 'no-such-program' }, '✗', /scoring +task t\d, tried without an agent: no verdict: /],
])('doctor tries verifiers where nobody has worked: %j', async (verify, mark, words) => {
  await using llm = await startFakeAgentLLM({ script: [] });
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': tenWith(verify) } });
  const { out, err } = await project.run('doctor');
  expect(out + err).toMatch(words);
  expect(out + err).toMatch(new RegExp(`${mark} scoring|scoring +${mark}`));
});

it('shows what the verifier of a failed attempt printed, also where its verdict is another', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const command = 'echo 6 teapots are missing >&2; echo \'{"hard": 0, "reason": "no"}\'';
  using project = agentProject({ baseURL: llm.url });
  project.write('tasks.jsonl', tasksWith({ command, verdict: 'json' }));
  const { code, err } = await project.run('train', '--quiet');
  expect([0, 1], err).toContain(code);
  const id = JSON.parse(readFileSync(join(project.path, 'runs/run/baseline_selection_eval/results.json'), 'utf8'))[0]
    .id;
  const { out } = await project.run('show', 'run', '--task', id);
  expect(out).toMatch(/the verdict\n(.*\n)+ {2}the verifier printed:\n(.*\n)* {4}6 teapots are missing\n/);
});
