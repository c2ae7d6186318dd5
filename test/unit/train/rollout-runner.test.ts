import {
  type AgentRunner,
  type ChatModel,
  defineEnv,
  ModelCallError,
  memoryRun,
  type RolloutRunner,
  SkillOptTrainer,
  toFact,
} from 'skillopt';
import { simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const ids = (split: string, count: number) => Array.from({ length: count }, (_, index) => ({ id: `${split}${index}` }));
const items = { train: ids('a', 6), val: ids('b', 6), test: ids('c', 3) };
/** Some tasks are solved, whatever the skill. */
const scoreOf = (id: string) => ({ hard: Number(id.slice(1)) % 2, soft: Number(id.slice(1)) % 2 });

type Trained = { runner?: RolloutRunner; agent?: AgentRunner; target?: ChatModel; config?: object };

async function train({ config, ...options }: Trained) {
  const store = memoryRun();
  const env = defineEnv({
    name: 'numbers',
    schema: z.object({ id: z.string() }),
    items,
    rolloutOne: async ({ item, agent }) => {
      if (options.runner) throw new Error('not here');
      const run = await agent?.run({
        workspace: { path: '/nowhere' },
        prompt: item.id,
        skills: [],
        limits: { timeoutMs: 1 },
        sampleIndex: 0,
        signal: AbortSignal.any([]),
      });
      return { ...scoreOf(item.id), ...(run ? { predictedAnswer: run.text } : {}) };
    },
  });
  const models = { target: simulatedTarget(), optimizer: simulatedOptimizer() };
  const trainer = new SkillOptTrainer({
    config: { numEpochs: 1, batchSize: 6, ...config },
    env,
    ...models,
    store,
    ...options,
  });
  const summary = await trainer.train();
  return { summary, facts: store.events.map(toFact), events: store.events, start: store.events[0] };
}

describe('a runner of rollouts', () => {
  it('makes every attempt, each under a key of its own, and changes nothing else', async () => {
    const keys: string[] = [];
    const runner: RolloutRunner = {
      async run({ key, item, skill, sampleIndex }) {
        expect(typeof skill).toBe('string');
        keys.push(`${key} ${sampleIndex}`);
        return { result: { id: item.id, ...scoreOf(item.id) } };
      },
    };
    const [here, elsewhere] = [await train({}), await train({ runner })];
    expect(elsewhere.facts).toEqual(here.facts);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThan(12);
  });

  it('may not reach a model for one task: that task has no score', async () => {
    const runner: RolloutRunner = {
      async run({ item }) {
        if (item.id === 'b0') throw new ModelCallError('no route', { isRetryable: true });
        return { result: { id: item.id, ...scoreOf(item.id) } };
      },
    };
    const { facts } = await train({ runner });
    const baseline = facts.find(({ type }) => type === 'baseline-end');
    expect(JSON.stringify(baseline)).toContain('"errored":true');
  });

  it('asks the models of the run: what they cost is limited and counted, as here', async () => {
    let calls = 0;
    const target: ChatModel = {
      ...simulatedTarget(),
      complete: (request) =>
        simulatedTarget()
          .complete(request)
          .finally(() => void calls++),
    };
    const ask = (model: ChatModel, { id }: { id: string }) =>
      model.complete({ messages: [{ role: 'user', content: id }] });
    const runner: RolloutRunner = {
      most: { calls: 0 },
      async run({ item }, { target: asked }) {
        await ask(asked, item);
        return { result: scoreOf(item.id), bills: [] };
      },
    };
    const whole = await train({ runner, target });
    const usage = whole.events.map((event) => event.usage?.rollout?.replies ?? 0);
    expect(usage.reduce((sum, replies) => sum + replies, 0)).toBe(calls);
    calls = 0;
    await expect(train({ runner, target, config: { maxCalls: 9 } })).rejects.toThrow('maxCalls');
    expect(calls).toBe(9);
  });

  it('turns a call that fails into no score, whatever it makes of it', async () => {
    const target: ChatModel = {
      id: 'down',
      complete: () => Promise.reject(new ModelCallError('no route', { isRetryable: false })),
    };
    const runner: RolloutRunner = {
      async run({ item }, { target: asked }) {
        if (item.id === 'b0') await asked.complete({ messages: [] }).catch(() => undefined);
        return { result: scoreOf(item.id), bills: [] };
      },
    };
    const { facts } = await train({ runner, target });
    const baseline = facts.find(({ type }) => type === 'baseline-end');
    expect(JSON.stringify(baseline)).toContain('"errored":true');
  });

  it.each([undefined, new Error('queue lost')])('is closed once, when the run is over: %s', async (failure) => {
    let closed = 0;
    const runner: RolloutRunner = {
      run: async ({ item }) => (failure ? Promise.reject(failure) : { result: scoreOf(item.id) }),
      close: async () => void closed++,
    };
    await train({ runner }).catch((error) => expect(error).toBe(failure));
    expect(closed).toBe(1);
  });

  it('stops the run with anything else that it throws', async () => {
    const runner: RolloutRunner = { run: () => Promise.reject(new Error('queue lost')) };
    await expect(train({ runner })).rejects.toThrow('queue lost');
  });
});

describe('an agent', () => {
  const agent: AgentRunner = {
    id: 'agent@1',
    run: async ({ prompt }) => ({
      text: `did ${prompt}`,
      ended: 'done',
      turns: 1,
      steps: [],
      skillsOffered: [],
      skillsLoaded: [],
      usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
    }),
  };

  it('reaches the environment, and is part of what a run is', async () => {
    const { start, summary } = await train({ agent });
    expect(start).toMatchObject({ identity: { agent: 'agent@1' } });
    expect(summary.isDone).toBe(true);
  });
});
