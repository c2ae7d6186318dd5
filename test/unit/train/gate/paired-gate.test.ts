import {
  type ChatModel,
  type ChatRequest,
  ModelCallError,
  memoryRun,
  type RunEvent,
  type SkillOptConfigInput,
  SkillOptTrainer,
  toFact,
} from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { noView, projectRun, runFigures } from '../../../../src/core/page/index.ts';
import { emptyRun, reduce, toKnowledge, toObservations } from '../../../../src/core/run/index.ts';
import {
  addObservations,
  addOwn,
  believedScore,
  inherit,
  judgeWave,
  noEvidence,
  settingsFor,
} from '../../../../src/core/stats/index.ts';
import { SimpleQAEnv } from '../../../../src/public/envs.ts';

type Store = ReturnType<typeof memoryRun>;
type RunOptions = { config?: SkillOptConfigInput; store?: Store; isDeaf?: boolean; noise?: number; seed?: number };

const worldEnv = (seed: number) => {
  const { items, initialSkill } = createWorld({ seed, train: 24, val: 24, test: 24 });
  return new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill });
};

async function run({ config, store = memoryRun(), isDeaf = false, noise = 0.15, seed = 3 }: RunOptions = {}) {
  const trainer = new SkillOptTrainer({
    env: worldEnv(seed),
    target: simulatedTarget({ seed, noise, nullMode: isDeaf }),
    optimizer: simulatedOptimizer({ seed }),
    config: { numEpochs: 2, batchSize: 12, maxRetries: 0, evalTest: false, seed, ...config },
    store,
  });
  const summary = await trainer.train();
  return { summary, store, facts: store.events.map(toFact) };
}

type Evaluated = Extract<RunEvent, { stage: 'evaluate' }>;
const isJudged = (event: RunEvent): event is Evaluated =>
  event.type === 'stage-end' && event.stage === 'evaluate' && event.decision !== undefined;

describe('the gate that knows noise', () => {
  it('is a function of the seed, and of nothing about the workers', async () => {
    const [one, other, many] = await Promise.all([run(), run(), run({ config: { workers: 16 } })]);
    const comparable = ({ facts }: typeof one) => facts.filter((fact) => fact.type !== 'run-start');
    expect(comparable(other)).toEqual(comparable(one));
    expect(comparable(many)).toEqual(comparable(one));
  });

  it.each([1, 4])('resumes to the same end, with %i proposals of a batch', async (proposalsPerBatch) => {
    const config = { proposalsPerBatch };
    const { store, facts } = await run({ config });
    for (let cut = 1; cut < store.events.length; cut += 13) {
      const resumed = await run({ config, store: memoryRun(store.events.slice(0, cut)) });
      expect(resumed.facts, `cut after event ${cut}`).toEqual(facts);
    }
  });

  it.each([1, 4])('writes down enough to make every decision again (%i proposals)', async (proposalsPerBatch) => {
    const { store } = await run({ config: { proposalsPerBatch } });
    let state = emptyRun;
    let decisions = 0;
    for (const event of store.events) {
      if (isJudged(event)) {
        const { needs: _needs, verdict, ...judged } = recompute(state, event.evaluation!, event.decision!);
        expect(event.decision).toMatchObject(judged);
        expect(event.decision!.verdict).toBe(verdict === 'continue' ? 'inconclusive' : verdict);
        decisions++;
      }
      state = reduce(state, event);
    }
    expect(decisions).toBeGreaterThan(0);
  });

  it('writes down how it judged after each wave and after a second pass', async () => {
    const runs = await Promise.all([1, 2, 3].map((seed) => run({ seed, noise: 0.35 })));
    const events = runs.flatMap(({ store }) => store.events.filter(isJudged));
    const decisions = events.map(({ evaluation, decision }) => ({ evaluation, ...decision! }));
    for (const { waves = [], evaluation, confirmation, total, ...last } of decisions) {
      const met = waves.map((wave) => wave.met);
      expect(met).toEqual([...met].sort((one, other) => one - other));
      expect(met.at(-1)).toBe(evaluation!.scores.length);
      expect(met.filter((items) => items === total).length).toBe(confirmation ? 2 : met.at(-1) === total ? 1 : 0);
      expect(waves.slice(0, -1).every(({ verdict }) => verdict === 'continue')).toBe(true);
      expect(waves.at(-1)).toMatchObject({ expectedGain: last.expectedGain, chance: last.chance, reason: last.reason });
    }
    expect(new Set(decisions.map(({ waves }) => waves?.length))).toEqual(new Set([1, 2, 3]));
  });

  it('recognises a decision that an older version wrote without its waves', async () => {
    const { store, facts } = await run();
    const cut = store.events.findLastIndex(isJudged) + 1;
    const old: RunEvent[] = JSON.parse(
      JSON.stringify(store.events.slice(0, cut), (key, value) => (key === 'waves' ? undefined : value)),
    );
    const racesOf = (events: readonly RunEvent[]) =>
      runFigures(events.reduce(projectRun, noView)).versions.flatMap(({ race }) => (race ? [race.waves.length] : []));
    expect(racesOf(old)).toEqual(racesOf(store.events.slice(0, cut)).map(() => 0));
    expect(Math.min(...racesOf(store.events))).toBeGreaterThan(0);
    const resumed = await run({ store: memoryRun(old) });
    expect(resumed.facts.length).toBe(facts.length);
    expect(resumed.facts.slice(cut)).toEqual(facts.slice(cut));
  });

  it('knows of a skill that it took what can be recomputed from the journal', async () => {
    const { store } = await run({ config: { numEpochs: 3 }, noise: 0.05 });
    let [state, accepts] = [emptyRun, 0];
    for (const event of store.events) {
      const after = reduce(state, event);
      if (event.type === 'step-end' && event.action === 'accept_new_best') {
        const observed = addObservations(noEvidence, toObservations(state.draft.candidateScores!, state.config!));
        const ids = Object.keys(state.gate.draws);
        const { own, inherited, repeats } = inherit({ knowledge: toKnowledge(state.gate), observed, ids });
        expect(toKnowledge(after.gate)).toEqual({ own, inherited, repeats });
        expect(after.current.score).toBeCloseTo(believedScore({ own, inherited, repeats }, ids), 12);
        accepts++;
      }
      state = after;
    }
    expect(accepts).toBeGreaterThan(0);
  });

  it('rolls the current skill out on every task that decides', async () => {
    const { store } = await run({ config: { numEpochs: 3 } });
    let state = emptyRun;
    for (const event of store.events) {
      if (isJudged(event)) {
        const known = new Set([...Object.keys(state.gate.own), ...event.decision!.refreshed.map(({ id }) => id)]);
        expect(event.evaluation!.scores.filter(({ id }) => !known.has(id))).toEqual([]);
      }
      state = reduce(state, event);
    }
  });

  it('reports the winner by fresh rollouts, with an interval, and claims what is real', async () => {
    const { summary } = await run({ noise: 0.05 });
    expect(summary.isProven).toBe(true);
    expect(summary.finalGain!.interval.low).toBeGreaterThan(0);
    expect(summary.finalScore!.interval.low).toBeLessThanOrEqual(summary.finalScore!.value);
  });

  it('claims nothing where nothing helps', async () => {
    const runs = await Promise.all([1, 2, 3].map((seed) => run({ isDeaf: true, seed })));
    expect(runs.filter(({ summary }) => summary.isProven)).toHaveLength(0);
  });

  it('keeps no score of a candidate that lost before it had met every item', async () => {
    const { store } = await run({ noise: 0.3 });
    const state = store.events.reduce(reduce, emptyRun);
    const partial = store.events.filter((event) => isJudged(event) && event.isPartial);
    const hashes = state.history.filter(({ isPartial }) => isPartial).map(({ candidateHash }) => candidateHash);
    expect(hashes).toHaveLength(partial.length);
    expect(state.evaluations.filter(({ hash }) => hashes.includes(hash))).toEqual([]);
  });
});

function recompute(
  state: typeof emptyRun,
  { scores }: NonNullable<Evaluated['evaluation']>,
  { refreshed, confirmation = [] }: NonNullable<Evaluated['decision']>,
) {
  const { config, gate, items } = state;
  const all = Object.keys(gate.draws);
  const before = toKnowledge(gate);
  const settings = settingsFor(before, all, Math.min(config!.batchSize, items.train!));
  const knowledge = addOwn(before, toObservations(refreshed, config!));
  const observed = addObservations(noEvidence, toObservations([...scores, ...confirmation], config!));
  const met = new Set(scores.map(({ id }) => id));
  const isSecondPass = confirmation.length > 0;
  return judgeWave({
    knowledge,
    observed,
    missing: [...met].filter((id) => !observed.has(id)),
    remaining: all.filter((id) => !met.has(id)),
    settings: isSecondPass ? { ...settings, hasSecondPass: false } : settings,
    isSecondPass,
  });
}

describe('a race', () => {
  /** A target that fails for good on the draws of a few tasks, and answers all others. */
  const failing = (isBroken: (request: ChatRequest) => boolean): ChatModel => {
    const inner = simulatedTarget({ seed: 3, noise: 0.15 });
    return {
      ...inner,
      async complete(request) {
        if (isBroken(request)) throw new ModelCallError('no answer', { isRetryable: false });
        return inner.complete(request);
      },
    };
  };
  const raceWith = (target: ChatModel, config: SkillOptConfigInput) => {
    const store = memoryRun();
    const parts = { env: worldEnv(3), optimizer: simulatedOptimizer({ seed: 3 }), target, store };
    const settings = { numEpochs: 1, batchSize: 12, maxRetries: 0, maxConsecutiveFailures: 1000, ...config };
    return { store, done: new SkillOptTrainer({ ...parts, config: settings }).train() };
  };

  it.each(['paired', 'strict'] as const)(
    'bears single tasks without an answer, however small its waves (%s)',
    async (gate) => {
      const [first, second] = worldEnv(3).getItems('val');
      const broken = [first!.question, second!.question];
      const target = failing(({ messages }) => broken.some((question) => messages.at(-1)!.content.includes(question)));
      const { done, store } = raceWith(target, { gate });
      expect(await done).toMatchObject({ isDone: true });
      expect(store.events.some((event) => event.type === 'stage-end' && event.stage === 'evaluate')).toBe(true);
    },
  );

  it('is called off when too many tasks have no answer: the candidate is not judged by an outage', async () => {
    let isDown = false;
    const target = failing(() => isDown);
    const store = memoryRun();
    const observer = {
      onEvent(event: RunEvent) {
        if (event.type === 'stage-end' && event.stage === 'update') isDown = true;
      },
    };
    const parts = {
      env: worldEnv(3),
      optimizer: simulatedOptimizer({ seed: 3 }),
      target,
      store,
      observers: [observer],
    };
    const config = { numEpochs: 1, batchSize: 12, maxRetries: 0, maxConsecutiveFailures: 1000 };
    await expect(new SkillOptTrainer({ ...parts, config }).train()).rejects.toThrow('got no score');
    expect(store.events.at(-1)).toMatchObject({ stage: 'update' });
  });

  it('under the strict gate is the same with one worker and with sixteen', async () => {
    // Without a memory of rejected scores: of a lost race that memory has a bound, and other words lead to other edits.
    const strict = { gate: 'strict', racing: 'exact', useStepBuffer: false } as const;
    const [one, many] = await Promise.all([1, 16].map((workers) => run({ config: { ...strict, workers } })));
    const comparable = ({ facts }: Awaited<ReturnType<typeof run>>) =>
      facts.filter((fact) => fact.type !== 'run-start');
    expect(comparable(many!)).toEqual(comparable(one!));
    const whole = await run({ config: { ...strict, racing: 'off' } });
    const actions = ({ store }: typeof whole) =>
      store.events.flatMap((event) => (event.type === 'step-end' ? [event.action] : []));
    expect(actions(one!)).toEqual(actions(whole));
  });
});

describe('the leak critic', () => {
  const env = () => {
    const { items, initialSkill } = createWorld({ seed: 3, train: 6, val: 6, test: 6 });
    const val = items.val.map((item, index) => (index === 0 ? { ...item, answers: ['Zanzibar Nightfall'] } : item));
    return new SimpleQAEnv({ trainItems: items.train, valItems: val, testItems: items.test, initialSkill });
  };
  const proposing = (content: string) =>
    scripted('optimizer', () => JSON.stringify({ patch: { reasoning: '', edits: [{ op: 'append', content }] } }));
  const train = async (content: string, config: SkillOptConfigInput = {}) => {
    const store = memoryRun();
    const options = { env: env(), target: simulatedTarget({ seed: 3 }), optimizer: proposing(content), store };
    await new SkillOptTrainer({ ...options, config: { numEpochs: 1, batchSize: 6, ...config } }).train();
    return store.events.flatMap((event) => (event.type === 'stage-end' && event.stage === 'select' ? [event] : []));
  };

  it('refuses an edit that gives an answer of validation away, with the reason', async () => {
    const [selected] = await train('The answer is often Zanzibar Nightfall.');
    expect(selected!.patch.edits).toEqual([]);
    expect(selected!.refused).toMatchObject([{ reason: expect.stringContaining('Zanzibar Nightfall') }]);
  });

  it('lets pass what gives nothing away, and everything when it is off', async () => {
    expect((await train('Answer briefly.'))[0]!.patch.edits).toHaveLength(1);
    const [selected] = await train('The answer is often Zanzibar Nightfall.', { leakCritic: false });
    expect(selected!.patch.edits).toHaveLength(1);
  });
});
