import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { programArgs } from '../../support/compiled.ts';
import { tempFolder } from '../../support/temp-folder.ts';

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
const ASKING = CONFIG.replace('numEpochs: 1', 'numEpochs: 1, extras: { ask: true }');
const ZOD_ENV = `import { z } from 'zod';
export default { name: z.mine, getItems: (split: string) => [{ id: split }], rolloutOne: async () => ({ hard: 1, soft: 1 }) };`;
const ZOD_FILES = {
  'node_modules/zod/package.json': '{"name":"zod","main":"i.cjs"}',
  'node_modules/zod/i.cjs': 'exports.z = { mine: "theirs" };',
};
const JS_ENV = `import { defineEnv } from 'skillopt';
import { z } from 'zod';
export default defineEnv({ name: 'js', schema: z.object({ id: z.string() }),
  items: { train: [{ id: 'a' }], val: [{ id: 'b' }], test: [{ id: 'c' }] },
  rolloutOne: async () => ({ hard: 1, soft: 1 }) });`;

const EVAL = ['eval', '--skill', 'SKILL.md'];
const yaml = (env: string) => `name: x\ntarget: none\noptimizer: simulated\nenv: ./${env}\n`;

type OwnProject = readonly [files: Readonly<Record<string, string>>, args: readonly string[]];
const projects: Readonly<Record<string, OwnProject>> = {
  eval: [FILES, [...EVAL, '--json']],
  estimate: [FILES, ['estimate', '--json']],
  doctor: [FILES, ['doctor']],
  asking: [{ ...FILES, 'skillopt.config.ts': ASKING }, ['train', '--quiet']],
  'bad syntax': [{ ...FILES, 'env.ts': 'const = 3;' }, EVAL],
  'no package': [{ ...FILES, 'env.ts': `import 'nowhere';` }, EVAL],
  'no default': [{ ...FILES, 'skillopt.config.ts': 'export const nothing: number = 1;' }, EVAL],
  'own zod': [{ ...FILES, 'env.ts': ZOD_ENV, ...ZOD_FILES }, ['doctor']],
  'qa without target': [
    { 'skillopt.config.yaml': 'tasks: t.jsonl\ntarget: none\noptimizer: simulated\n' },
    ['estimate'],
  ],
  javascript: [{ 'skillopt.config.yaml': yaml('env.mjs'), 'env.mjs': JS_ENV }, ['estimate']],
};

const ENTRIES = 'What can be imported: skillopt, skillopt/agents, skillopt/app, skillopt/envs, ';
const failing = [
  ['env.mjs', "import { x } from 'skillopt/xyz'; export default { x };", `hint: ${ENTRIES}`],
  ['env.ts', "import { x } from 'skillopt/xyz'; export default { x };", `hint: ${ENTRIES}`],
  ['env.mjs', "import { nope } from 'skillopt'; export default { nope };", `hint: Check that name. ${ENTRIES}`],
  [
    'env.cjs',
    "module.exports = require('skillopt');",
    `required: write import, in an ES module (.mjs, .ts). ${ENTRIES}`,
  ],
  ['env.mjs', "import x from '@own/pad/inner.js'; export default { x };", 'npm install @own/pad. '],
  [
    'env.cjs',
    "module.exports = require('zod');",
    'npm install zod. An ES module needs no install of skillopt and zod.',
  ],
  ['env.mjs', "const fs = require('node:fs'); export default { fs };", "write import { readFileSync } from 'node:fs'"],
  ['env.mjs', "import x from './gone.mjs'; export default { x };", 'Check the path of that import'],
] as const;

type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };
const results = new Map<string, Result>();
const resultOf = (name: string) => results.get(name)!;

/** One process for all: it takes seconds to load the command. The loader of the tests would hide ours. */
beforeAll(async () => {
  const imports = failing.map(([name, text]): [string, OwnProject] => [
    text + name,
    [{ 'skillopt.config.yaml': yaml(name), [name]: text }, ['estimate']],
  ]);
  const all = [...Object.entries(projects), ...imports];
  const files = all.flatMap(([, [own]], index) =>
    Object.entries(own).map(([name, text]) => [`${index}/${name}`, text] as const),
  );
  using folder = tempFolder({ ...Object.fromEntries(files), 'tsconfig.json': '{}' });
  const commands = all.map(([, [, args]], index) => ({ cwd: join(folder.path, String(index)), args }));
  const child = programArgs(new URL('./commands.child.ts', import.meta.url));
  const TSX_TSCONFIG_PATH = join(folder.path, 'tsconfig.json'); // the paths of ours name skillopt
  const options = { env: { PATH: process.env.PATH, HOME: folder.path, TSX_TSCONFIG_PATH }, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)(process.execPath, [...child, JSON.stringify(commands)], options);
  const printed = JSON.parse(stdout) as Result[];
  for (const [index, [name]] of all.entries()) results.set(name, printed[index]!);
});

describe('a project in TypeScript', () => {
  it('loads its config and its environment, which import skillopt, zod and each other', () => {
    const { code, stdout } = resultOf('eval');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ n: 4, hard: 0.25 });
  });

  it('with target: none asks for no target, in estimate and doctor too', () => {
    const { stages, totalUsd } = JSON.parse(resultOf('estimate').stdout);
    expect(stages.map(({ stage }: { stage: string }) => stage)).not.toContain('rollout');
    expect(totalUsd).toEqual({ low: 0, high: 0 });
    const { code, stdout } = resultOf('doctor');
    expect([code, stdout]).toEqual([0, expect.stringContaining('target     none: the environment asks no model')]);
  });

  it('stops with the reason if its environment asks the target after all', () => {
    const { code, stderr } = resultOf('asking');
    expect([code, stderr]).toEqual([4, expect.stringContaining('the environment asked the target, and there is none')]);
  });

  it.each([
    ['bad syntax', /env\.ts cannot be loaded: /],
    ['no package', /env\.ts cannot be loaded: .*nowhere/],
    ['no default', /skillopt\.config\.ts cannot be read: it has no default export/],
  ])('names the file and the reason if it cannot be read: %s', (name, message) => {
    const { code, stderr } = resultOf(name);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('uses the zod that the project has installed', () => {
    expect(resultOf('own zod').stdout).toContain('(theirs)');
  });

  it('cannot use target: none with env: qa', () => {
    const { code, stderr } = resultOf('qa without target');
    expect([code, stderr]).toEqual([2, expect.stringContaining('skillopt.config.yaml:2: env: qa puts its questions')]);
  });
});

it('an environment in JavaScript may import zod without installing it', () => {
  expect(resultOf('javascript').code).toBe(0);
});

describe('an environment with a wrong import gets a hint', () => {
  it.each(failing)('%s: %s', (name, text, hint) => {
    const { code, stderr } = resultOf(text + name);
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(stderr).toContain(`error: ${name} cannot be loaded: `);
  });
});
