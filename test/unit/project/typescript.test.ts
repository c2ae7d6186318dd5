import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { startClone } from '../cli/clone-cli.ts';

const CONFIG = `import { defineConfig, type ProjectConfig } from 'skillopt';
import { TASKS } from './tasks.ts';
const settings: ProjectConfig = { name: \`of-\${TASKS.length}\`, numEpochs: 1 };
export default defineConfig({ ...settings, env: './env.ts', target: 'none', optimizer: 'simulated', skill: 'SKILL.md' });
`;
const TASKS = `export type Task = { id: string; goal: number };
export const TASKS: Task[] = Array.from({ length: 12 }, (_, k) => ({ id: \`t\${k}\`, goal: k }));
`;
const ENV = `import { defineEnv, SkillError } from 'skillopt';
import { extractAnswer } from 'skillopt/envs';
import { z } from 'zod';
import { TASKS, type Task } from './tasks';

enum Score { Wrong = 0, Right = 1 }

export default defineEnv({
  name: 'goals',
  schema: z.object({ id: z.string(), goal: z.number() }),
  items: { train: TASKS.slice(0, 4), val: TASKS.slice(4, 8), test: TASKS.slice(8) } satisfies Record<string, Task[]>,
  async rolloutOne({ item, skill, target, extras }) {
    if (extras.ask) await target.complete({ messages: [] });
    if (extras.refuse) throw new SkillError('ENV_INVALID', 'refused');
    const hard = extractAnswer(\`<answer>\${skill.length + item.goal}</answer>\`) === '17' ? Score.Right : Score.Wrong;
    return { hard, soft: hard };
  },
});
`;
const FILES = { 'skillopt.config.ts': CONFIG, 'tasks.ts': TASKS, 'env.ts': ENV, 'SKILL.md': '# Skill\n' };

/** As a process of its own: the loader of the tests knows TypeScript already. */
function openProject(files: Readonly<Record<string, string>> = FILES) {
  const folder = tempFolder(files);
  return { ...folder, run: (...args: string[]) => startClone(args, { cwd: folder.path }).finished };
}

describe('a project in TypeScript', () => {
  it('loads its config and its environment, which import skillopt, zod and each other', async () => {
    using project = openProject();
    const { code, stdout, stderr } = await project.run('eval', '--skill', 'SKILL.md', '--json');
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout)).toMatchObject({ n: 4, hard: 0.25 });
  });

  it('with target: none asks for no target, in estimate and doctor too', async () => {
    using project = openProject();
    const estimate = await project.run('estimate', '--json');
    const { stages, totalUsd } = JSON.parse(estimate.stdout);
    expect(stages.map(({ stage }: { stage: string }) => stage)).not.toContain('rollout');
    expect(totalUsd).toEqual({ low: 0, high: 0 });
    const doctor = await project.run('doctor');
    expect([doctor.code, doctor.stdout]).toEqual([
      0,
      expect.stringContaining('target     none: the environment asks no model'),
    ]);
  });

  it('that asks the target after all is stopped, and says why', async () => {
    const asking = CONFIG.replace('numEpochs: 1', 'numEpochs: 1, extras: { ask: true }');
    using project = openProject({ ...FILES, 'skillopt.config.ts': asking });
    const { code, stderr } = await project.run('train', '--quiet');
    expect(stderr).toContain('the environment asked the target, and there is none');
    expect(code).toBe(4);
  });

  it('names the file and the reason when it cannot be read', async () => {
    using project = openProject({ ...FILES, 'env.ts': 'const = 3;' });
    const { code, stderr } = await project.run('eval', '--skill', 'SKILL.md');
    expect([code, stderr]).toEqual([2, expect.stringContaining('env.ts cannot be loaded: ')]);
    writeFileSync(join(project.path, 'env.ts'), `import 'nowhere';`);
    expect((await project.run('eval', '--skill', 'SKILL.md')).stderr).toMatch(/env\.ts cannot be loaded: .*nowhere/);
    writeFileSync(join(project.path, 'skillopt.config.ts'), 'export const nothing: number = 1;');
    const unread = await project.run('eval', '--skill', 'SKILL.md');
    expect(unread.stderr).toContain('skillopt.config.ts cannot be read: it has no default export');
  });

  it('uses the zod that the project has installed', async () => {
    using project = openProject({
      ...FILES,
      'env.ts': `import { z } from 'zod';\nexport default { name: z.mine, getItems: (split: string) => [{ id: split }], rolloutOne: async () => ({ hard: 1, soft: 1 }) };`,
    });
    mkdirSync(join(project.path, 'node_modules/zod'), { recursive: true });
    writeFileSync(join(project.path, 'node_modules/zod/package.json'), '{"name":"zod","main":"i.cjs"}');
    writeFileSync(join(project.path, 'node_modules/zod/i.cjs'), 'exports.z = { mine: "theirs" };');
    expect((await project.run('doctor')).stdout).toContain('(theirs)');
  });

  it('env: qa has no use for target: none', async () => {
    using project = openProject({ 'skillopt.config.yaml': 'tasks: t.jsonl\ntarget: none\noptimizer: simulated\n' });
    const { code, stderr } = await project.run('estimate');
    expect([code, stderr]).toEqual([2, expect.stringContaining('skillopt.config.yaml:2: env: qa puts its questions')]);
  });
});

it('an environment in JavaScript may import zod without installing it', async () => {
  using project = openProject({
    'skillopt.config.yaml': 'env: ./env.mjs\ntarget: none\noptimizer: simulated\n',
    'env.mjs': `import { defineEnv } from 'skillopt';\nimport { z } from 'zod';
export default defineEnv({ name: 'js', schema: z.object({ id: z.string() }), items: { train: [{ id: 'a' }], val: [{ id: 'b' }], test: [{ id: 'c' }] },
  rolloutOne: async () => ({ hard: 1, soft: 1 }) });`,
  });
  expect((await project.run('estimate')).code).toBe(0);
});
