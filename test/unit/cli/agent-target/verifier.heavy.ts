import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, shopTask, taskRows } from './agent-project.ts';

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
  expect([code, err]).toEqual([4, expect.stringMatching(/task t0, tried without an agent: no verdict: /)]);
  expect(err).toContain(words);
  expect(err).toContain(`(verifier: ${verify.command}; it printed`);
  expect(err).not.toContain('judge');
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

it.each([
  ['all', () => 'true', 'verifiers pass before any work is done: all that were tried (t0, t1, t2)'],
  ['one', (index: number) => (index === 1 ? 'true' : 'false'), 't1 passes before any work is done; is that right?'],
])('train names verifiers that pass before any work is done: %s', async (_, command, words) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const rows = taskRows((index) => ({ prompt: `Count the teapots ${index}.`, verify: command(index) }));
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': rows } });
  expect((await project.run('train')).err).toContain(words);
  expect((await project.run('train')).err).not.toContain(words); // a run that exists was begun with them
});

it('a verifier that needs the network is named by doctor and refused by train, before anything is paid for', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const said = 'curl: (6) Could not resolve host: astral.sh';
  const command = `echo "${said}" >&2; seq 2000; echo 0 > "$SKILLOPT_VERDICT_DIR/reward.txt"`;
  const rows = tasksWith({ command, verdict: 'reward' });
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': rows } });
  const words = `the verifier of task t0 needs the network, and it has none: ${said}`;
  const train = await project.run('train', '--quiet');
  expect([train.code, train.err, llm.calls()]).toEqual([4, expect.stringContaining(words), 0]);
  const doctor = await project.run('doctor');
  expect(doctor.out + doctor.err).toContain(words);
});

it('programs that crash are failed work, and a verifier that is broken costs no call twice', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const machine = join(project.path, 'machine');
  const command = `test -s teapots.txt || exit 1; test -e ${machine} || kill -SEGV $$`;
  project.write(
    'tasks.jsonl',
    taskRows((index) => ({ ...shopTask(index), verify: { command } })),
  );
  const failed = await project.run('train', '--quiet');
  expect([0, 1], failed.err).toContain(failed.code);
  const [{ id }] = JSON.parse(
    readFileSync(join(project.path, 'runs/run/baseline_selection_eval/results.json'), 'utf8'),
  );
  expect((await project.run('show', 'run', '--task', id)).out).toContain('the verifier gave no verdict on this work');

  writeFileSync(machine, 'works');
  project.configure({ name: 'clean', onVerifierCrash: 'stop' });
  const before = llm.calls();
  await project.run('train', '--quiet');
  const whole = llm.calls() - before;
  rmSync(machine);
  project.configure({ name: 'broken', onVerifierCrash: 'stop' });
  const stopped = await project.run('train', '--quiet');
  expect([stopped.code, stopped.err]).toEqual([4, expect.stringContaining('it was ended by SIGSEGV')]);
  const kept = join(project.path, 'runs/broken/cache/work');
  expect(readdirSync(kept)).not.toEqual([]);
  writeFileSync(machine, 'works');
  await project.run('train', '--quiet');
  expect([llm.calls() - before - whole, existsSync(kept)]).toEqual([whole, false]);
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
