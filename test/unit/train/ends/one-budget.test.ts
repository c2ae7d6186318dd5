import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** Eight validation and eight test tasks that a judge scores. */
const ENV = `
export default ({ defineEnv, z, judgeAnswer, judgedOutput }) => {
  const items = (split) => Array.from({ length: 8 }, (_, k) => ({ id: split + k }));
  return defineEnv({
    name: 'judged', schema: z.object({ id: z.string() }), judgeCalls: 1, initialSkill: '# Skill',
    items: { train: items('t'), val: items('v'), test: items('e') },
    async rolloutOne({ item, skill, target, judge, signal }) {
      const messages = [{ role: 'system', content: skill }, { role: 'user', content: item.id }];
      const { text } = await target.complete({ messages, signal });
      return judgedOutput(await judgeAnswer({ judge, question: item.id, answer: text, rubric: 'Any.', signal }));
    },
  });
};`;

async function skillopt(argv: string, config: object = {}) {
  await using target = await startFakeLLM(() => 'an answer');
  await using judge = await startFakeLLM(() => JSON.stringify({ score: 0.5 }));
  const at = (model: string, { baseURL }: { baseURL: string }) => ({ provider: 'compatible', model, baseURL });
  const models = { target: at('target', target), optimizer: at('optimizer', target), judge: at('judge', judge) };
  const project = JSON.stringify({ env: './env.mjs', ...models, maxRetries: 0, ...config });
  using folder = tempFolder({ 'skillopt.config.json': project, 'env.mjs': ENV, 'SKILL.md': '# Skill' });
  const io = captureIo({ cwd: folder.path });
  const code = await runCli(argv.split(' '), io);
  const calls = target.requests.length + judge.requests.length;
  return { code, calls, judged: judge.requests.length, out: io.out(), err: io.err() };
}

describe('one limit of calls holds for a whole command, the judge included', () => {
  it.each([
    ['calibrate --passes 4', 20],
    ['eval --skill SKILL.md', 12],
    ['train --ignore-estimate', 12],
  ])('%s, from the project file', async (argv, maxCalls) => {
    const { code, calls, judged } = await skillopt(argv, { maxCalls });
    expect([code, calls]).toEqual([3, maxCalls]);
    expect(judged).toBeGreaterThan(0);
  });

  it.each(['calibrate --passes 4 --max-calls 20', 'eval --skill SKILL.md --max-calls 5'])('%s', async (argv) => {
    const { code, calls, err } = await skillopt(argv);
    expect([code, calls]).toEqual([3, Number(argv.split(' ').at(-1))]);
    expect(err).toContain('Raise --max-calls');
  });

  it('doctor', async () => {
    const { code, calls, out, err } = await skillopt('doctor', { maxCalls: 2 });
    expect([code, calls, err]).toEqual([2, 2, '']);
    expect(out).toMatch(/✓ optimizer[\s\S]*✗ judge .*--max-calls is reached: 2 of 2 calls are spent/);
  });

  it('calibrate within its limit is not stopped', async () => {
    expect(await skillopt('calibrate --passes 2', { maxCalls: 64 })).toMatchObject({ code: 0 });
  });
});
