import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { startClone } from '../cli/clone-cli.ts';

const CONFIG = 'name: x\ntarget: none\noptimizer: simulated\n';
const DOORS = 'What can be imported: skillopt, skillopt/agents, skillopt/app, skillopt/envs, ';

describe('an environment that imports what is not there is told what there is', () => {
  it.each([
    ['env.mjs', "import { x } from 'skillopt/xyz'; export default { x };", `hint: ${DOORS}`],
    ['env.ts', "import { x } from 'skillopt/xyz'; export default { x };", `hint: ${DOORS}`],
    ['env.mjs', "import { nope } from 'skillopt'; export default { nope };", `hint: Check that name. ${DOORS}`],
    [
      'env.cjs',
      "module.exports = require('skillopt');",
      `cannot be required: write import, in an ES module (.mjs, .ts). ${DOORS}`,
    ],
    ['env.mjs', "import x from '@own/pad/inner.js'; export default { x };", 'npm install @own/pad. '],
    [
      'env.cjs',
      "module.exports = require('zod');",
      'npm install zod. An ES module needs no install of skillopt and zod.',
    ],
    [
      'env.mjs',
      "const fs = require('node:fs'); export default { fs };",
      "write import { readFileSync } from 'node:fs'",
    ],
    ['env.mjs', "import x from './gone.mjs'; export default { x };", 'Check the path of that import'],
  ])('%s: %s', async (name, text, hint) => {
    using folder = tempFolder({ 'skillopt.config.yaml': `${CONFIG}env: ./${name}\n`, [name]: text });
    const { code, stderr } = await startClone(['estimate'], { cwd: folder.path }).finished;
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(stderr).toContain(`error: ${name} cannot be loaded: `);
  });
});
