import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { capWarnings } from '../../../src/app/index.ts';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Half right, never wholly; two of twelve validation tasks get no score. */
const HALF_RIGHT = `
const tasks = (split, n) => Array.from({ length: n }, (_, k) => ({ id: split + k }));
export default ({ defineEnv, z }) => defineEnv({
  name: 'half', schema: z.object({ id: z.string() }),
  items: { train: tasks('train', 2), val: tasks('val', 12), test: tasks('test', 4) },
  initialSkill: '# Skill',
  async rolloutOne({ item: { id } }) {
    const isMissing = ['val0', 'val7'].includes(id);
    return { hard: 0, soft: isMissing ? 0 : 0.5, ...(isMissing ? { unjudged: true } : {}), taskType: 'half' };
  },
});`;

/** A folder with an environment; the models at the far side have nothing to say. */
async function project(env: string, settings: object = {}) {
  const far = await startFakeLLM(() => '{"patch": {"edits": []}}');
  const model = { provider: 'compatible', model: 'far', baseURL: far.baseURL, apiKeyEnv: 'FAR_KEY' };
  const config = { name: 'run', env: './env.mjs', target: model, optimizer: model, ...settings };
  const folder = tempFolder({ 'skillopt.config.json': JSON.stringify(config), 'env.mjs': env, 'SKILL.md': '# Skill' });
  return {
    async cli(line: string) {
      const io = captureIo({ cwd: folder.path, env: { FAR_KEY: 'dummy-key' }, columns: 200 });
      const code = await runCli(line.split(' '), io);
      return { code, out: io.out(), err: io.err() };
    },
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

const quick = { gate: 'strict', gateMetric: 'soft', numEpochs: 1, batchSize: 2, finalPasses: 1 };

describe('a run whose gate looks at another score than hard', () => {
  it('is told by that score everywhere, and by the tasks that have one', async () => {
    await using folder = await project(HALF_RIGHT, quick);
    const { code, out, err } = await folder.cli('train');
    expect(code, err).toBe(0);
    expect(err).toContain('  baseline  50.0 % on 10 of 12 validation tasks, 2 without a score\n');
    expect(err).toContain('  test      50.0 % with the best skill\n');
    expect(out).toMatch(/^No change: .* stays as it was, 50\.0 % on 4 tasks it never saw\. /);
    expect(out).toContain('On the 10 tasks it was chosen by: 50.0 %.\n');
    expect((await folder.cli('runs')).out).toMatch(/50.0 → 50.0 % +50.0 %/);
    const { runs } = JSON.parse((await folder.cli('runs --json')).out);
    expect(runs).toMatchObject([{ testHard: 0, testScore: 0.5 }]);
    expect(JSON.parse((await folder.cli('show run --json')).out)).toMatchObject({ testHard: 0, testSoft: 0.5 });
  });
});

describe('eval', () => {
  it('counts the tasks that have a score, and names those that have none', async () => {
    await using folder = await project(HALF_RIGHT);
    const { out } = await folder.cli('eval --skill SKILL.md --split val --quiet');
    expect(out).toMatch(/^0.0 % hard, 50.0 % soft on 10 of 12 val tasks, 2 without a score, with SKILL.md\n/);
    const whole = await folder.cli('eval --skill SKILL.md --split train --quiet');
    expect(whole.out).toMatch(/ soft on 2 train tasks with SKILL.md\n/);
    const { n, errored } = JSON.parse((await folder.cli('eval --skill SKILL.md --split val --quiet --json')).out);
    expect([n, errored]).toEqual([12, 2]);
  });
});

describe('calibrate', () => {
  it.each(['abc', '-3', '1', '2.5'])('refuses %s passes', async (passes) => {
    await using folder = await project(HALF_RIGHT);
    const { code, out, err } = await folder.cli(`calibrate --quiet --passes ${passes}`);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`'--passes <n>' argument '${passes}' is invalid. Expected a whole number, 2 or more.`);
  });

  it('tells machines what it does not know as null', async () => {
    await using folder = await project(HALF_RIGHT, { gateMetric: 'soft' });
    const answer = JSON.parse((await folder.cli('calibrate --quiet --json')).out);
    expect(answer.passes).toBe(2);
    expect(answer).toHaveProperty('warning');
    for (const need of answer.needs) expect(need).toHaveProperty('repeats');
    expect(answer.needs[0].repeats).toBeNull(); // ten tasks cannot show five points, however often they are asked
  });
});

describe('the help of train', () => {
  it('shows no default that is no text', async () => {
    await using folder = await project(HALF_RIGHT);
    const { out } = await folder.cli('train --help-all');
    expect(out).not.toContain('[object');
    expect(out).toMatch(/--prices <json> +Dollars per million tokens, by model name: (?!.*default: \{)/);
  });

  it('shows ten settings, and all of them when asked', async () => {
    await using folder = await project(HALF_RIGHT);
    const settings = (out: string) =>
      out
        .split('(over the project file):')
        .slice(1)
        .join('')
        .match(/^ {2}--[a-z]/gm) ?? [];
    const [some, all] = [await folder.cli('train --help'), await folder.cli('train --help-all')];
    expect([some.code, settings(some.out).length]).toEqual([0, 10]);
    expect([all.code, all.err]).toEqual([0, '']);
    expect(settings(all.out).length).toBeGreaterThan(60);
  });

  it('is right about prices', async () => {
    await using folder = await project(HALF_RIGHT);
    const dear = await folder.cli('estimate --json --prices {"far":{"input":1,"cachedInput":1,"output":1}}');
    expect(JSON.parse(dear.out).totalUsd.low).toBeGreaterThan(0);
    expect((await folder.cli('estimate --prices cheap')).err).toContain('Expected JSON.');
  });
});

describe('a limit that a run may reach', () => {
  const range = { low: 303, high: 2603 };
  const totals = { calls: range, inputTokens: range, outputTokens: range, tokens: range };
  const costs = { stages: [], totals, totalUsd: range, assumed: {} } as never;

  it('is told with each unit once', () => {
    expect(capWarnings(costs, { maxCalls: 400, maxTotalTokens: 500, maxCostUsd: 600 })).toEqual([
      'this run may need 303–2,603 calls; it stops at maxCalls 400',
      'this run may need 303–2,603 tokens; it stops at maxTotalTokens 500',
      'this run may need $303–2603; it stops at maxCostUsd 600',
    ]);
  });
});

describe('an environment', () => {
  it('that lacks parts is told which', async () => {
    await using folder = await project("export default ({ defineEnv }) => defineEnv({ name: 'bare', items: {} });");
    const { code, err } = await folder.cli('estimate');
    expect(code).toBe(2);
    expect(err).toContain('defineEnv of "bare" lacks schema, a zod schema of an item; rolloutOne, a function');
    expect(err).toContain('hint: defineEnv({ name, schema: z.object(');
  });

  it('that asks a judge is not well without one', async () => {
    await using folder = await project(HALF_RIGHT.replace("initialSkill: '# Skill',", '$& judgeCalls: 2,'));
    const judged = await folder.cli('doctor');
    expect(judged.out).toMatch(/✗ judge +no judge model is named\n/);
    expect(judged.out).toContain('--judge');
    expect(judged.code).toBe(2);
    await using rules = await project(HALF_RIGHT);
    expect((await rules.cli('doctor')).out).not.toContain('judge');
  });
});
