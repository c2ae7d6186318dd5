import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createProject } from './project.ts';

/** The packed command as a process: what else it does is in `cli.heavy.ts`. */
it('init writes a project that trains offline, and show tells about it', async () => {
  await using project = await createProject();
  expect(await project.run(['init'])).toMatchObject({ code: 0 });
  expect((await readdir(project.directory)).sort()).toEqual([
    '.gitignore',
    'SKILL.md',
    'skillopt.config.yaml',
    'tasks.jsonl',
  ]);
  const trained = await project.run(['train', '--quiet', '--num-epochs', '1', '--final-passes', '0']);
  expect(trained.code, trained.stderr).toBe(0);
  expect(trained.stdout).toContain('what changed');
  const shown = await project.run(['show', 'starter', '--json']);
  const summary = JSON.parse(shown.stdout);
  expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);
});
