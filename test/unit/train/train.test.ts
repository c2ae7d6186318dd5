import {
  emptyRun,
  type Item,
  ModelCallError,
  memoryRun,
  type RunEvent,
  type RunObserver,
  reduce,
  type SkillOptConfigInput,
  SkillOptTrainer,
  type TrainerOptions,
  toFact,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { levelOf, levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';
import { EPOCH_ENDS, STRICT } from '../../support/strict-gate.ts';

type Store = ReturnType<typeof memoryRun>;
const config: SkillOptConfigInput = {
  ...STRICT,
  ...EPOCH_ENDS,
  numEpochs: 3,
  batchSize: 4,
  minibatchSize: 2,
  mergeBatchSize: 2,
  maxRetries: 0,
};

async function run(options: Partial<TrainerOptions> & { config?: SkillOptConfigInput; store?: Store } = {}) {
  const { store = memoryRun(), ...rest } = options;
  const trainer = new SkillOptTrainer({
    env: levelsEnv(),
    target: levelsTarget(),
    optimizer: levelsOptimizer(),
    ...rest,
    config: { ...config, ...options.config },
    store,
  });
  return { summary: await trainer.train(), store, facts: store.events.map(toFact) };
}

const ofType = <Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type) =>
  events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);

describe('a run in a world where everything is known', () => {
  it('learns: the best skill solves more than the first one did', async () => {
    const { summary } = await run();
    expect(summary.baselineSelectionHard).toBe(1 / 9);
    expect(summary.bestSelectionHard).toBeGreaterThan(5 / 9);
    expect(summary.testHard).toBe(Math.min(1, (levelOf(summary.bestSkill) + 1) / 9));
    expect(summary.testDeltaHard).toBeCloseTo(summary.testHard! - 1 / 9);
  });

  it.each([1, 2, 3])('keeps the invariants of a run (seed %i)', async (seed) => {
    const { store, summary } = await run({ config: { seed } });
    const ends = ofType(store.events, 'step-end');
    const evaluations = store.events.flatMap((event) =>
      event.type === 'stage-end' && event.stage === 'evaluate' ? [event] : [],
    );
    let [current, best, bestStep] = [1 / 9, 1 / 9, 0];
    for (const [index, { score, action }] of evaluations.entries()) {
      if (action !== 'accept' && action !== 'accept_new_best') continue;
      expect(score, 'I1: the current score never falls').toBeGreaterThan(current);
      current = score;
      if (score > best) [best, bestStep] = [score, index + 1];
    }
    expect([summary.bestSelectionScore, summary.bestStep], 'I2: best is the first maximum').toEqual([best, bestStep]);
    const { totalAccepts, totalRejects, totalSkips, totalSteps } = summary;
    expect(totalAccepts + totalRejects + totalSkips, 'I3: every step has one outcome').toBe(totalSteps);
    expect(ends).toHaveLength(totalSteps);
    for (const event of store.events) {
      if (event.type !== 'stage-end' || event.stage !== 'select') continue;
      const start = ofType(store.events, 'step-start').find(({ step }) => step === event.step)!;
      expect(event.patch.edits.length, 'I5: no edit beyond the budget').toBeLessThanOrEqual(start.editBudget!);
    }
  });

  it('counts the calls that the models saw (I4)', async () => {
    const [target, optimizer] = [levelsTarget(), levelsOptimizer()];
    const { summary } = await run({ target, optimizer });
    const { rollout, ...rest } = summary.tokenSummary;
    expect(rollout!.replies - rollout!.cacheHits).toBe(target.requests.length);
    const asked = Object.values(rest).reduce((sum, usage) => sum + usage.replies - usage.cacheHits, 0);
    expect(asked).toBe(optimizer.requests.length);
  });

  it('shows the optimizer no validation or test task (I6)', async () => {
    const optimizer = levelsOptimizer();
    await run({ optimizer });
    const text = optimizer.requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n');
    expect(text).toMatch(/id: train-\d/);
    expect(text).not.toMatch(/(val|test)-\d/);
  });

  it('is a function of the seed (I7), and of nothing about the workers (I9)', async () => {
    const [one, again, sixteen, other] = await Promise.all([
      run({ config: { workers: 1 } }),
      run({ config: { workers: 1 } }),
      run({ config: { workers: 16 } }),
      run({ config: { workers: 1, seed: 43 } }),
    ]);
    const withoutWorkers = (facts: typeof one.facts) =>
      facts.map((fact) => (fact.type === 'run-start' ? { ...fact, config: { ...fact.config, workers: 0 } } : fact));
    expect(again.facts).toEqual(one.facts);
    expect(withoutWorkers(sixteen.facts)).toEqual(withoutWorkers(one.facts));
    expect(other.facts).not.toEqual(one.facts);
  });

  it('uses the batches, seeds and budgets of the reference', async () => {
    const { store } = await run({
      config: { numEpochs: 1, seed: 42, lrScheduler: 'cosine' },
      env: levelsEnv({ size: 10 }),
    });
    const starts = ofType(store.events, 'step-start');
    expect(starts.map(({ seed }) => seed)).toEqual([1043, 1044, 1045]);
    const order = [
      [6, 4, 1, 9],
      [7, 8, 0, 5],
      [2, 3],
    ].map((batch) => batch.map((k) => `train-${k}`));
    expect(starts.map(({ itemIds }) => itemIds)).toEqual(order);
    expect(starts.map(({ editBudget }) => editBudget)).toEqual([4, 2, 2]);
  });
});

describe('a run that was cut off', () => {
  it('resumes to the same end, and sends nothing that was answered before (I8)', async () => {
    const whole = await run();
    for (let cut = 0; cut <= whole.facts.length; cut += 5) {
      const store = whole.store;
      (store.events as RunEvent[]).length = cut;
      const [target, optimizer] = [levelsTarget(), levelsOptimizer()];
      const { facts } = await run({ store, target, optimizer });
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
      expect([...target.requests, ...optimizer.requests], `cut after ${cut} events`).toEqual([]);
    }
  });

  it('comes to the same end without its cache, which then costs the calls again', async () => {
    const whole = await run();
    for (const cut of [3, whole.facts.length - 2]) {
      const { facts } = await run({ store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
    }
  });

  it('writes the same views as an undisturbed run', async () => {
    const whole = await run();
    const store = memoryRun(whole.store.events.slice(0, 12));
    await run({ store });
    const timeless = (views: Store['views']) =>
      JSON.parse(JSON.stringify(views).replaceAll(/\\"\w+_s\\": [\d.]+/g, ''));
    expect(timeless(store.views)['best_skill.md']).toBe(timeless(whole.store.views)['best_skill.md']);
    expect(Object.keys(store.views).filter((path) => !(path in whole.store.views))).toEqual([]);
  });

  it('starts over in a step whose cache is gone and whose models answer otherwise', async () => {
    const whole = await run();
    const cut = whole.store.events.findIndex((event) => event.type === 'stage-end' && event.stage === 'aggregate') + 1;
    const store = memoryRun(whole.store.events.slice(0, cut));
    const moody = scripted('levels-optimizer', () => JSON.stringify({ edits: [{ op: 'append', content: 'LEVEL=3' }] }));
    const { summary } = await run({ store, optimizer: moody });
    expect(summary.isDone).toBe(true);
    expect(levelOf(summary.bestSkill)).toBe(3);
    expect(summary.tokenSummary).toEqual(store.events.reduce(reduce, emptyRun).usage);
  });

  it('does nothing more when it is done', async () => {
    const { store, facts } = await run();
    const [target, optimizer] = [levelsTarget(), levelsOptimizer()];
    const { facts: after, summary } = await run({ store, target, optimizer });
    expect(after).toEqual(facts);
    expect(summary.isDone).toBe(true);
    expect([...target.requests, ...optimizer.requests]).toEqual([]);
  });
});

describe('a run that meets trouble', () => {
  it('never uses a rollout of one skill for another', async () => {
    const rolled = new Set<string>();
    const env = levelsEnv({ onRollout: (id, skill) => void rolled.add(`${id} ${levelOf(skill)}`) });
    const { store } = await run({ env: env });
    for (const event of store.events) {
      if (event.type !== 'stage-end' || event.stage !== 'evaluate' || !event.evaluation) continue;
      const update = store.events.find(
        (other) => other.type === 'stage-end' && other.step === event.step && other.stage === 'update',
      );
      const level = levelOf((update as { candidateSkill: string }).candidateSkill);
      for (const { id, hard } of event.evaluation.scores) {
        expect(rolled).toContain(`${id} ${level}`);
        expect(hard, `${id} at level ${level}`).toBe(level >= Number(id.split('-')[1]) ? 1 : 0);
      }
    }
  });

  it('stops with MODEL_CALL_FAILED when the key is refused in the middle, scores nothing 0, and resumes', async () => {
    const undisturbed = await run();
    const store = memoryRun();
    let calls = 0;
    const refused = scripted('levels-target', ({ messages }) => {
      if (++calls > 25) throw new ModelCallError('401: key refused', { status: 401 });
      return String(levelOf(messages[0]!.content));
    });
    await expect(run({ store, target: refused })).rejects.toMatchObject({ code: 'MODEL_CALL_FAILED', status: 401 });
    expect(calls - 25, 'one failed call per worker at most').toBeLessThanOrEqual(8);
    expect(undisturbed.facts.slice(0, store.events.length)).toEqual(store.events.map(toFact));
    const { facts } = await run({ store });
    expect(facts).toEqual(undisturbed.facts);
  });

  it('continues when the environment throws on one task, and says why that task failed', async () => {
    const base = levelsEnv();
    const env = {
      ...base,
      rolloutOne: async (context: Parameters<typeof base.rolloutOne>[0]) => {
        if (context.item.id === 'val-0') throw new Error('the disk of task 0 is full');
        return base.rolloutOne(context);
      },
    };
    const { summary, store } = await run({ env: env });
    expect(summary.isDone).toBe(true);
    expect(store.views['baseline_selection_eval/results.json']).toContain('the disk of task 0 is full');
  });

  it('continues when the optimizer babbles, and changes nothing', async () => {
    const { summary } = await run({ optimizer: scripted('babbler', () => 'As a language model, I') });
    expect(summary).toMatchObject({ totalAccepts: 0, totalRejects: 0, totalSkips: summary.totalSteps, bestStep: 0 });
  });

  it('stops on an aborted signal with its reason, keeps what was paid for, and resumes later', async () => {
    const undisturbed = await run();
    const store = memoryRun();
    const controller = new AbortController();
    const stopper: RunObserver = {
      onProgress: ({ phase, step, done }) =>
        phase === 'rollout' && step === 2 && done === 2 && controller.abort(new Error('enough')),
    };
    await expect(run({ store, signal: controller.signal, observers: [stopper] })).rejects.toThrow('enough');
    const [target, optimizer] = [levelsTarget(), levelsOptimizer()];
    const { facts } = await run({ store, target, optimizer });
    expect(facts).toEqual(undisturbed.facts);
  });

  it('is not broken by an observer that throws', async () => {
    const rude: RunObserver = {
      onEvent() {
        throw new Error('observer down');
      },
    };
    expect((await run({ observers: [rude] })).summary.isDone).toBe(true);
  });
});

describe('a run that must not start', () => {
  const done = run();

  it.each([
    ['another batch size', { config: { batchSize: 3 } }, /batchSize: was 4, is 3/],
    ['another first skill', { initialSkill: 'LEVEL=1' }, /something else: the text of the skill has changed$/],
    ['another target', { target: scripted('other', () => '1') }, /target: was levels-target, is other/],
    ['another prompt', { promptOverrides: { ranking: 'choose: selected_indices' } }, /prompt ranking has changed/],
    ['other items', { env: levelsEnv({ size: 8 }) }, /the tasks have changed \(train, val, test\): their text/],
  ])('refuses to go on with %s', async (_name, options, message) => {
    const { store } = await done;
    const before = [...store.events];
    await expect(run({ store, ...options })).rejects.toMatchObject({
      code: 'RUN_MISMATCH',
      message: expect.stringMatching(message),
    });
    expect(store.events).toEqual(before);
  });

  it('lets workers, retries and time-outs differ', async () => {
    const { store } = await done;
    await run({
      store,
      config: { workers: 3, maxRetries: 1, callTimeoutMs: 5, rolloutTimeoutMs: 5, saveEveryStep: false },
    });
  });

  it.each([
    ['an empty train split', { train: [] }, /train split of levels is empty/],
    ['an empty validation split', { val: [] }, /val split of levels is empty/],
    [
      'an id twice',
      {
        train: [
          { id: 'a', k: 1 },
          { id: 'a', k: 2 },
        ],
      },
      /"a" stands twice in train/,
    ],
    ['an id in two splits', { train: [{ id: 'val-1', k: 1 }] }, /"val-1" stands in train and in val/],
  ])('refuses %s', async (_name, splits: Record<string, Item[]>, message) => {
    const base = levelsEnv();
    const env = { ...base, getItems: async (split: string) => splits[split] ?? base.getItems(split) };
    const store = memoryRun();
    await expect(run({ store, env: env })).rejects.toMatchObject({
      code: 'TASKS_INVALID',
      message: expect.stringMatching(message),
    });
    expect(store.events).toEqual([]);
  });

  it('warns of an empty test split and of verbose, and continues', async () => {
    const base = levelsEnv();
    const env = { ...base, getItems: async (split: string) => (split === 'test' ? [] : base.getItems(split)) };
    const warnings: string[] = [];
    const { summary } = await run({
      env: env,
      config: { verbose: true },
      observers: [{ onWarning: (message) => void warnings.push(message) }],
    });
    expect(warnings).toEqual(summary.warnings);
    expect(warnings).toEqual([expect.stringContaining('test split is empty'), expect.stringContaining('verbose')]);
    expect(summary.testHard).toBeNull();
  });
});
