import { type FakeAnswers, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Ten tasks whose answers a judge scores, alone or beside a reference. */
const ENV = (reference = '') => `
export default ({ defineEnv, z, judgeAnswer, judgedOutput }) => defineEnv({
  name: 'judged', schema: z.object({ id: z.string() }), judgeCalls: 2,
  items: { train: [{ id: 't' }], val: Array.from({ length: 10 }, (_, k) => ({ id: 'v' + k })) },
  initialSkill: '# Skill',
  async rolloutOne({ item, skill, target, judge, signal }) {
    const messages = [{ role: 'system', content: skill }, { role: 'user', content: item.id }];
    const { text } = await target.complete({ messages, signal });
    const subject = { question: item.id, answer: text, rubric: 'Any.' ${reference} };
    return judgedOutput(await judgeAnswer({ judge, ...subject, signal }));
  },
});`;

/** One task after the other, so that what the judge says can follow a plan. */
async function skillopt(argv: string, env: string, judge: FakeAnswers) {
  await using target = await startFakeLLM(() => 'an answer');
  await using judging = await startFakeLLM(judge);
  const at = (model: string, { baseURL }: { baseURL: string }) => {
    return { provider: 'compatible', model, baseURL, apiKeyEnv: 'FAR_KEY' };
  };
  const models = { target: at('target', target), judge: at('judge', judging), optimizer: at('target', target) };
  const project = JSON.stringify({ env: './env.mjs', ...models, workers: 1, maxRetries: 0, gateMetric: 'soft' });
  using folder = tempFolder({ 'skillopt.config.json': project, 'env.mjs': env });
  const io = captureIo({ cwd: folder.path, env: { FAR_KEY: 'dummy-key' } });
  const code = await runCli(argv.split(' '), io);
  return { code, out: io.out(), err: io.err() };
}

/** Says these, one after the other, for ever. */
const inTurn = (...replies: readonly object[]) => {
  let asked = 0;
  return () => JSON.stringify(replies[asked++ % replies.length]);
};

describe('calibrate, where a judge scores', () => {
  it("tells the judge's noise from the answers' own", async () => {
    // Judgements of one answer are 0.2 apart, and the second pass is 0.4 better than the first.
    let asked = 0;
    const plan = () => JSON.stringify({ score: 0.3 + 0.2 * (asked % 2) + (asked++ < 20 ? 0 : 0.4) });
    const { code, out } = await skillopt('calibrate --json', ENV(), plan);
    const { score, judge } = JSON.parse(out);
    expect([code, judge.judgements, judge.failedShare, judge.unjudgedShare]).toEqual([0, 40, 0, 0]);
    expect(score).toBeCloseTo(0.6, 12);
    expect(judge.judgeNoise).toBeCloseTo(Math.sqrt(0.02), 12);
    expect(judge.rolloutNoise).toBeCloseTo(Math.sqrt(0.08 - 0.02 / 2), 12);
    expect(judge.positionBias).toBeNull();
  });

  it('names the bias for a place, and the noise that is left without it', async () => {
    const { code, out } = await skillopt('calibrate', ENV(", reference: 'another'"), inTurn({ winner: 'A' }));
    expect(code).toBe(0);
    expect(out).toContain('50.0 % on 10 tasks');
    expect(out).toContain('the judge, by 40 judgements');
    expect(out).toContain('noise of the judge: ±0.0 points');
    expect(out).toContain('noise of the answers themselves: ±0.0 points');
    expect(out).toContain('for standing first: +100.0 points');
    expect(out).toContain('judgements that failed: 0.0 %, answers without a score: 0.0 %');
  });

  it('counts the judgements that failed', async () => {
    const judge = inTurn({ score: 1 }, { verdict: 'fine' }, { verdict: 'still fine' });
    const { out } = await skillopt('calibrate --json', ENV(), judge);
    expect(JSON.parse(out)).toMatchObject({
      score: 1,
      judge: { failedShare: 0.5, unjudgedShare: 0, judgeNoise: null },
    });
  });

  it('counts an answer that was judged in one position only among those without a score', async () => {
    const judge: FakeAnswers = ({ messages }) => {
      const text = JSON.stringify(messages);
      const isSecond = text.indexOf('another') < text.indexOf('an answer');
      return JSON.stringify(isSecond && /v[01]\b/.test(text) ? { verdict: 'fine' } : { winner: 'A' });
    };
    const { out } = await skillopt('calibrate --json', ENV(", reference: 'another'"), judge);
    expect(JSON.parse(out)).toMatchObject({
      items: 8,
      score: 0.5,
      judge: { judgements: 40, failedShare: 0.1, unjudgedShare: 0.2, rolloutNoise: 0, positionBias: 1 },
    });
  });

  it('ends with what to do when no judgement could be had', async () => {
    const { code, out, err } = await skillopt('calibrate --quiet', ENV(), inTurn({ verdict: 'fine' }));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('10 of 10 tasks got no score: no judgement');
    expect(err).toContain('use another judge model, or a rubric that it can follow');
  });

  it('has its calls in the estimate, as often as a rollout asks', async () => {
    const { out } = await skillopt('estimate --json', ENV(), []);
    const { stages } = JSON.parse(out) as { stages: { stage: string; calls: { low: number; high: number } }[] };
    const calls = (name: string) => stages.find(({ stage }) => stage === name)!.calls;
    expect(calls('judge')).toEqual({ low: 2 * calls('rollout').low, high: 2 * calls('rollout').high });
  });
});
