import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** 40 test tasks, 12 for validation. A skill says itself how many of the first fail, and how many get no score. */
const ENV = `
const tasks = (split, n) => Array.from({ length: n }, (_, k) => ({ id: split + '-' + k, k }));
const figure = (skill, name) => Number(new RegExp(name + ': (\\\\d+)').exec(skill)?.[1] ?? 0);
export default ({ defineEnv, z }) => defineEnv({
  name: 'marks', schema: z.object({ id: z.string(), k: z.number() }),
  items: { train: tasks('train', 2), val: tasks('val', 12), test: tasks('test', 40) },
  initialSkill: '# Skill',
  async rolloutOne({ item: { k }, skill }) {
    const taskType = k % 2 === 0 ? 'even' : 'odd';
    if (k < figure(skill, 'missing')) return { hard: 0, soft: 0, unjudged: true, taskType };
    const hard = k < figure(skill, 'fails') ? 0 : 1;
    return { hard, soft: hard, taskType, question: 'Which?', referenceText: 'right', predictedAnswer: hard ? 'right' : 'a ]]> b & <c>' };
  },
});`;

export const MARKS_FILES: Readonly<Record<string, string>> = {
  'skillopt.config.yaml': 'env: ./env.mjs\ntarget: simulated\noptimizer: simulated\n',
  'env.mjs': ENV,
};

/** The skill whose first `fails` tasks fail. */
export const skillThat = (fails: number, missing = 0) => `# Skill\n\n- fails: ${fails}\n- missing: ${missing}\n`;

/** A project in which every score is known before. `using` removes it. */
export function marksProject(files: Readonly<Record<string, string>> = {}, settings = '') {
  const folder = tempFolder({ ...MARKS_FILES, 'OLD.md': skillThat(4), ...files });
  const at = (name: string) => join(folder.path, name);
  if (settings !== '') writeFileSync(at('skillopt.config.yaml'), MARKS_FILES['skillopt.config.yaml'] + settings);
  return {
    ...folder,
    at,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    write: (name: string, text: string) => writeFileSync(at(name), text),
    async cli(line: string, env: Readonly<Record<string, string>> = {}) {
      const io = captureIo({ cwd: folder.path, columns: 200, env: { HOME: folder.path, ...env } });
      const code = await runCli(line.split(' '), io);
      return { code, out: io.out(), err: io.err(), json: () => JSON.parse(io.out()) };
    },
  };
}
