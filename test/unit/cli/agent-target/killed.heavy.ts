import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { newMark, processesWith } from '../../workspaces/kinds.ts';
import { startClone } from '../clone-cli.ts';
import { agentProject, SKILL, shopTask, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 400_000 }); // each starts several processes, which a busy machine does slowly

type Project = ReturnType<typeof agentProject>;

/** Training whose agent is in the midst of a long command. */
async function startWorking(project: Project, mark: string) {
  project.write('teapots/SKILL.md', `${SKILL}DO: setsid sleep ${mark} & sleep ${mark}\n`);
  const temporary = join(project.path, 'tmp');
  mkdirSync(temporary);
  const start = (args: readonly string[]) => startClone(args, { cwd: project.path, env: { TMPDIR: temporary } });
  const foldersLeft = () =>
    readdirSync(temporary)
      .filter((name) => name.startsWith('skillopt-rollouts'))
      .flatMap((name) => readdirSync(join(temporary, name)))
      .filter((name) => name !== 'templates');
  const { child, finished } = start(['train', '--quiet', '--workers', '1']);
  await expect.poll(() => processesWith(mark).length, { timeout: 60_000 }).toBe(2);
  return { child, finished, start, foldersLeft };
}

it.each([
  ['once', 1],
  ['twice', 2],
])('Ctrl-C %s ends the attempts of the agent, says so, and leaves nothing behind', async (_, times) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { sandbox: 'none' } });
  const mark = newMark();
  const { child, finished, foldersLeft } = await startWorking(project, mark);
  let said = '';
  child.stderr.on('data', (text: string) => {
    said += text;
    if (times === 2 && said.includes('press Ctrl-C again')) child.kill('SIGINT');
  });
  child.kill('SIGINT');
  const { code, stderr } = await finished;
  expect([code, stderr]).toEqual([130, expect.stringContaining('stopping: attempts of the agent are ended now, ')]);
  if (times === 1) expect(stderr).toContain('only the attempts of the agent that were ended begin again');
  await expect.poll(() => [processesWith(mark), foldersLeft()], { timeout: 30_000 }).toEqual([[], []]);
});

it.each([['train'], ['eval', '--skill', 'teapots']])('%s removes what a killed run left behind', async (...argv) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { sandbox: 'none' } });
  const mark = newMark();
  const { child, finished, start, foldersLeft } = await startWorking(project, mark);
  child.kill('SIGKILL');
  await finished;
  expect(foldersLeft()).not.toEqual([]);
  project.write('teapots/SKILL.md', SKILL);
  const { code, stderr } = await start([...argv, '--quiet', '--set', 'outRoot=runs/other']).finished;
  expect(code, stderr).toBe(0);
  expect([processesWith(mark), foldersLeft()]).toEqual([[], []]);
});

it('kill -9 during a verification loses no finished work: the run is resumed without asking for it again', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { sandbox: 'none' } });
  const [mark, slow] = [newMark(), join(project.path, 'slow')];
  const command = `test -s teapots.txt || exit 1; test ! -e ${slow} || sleep ${mark}`;
  project.write(
    'tasks.jsonl',
    taskRows((index) => ({ ...shopTask(index), verify: { command } })),
  );
  const train = (name: string) =>
    startClone(['train', '--quiet', '--workers', '1', '--set', `outRoot=runs/${name}`], { cwd: project.path });
  const clean = await train('clean').finished;
  expect([0, 1], clean.stderr).toContain(clean.code);
  const whole = llm.calls();
  for (const kill of [1, 2]) {
    project.write('slow', '');
    const { child, finished } = train('killed');
    await expect.poll(() => processesWith(mark).length, { timeout: 60_000 }).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await finished;
    for (const pid of processesWith(mark)) process.kill(pid, 'SIGKILL');
    expect(llm.calls() - whole, `after kill ${kill}`).toBeGreaterThan(0);
  }
  rmSync(slow);
  const resumed = await train('killed').finished;
  expect([resumed.code, llm.calls() - whole]).toEqual([clean.code, whole]);
});
