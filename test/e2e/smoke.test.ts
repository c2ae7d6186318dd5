import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createProject } from './project.ts';

/** The packed command as a process: what else it does is in `cli.heavy.ts`. */
it('init writes a project that trains offline, and the other commands tell about it', async () => {
  await using project = await createProject();
  expect(await project.run(['init'])).toMatchObject({ code: 0 });
  expect((await readdir(project.directory)).sort()).toEqual(['SKILL.md', 'skillopt.config.yaml', 'tasks.jsonl']);
  const trained = await project.run(['train', '--json', '--num-epochs', '1']);
  expect(trained.code, trained.stderr).toBe(0);
  const summary = JSON.parse(trained.stdout);
  expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);
  expect((await project.run(['show', 'starter'])).stdout).toContain('what changed');
  const unknown = await project.run(['show', 'nothing', '--json']);
  expect(unknown.code).toBe(2);
  expect(JSON.parse(unknown.stdout).error).toMatchObject({ code: 'RUN_NOT_FOUND' });
});
