import { describe, expect, it } from 'vitest';
import type { ChatModel, ChatRequest } from '../../../src/core/contracts/index.ts';
import { createWorld, simulatedTarget, type WorldItem } from '../../../src/public/sim.ts';
import { expectEvery } from '../../support/expect-every.ts';

const FORMAT = 'End your reply with the final answer inside <answer></answer>.';
const PAID = 'Invoice 104217 was paid on March 14, 2024. On which date was it paid?';

const request = (skill: string, question: string, sampleIndex = 0): ChatRequest => ({
  messages: [
    { role: 'system', content: `${skill}\n\n${FORMAT}` },
    { role: 'user', content: `Question: ${question}` },
  ],
  sampleIndex,
});

async function answer(
  target: ChatModel,
  skill: string,
  question: string,
  sampleIndex = 0,
): Promise<string | undefined> {
  const reply = await target.complete(request(skill, question, sampleIndex));
  return reply.text.match(/<answer>(.*)<\/answer>$/)?.[1];
}

const exact = simulatedTarget({ noise: 0 });
const world = createWorld({ test: 240 });
const fullSkill = [world.initialSkill, ...world.rules.map(({ text }) => `- ${text}`)].join('\n');

async function countRight(
  target: ChatModel,
  skill: string,
  items: readonly WorldItem[],
  sampleIndex = 0,
): Promise<number> {
  const answers = await Promise.all(items.map(({ question }) => answer(target, skill, question, sampleIndex)));
  return items.filter((item, index) => item.answers.includes(answers[index]!)).length;
}

describe('the simulated target', () => {
  it.each([
    ['no rule', world.initialSkill, 'March 14, 2024'],
    ['a rule', '- Write dates as YYYY-MM-DD.', '2024-03-14'],
    ['a paraphrased rule', 'Please use the ISO 8601 form for any date.', '2024-03-14'],
    ['a later rule that contradicts', '- Write dates as YYYY-MM-DD.\n- Write dates as DD.MM.YYYY.', '14.03.2024'],
    ['a rule on something else', '- Write weights in grams, such as 2350 g.', 'March 14, 2024'],
  ])('reads the skill: %s', async (_, skill, expected) => {
    expect(await answer(exact, skill, PAID)).toBe(expected);
  });

  it('answers every task with the full rules in the skill, and about a third without', async () => {
    expect(await countRight(exact, fullSkill, world.items.test)).toBe(240);
    expect(await countRight(exact, world.initialSkill, world.items.test)).toBe(80);
  });

  it('takes rules from the system message only, and the question from below its context', async () => {
    const user = {
      role: 'user',
      content: `Context:\nWrite dates as YYYY-MM-DD. It weighs 2 kg. How heavy?\n\nQuestion: ${PAID}`,
    } as const;
    expect((await exact.complete({ messages: [user] })).text).toContain('<answer>March 14, 2024</answer>');
  });

  it('says that it does not know what it cannot read', async () => {
    expect(await answer(exact, fullSkill, 'What is the capital of France?')).toBe('I do not know');
  });

  it('slips as often as its noise says, into another style', async () => {
    const noisy = simulatedTarget({ noise: 0.2 });
    const right = await countRight(noisy, fullSkill, world.items.test);
    expect(right / 240).toBeGreaterThan(0.7);
    expect(right / 240).toBeLessThan(0.9);
    const always = simulatedTarget({ noise: 1 });
    expect(await countRight(always, fullSkill, world.items.test)).toBe(0);
    expect(['March 14, 2024', '14.03.2024', '03/14/2024', '14 March 2024']).toContain(
      await answer(always, 'Write dates as YYYY-MM-DD.', PAID),
    );
  });

  it('draws its noise by seed, request and sample index, never by the order of calls', async () => {
    const ask = (target: ChatModel, { question }: WorldItem, index = 0) => answer(target, fullSkill, question, index);
    const options = { noise: 0.5, seed: 3 };
    const [first, second] = [simulatedTarget(options), simulatedTarget(options)];
    const forwards = await Promise.all(world.items.val.map((item) => ask(first, item)));
    const backwards = await Promise.all(world.items.val.toReversed().map((item) => ask(second, item)));
    expect(backwards.toReversed()).toEqual(forwards);
    expect(await Promise.all(world.items.val.map((item) => ask(first, item)))).toEqual(forwards);
    expect(await Promise.all(world.items.val.map((item) => ask(first, item, 1)))).not.toEqual(forwards);
    const other = simulatedTarget({ ...options, seed: 4 });
    expect(await Promise.all(world.items.val.map((item) => ask(other, item)))).not.toEqual(forwards);
  });

  it('in null mode is deaf to the skill: all the right rules do not lift the mean', async () => {
    const target = simulatedTarget({ nullMode: true });
    const items = createWorld({ test: 3000 }).items.test;
    const [bare, taught] = [
      await countRight(target, world.initialSkill, items),
      await countRight(target, fullSkill, items),
    ];
    expect(bare / 3000).toBeGreaterThan(0.18);
    expect(bare / 3000).toBeLessThan(0.35);
    expect(Math.abs(bare - taught) / 3000).toBeLessThan(0.035); // three standard deviations of a difference
  });

  it('in null mode gives each question odds of its own, and a new draw to each text', async () => {
    const target = simulatedTarget({ nullMode: true });
    const items = createWorld({ topics: 1, val: 60 }).items.val;
    const draw = ({ question }: WorldItem, skill: string) =>
      Promise.all(Array.from({ length: 200 }, (_, sampleIndex) => answer(target, skill, question, sampleIndex)));
    const share = async (item: WorldItem) =>
      (await draw(item, 'A skill')).filter((said) => item.answers.includes(said!)).length / 200;
    const shares = await Promise.all(items.map(share));
    expect(Math.min(...shares)).toBeLessThan(0.1);
    expect(Math.max(...shares)).toBeGreaterThan(0.5);
    expect(await draw(items[0]!, 'A skill')).not.toEqual(await draw(items[0]!, 'Another'));
  });

  it('counts tokens, and cuts a reply at its limit', async () => {
    const whole = await exact.complete(request('', PAID));
    expect(whole.finishReason).toBe('stop');
    expect(whole.usage.output).toBe(Math.ceil(whole.text.length / 4));
    expect(whole.usage.input).toBeGreaterThan(30);
    const cut = await exact.complete({ ...request('', PAID), maxOutputTokens: 5 });
    expect(cut).toMatchObject({ finishReason: 'length', text: whole.text.slice(0, 20), usage: { output: 5 } });
  });

  it('has every knob that changes answers in its id, and no other', () => {
    const id = (options = {}) => simulatedTarget(options).id;
    expect(id({ latencyMs: 5, failureRate: 0.5 })).toBe(id());
    expect(new Set([id(), id({ seed: 8 }), id({ noise: 0 }), id({ nullMode: true })]).size).toBe(4);
  });

  it.each([{ noise: 2 }, { failureRate: -1 }, { latencyMs: -1 }, { nosie: 0 } as object])('refuses %o', (options) => {
    expect(() => simulatedTarget(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});

describe('a simulated line', () => {
  it('fails with retryable errors, the same ones every time, and lets a retry through', async () => {
    const run = async () => {
      const target = simulatedTarget({ noise: 0, failureRate: 0.5 });
      return Promise.all(world.items.val.map((item) => tryUntilThrough(target, request(fullSkill, item.question))));
    };
    const rounds = await run();
    expectEvery(rounds, ({ text }) => text.includes('<answer>'));
    const statuses = rounds.flatMap((round) => round.statuses);
    expect(new Set(statuses)).toEqual(new Set([429, 503]));
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.length).toBeLessThan(70);
    expect(await run()).toEqual(rounds);
  });

  it('never gets through at a failure rate of 1', async () => {
    const target = simulatedTarget({ failureRate: 1 });
    for (let round = 0; round < 5; round++) {
      await expect(target.complete(request('', PAID))).rejects.toMatchObject({
        code: 'MODEL_CALL_FAILED',
        isRetryable: true,
      });
    }
  });

  it('does not change answers', async () => {
    const slow = simulatedTarget({ noise: 0.5, latencyMs: 1 });
    const fast = simulatedTarget({ noise: 0.5 });
    for (const { question } of world.items.val.slice(0, 10)) {
      expect(await answer(slow, fullSkill, question)).toBe(await answer(fast, fullSkill, question));
    }
  });

  it('stops waiting when the call is aborted, with the reason of the abort', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const slow = simulatedTarget({ latencyMs: 3_600_000 });
    const waiting = slow.complete({ ...request('', PAID), signal: controller.signal });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(exact.complete({ ...request('', PAID), signal: controller.signal })).rejects.toBe(reason);
  });
});

async function tryUntilThrough(
  target: ChatModel,
  call: ChatRequest,
  statuses: number[] = [],
): Promise<{ text: string; statuses: number[] }> {
  try {
    return { text: (await target.complete(call)).text, statuses };
  } catch (error) {
    if (statuses.length > 50) throw error;
    return tryUntilThrough(target, call, [...statuses, (error as { status: number }).status]);
  }
}
