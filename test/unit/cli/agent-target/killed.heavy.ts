import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { newMark, processesWith } from '../../workspaces/kinds.ts';
import { startClone } from '../clone-cli.ts';
import { agentProject, SKILL } from './agent-project.ts';

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
