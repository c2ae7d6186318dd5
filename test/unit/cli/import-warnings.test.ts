import { expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const test = (value: string, at: number) => ({ vars: { question: `q${at}` }, assert: [{ type: 'contains', value }] });

it.each(['doctor', 'estimate', 'calibrate'])('%s says what an import leaves out', async (command) => {
  const tests = ['file://gone.txt', ...Array.from({ length: 12 }, () => 'x')].map(test);
  using folder = tempFolder({
    'p.json': JSON.stringify({ prompts: ['{{question}}'], tests }),
    'SKILL.md': '# Skill\n',
    'skillopt.config.yaml':
      'tasks: p.json\nskill: SKILL.md\nsplitRatio: 1:1:1\ntarget: simulated\noptimizer: simulated\n',
  });
  const io = captureIo({ cwd: folder.path, env: { HOME: folder.path } });
  await runCli([command], io);
  expect(io.out() + io.err()).toMatch(
    /2 left out of the file, and 12 tasks left: tests\[0\]: contains \(gone\.txt does not exist\)/,
  );
});
