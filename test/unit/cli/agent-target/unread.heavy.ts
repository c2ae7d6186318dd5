import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it('says in how many attempts the skill was never loaded, in eval and after training', async () => {
  await using llm = await startFakeAgentLLM({ script: [] }); // an agent that says it is done
  using project = agentProject({ baseURL: llm.url });
  const told = (count: RegExp) =>
    new RegExp(`The skill was not loaded in ${count.source}: (?:they say|it says) nothing of its body\\.`);
  const text = await project.run('eval', '--skill', 'teapots');
  expect(text.out.replaceAll('\n', ' ')).toMatch(told(/1 of 1 attempts?/));
  expect(text.out.replaceAll('\n', ' ')).toContain('parts: [description]');
  const { out } = await project.run('eval', '--skill', 'teapots', '--json');
  expect(JSON.parse(out)).toMatchObject({ n: 1, skillUnread: 1 });
  const trained = await project.run('train', '--quiet');
  expect([trained.code, trained.err]).toEqual([1, expect.stringMatching(told(/(\d+) of \1 attempts?/))]);
  const [, warned] = told(/(\d+) of \d+ attempts?/).exec(trained.err) ?? [];
  const shown = await project.run('show', 'run');
  expect(shown.out).toMatch(new RegExp(`^the skill was loaded in 0 of ${warned} attempts?$`, 'm'));
});

it('does not blame the description for attempts that a limit ended before they could load it', async () => {
  await using llm = await startFakeAgentLLM({ script: [{ shell: 'true' }, { shell: 'true' }] });
  using project = agentProject({ baseURL: llm.url, target: { limits: { maxTurns: 1 } } });
  const tasks = readFileSync(join(project.path, 'tasks.jsonl'), 'utf8');
  const text = await project.run('eval', '--skill', 'teapots');
  expect(text.out).not.toMatch(/not loaded|description/);
  const trained = await project.run('train', '--quiet');
  expect([trained.code, trained.err]).toEqual([1, expect.not.stringMatching(/not loaded|description/)]);
  const { out } = await project.run('show', 'run');
  const [, ended] = /^not counted for loading the skill: (\d+) attempts were ended before they had loaded it$/m.exec(
    out,
  )!;
  const { loading } = JSON.parse((await project.run('show', 'run', '--json')).out);
  expect(loading).toEqual({ attempts: 0, loaded: 0, cutShort: Number(ended) });
  // The first task may take as many turns as it needs.
  project.write('tasks.jsonl', tasks.replace('"prompt"', '"limits":{"maxTurns":9},"prompt"'));
  const both = await project.run('eval', '--skill', 'teapots', '--split', 'all');
  expect(both.out.replaceAll('\n', ' ')).toContain(
    'was not loaded in 1 of 1 attempt: it says nothing of its body. Not counted: 2 attempts were ended before',
  );
});

it('says in show in how many it was loaded, each attempt that was made once', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  // One of the tasks has no word of the description.
  const promptOf = (index: number) => (index === 1 ? 'Say hi.' : `Count teapots ${index}.`);
  project.write(
    'tasks.jsonl',
    taskRows((index) => ({ prompt: promptOf(index), verify: 'true' })),
  );
  expect(await project.run('train', '--quiet')).toMatchObject({ code: 0 });
  const made = llm.requests.map(({ text }) => JSON.parse(text)).filter(({ messages }) => messages.length === 1);
  const unread = made.filter(({ messages }) => messages[0].content === 'Say hi.').length;
  const [attempts, loaded] = [made.length, made.length - unread];
  expect(unread).toBeGreaterThan(0);
  expect(JSON.parse((await project.run('show', 'run', '--json')).out).loading).toEqual({ attempts, loaded });
  const { out } = await project.run('show', 'run');
  expect(out).toContain(`the skill was loaded in ${loaded} of ${attempts} attempts\n`);
});

it('says nothing where each attempt loaded it', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const { out } = await project.run('eval', '--skill', 'teapots');
  expect(out).not.toContain('not loaded');
});
