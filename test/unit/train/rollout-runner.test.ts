import {
  type AgentRunner,
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

async function train(options: { runner?: RolloutRunner; agent?: AgentRunner }) {
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
  const trainer = new SkillOptTrainer({ config: { numEpochs: 1, batchSize: 6 }, env, ...models, store, ...options });
  const summary = await trainer.train();
  return { summary, facts: store.events.map(toFact), start: store.events[0] };
}

describe('a runner of rollouts', () => {
  it('makes every attempt, each under a key of its own, and changes nothing else', async () => {
    const keys: string[] = [];
    const runner: RolloutRunner = {
      async run({ key, item, skill, sampleIndex }) {
        expect(typeof skill).toBe('string');
        keys.push(`${key} ${sampleIndex}`);
        return { id: item.id, ...scoreOf(item.id) };
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
        return { id: item.id, ...scoreOf(item.id) };
      },
    };
    const { facts } = await train({ runner });
    const baseline = facts.find(({ type }) => type === 'baseline-end');
    expect(JSON.stringify(baseline)).toContain('"errored":true');
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
