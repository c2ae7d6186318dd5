import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { newMark, processesWith } from '../../workspaces/kinds.ts';
import { startClone } from '../clone-cli.ts';
import { agentProject, SKILL } from './agent-project.ts';

vi.setConfig({ testTimeout: 400_000 }); // each starts several processes, which a busy machine does slowly

it.each([['train'], ['eval', '--skill', 'teapots']])('%s removes what a killed run left behind', async (...argv) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { sandbox: 'none' } });
  const mark = newMark();
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
  child.kill('SIGKILL');
  await finished;
  expect(foldersLeft()).not.toEqual([]);
  project.write('teapots/SKILL.md', SKILL);
  const { code, stderr } = await start([...argv, '--quiet', '--set', 'outRoot=runs/other']).finished;
  expect(code, stderr).toBe(0);
  expect([processesWith(mark), foldersLeft()]).toEqual([[], []]);
});
