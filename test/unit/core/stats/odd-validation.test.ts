import {
  type ChatModel,
  emptyRun,
  evaluateSkill,
  type ItemScore,
  ModelCallError,
  memoryRun,
  type RolloutOutput,
  type RunEvent,
  reduce,
  type SkillEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
} from 'skillopt';
import { judgeAnswer, judgedOutput } from 'skillopt/judges';
import { addObservations, calibrate, noEvidence } from 'skillopt/stats';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { toObservations } from '../../../../src/core/run/index.ts';
import { eventLines, reportLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import { levelOf, type Task } from '../../../support/scripted-run.ts';

type Rollout = (task: Task, level: number, judge: ChatModel | undefined) => Promise<RolloutOutput> | RolloutOutput;
type World = {
  readonly val?: number;
  readonly rollout: Rollout;
  readonly judge?: ChatModel;
  readonly env?: SkillEnv<Task>;
};

const tasks = (split: string, count: number) => Array.from({ length: count }, (_, k) => ({ id: `${split}-${k}`, k }));

function envOf({ val = 10, rollout }: World): SkillEnv<Task> {
  return {
    name: 'odd',
    getItems: (split) => tasks(split, split === 'val' ? val : 10),
    getInitialSkill: () => '# Skill\n\nLEVEL=0\n',
    rolloutOne: async ({ item, skill, judge }) => rollout(item, levelOf(skill), judge),
  };
}

const scored = (hard: number): RolloutOutput => ({
  hard,
  soft: hard,
  ...(hard ? {} : { failReason: 'wrong: as said' }),
});

/** Proposes level 9 until it is there. */
const optimizer = () =>
  scripted('optimizer', ({ messages }) => {
    const isThere = messages.some(({ content }) => content.includes('LEVEL=9'));
    const edits = isThere ? [] : [{ op: 'append', content: 'LEVEL=9' }];
    return JSON.stringify({ patch: { reasoning: '', edits } });
  });
const target = () => scripted('target', () => '');

/** A run, with all that it told while it ran: a journal in memory would turn a NaN into null. */
async function train(world: World, config: SkillOptConfigInput) {
  const events: RunEvent[] = [];
  const warnings: string[] = [];
  const observer = {
    onEvent: (event: RunEvent) => void events.push(event),
    onWarning: (text: string) => void warnings.push(text),
  };
  const store = memoryRun();
  const models = { target: target(), optimizer: optimizer(), judge: world.judge };
  const settings = { numEpochs: 2, batchSize: 10, maxRetries: 0, maxConsecutiveFailures: 1000, ...config };
  const trainer = new SkillOptTrainer({
    env: world.env ?? envOf(world),
    ...models,
    config: settings,
    store,
    observers: [observer],
  });
  const outcome = await trainer.train().then(
    (summary) => ({ summary, error: undefined }),
    (error: Error) => ({ summary: undefined, error }),
  );
  return { ...outcome, store, events, warnings };
}

type Run = Awaited<ReturnType<typeof train>>;

/** As the command measures it: the skill against itself. */
async function calibrated(world: World, config: SkillOptConfigInput) {
  const passes: ItemScore[][] = [];
  for (const sampleIndex of [0, 1]) {
    const subject = {
      env: envOf(world),
      skill: '# Skill\n\nLEVEL=0\n',
      split: 'val',
      target: target(),
      judge: world.judge,
    };
    const options = { ...config, maxRetries: 0, maxConsecutiveFailures: 1000 };
    passes.push([...(await evaluateSkill({ ...subject, config: options, sampleIndex })).evaluation.scores]);
  }
  const metric = { gateMetric: 'hard', gateMixedWeight: 0.5 } as const;
  return calibrate(
    addObservations(
      noEvidence,
      passes.flatMap((scores) => toObservations(scores, metric)),
    ),
  );
}

/** Where in a value there is a number that is none. */
function oddNumbers(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => oddNumbers(inner, `${path}.${key}`));
}

/** Everything that a run tells, in figures and in words. */
function expectPlainFigures({ events, summary }: Run): string {
  expect(oddNumbers({ events, summary })).toEqual([]);
  let state = emptyRun;
  const lines = events.flatMap((event) => {
    const before = state;
    state = reduce(before, event);
    return eventLines(event, { before, after: state }, { width: 120, colors: noColors });
  });
  expect(oddNumbers(state)).toEqual([]);
  const report = reportLines(state, { run: 'memory', bestSkillPath: 'best', width: 120, colors: noColors });
  const text = [...lines, ...report].join('\n');
  expect(text).not.toMatch(/NaN|Infinity|undefined/);
  return text;
}

const GATES = { default: {}, strict: { gate: 'strict' } } as const satisfies Record<string, SkillOptConfigInput>;

const actionsOf = ({ events }: Run) => events.flatMap((event) => (event.type === 'step-end' ? [event.action] : []));
const baselineOf = ({ events }: Run) => events.find((event) => event.type === 'baseline-end');

describe.each(Object.entries(GATES))('under the gate «%s»', (name, config) => {
  const isPaired = name === 'default';
  const finalOf = ({ summary }: Run) => [summary!.isProven, summary!.finalGain?.value];

  it('one validation task is enough to run, and not to prove anything', async () => {
    const world = { val: 1, rollout: (task: Task, level: number) => scored(Number(level > task.k)) };
    const run = await train(world, config);
    expect(run.summary).toMatchObject({ isDone: true, totalAccepts: 1, totalRejects: 0, testHard: 0.9 });
    expect(finalOf(run)).toEqual([false, 1]);
    expect(expectPlainFigures(run)).toContain('not proven');
    if (isPaired) expect(run.warnings).toContainEqual(expect.stringContaining('Use more tasks'));
    const calibration = await calibrated(world, config);
    expect(calibration).toMatchObject({
      items: 1,
      score: 0,
      smallestGain: 1,
      warning: expect.stringMatching(/more tasks/),
    });
    expect(oddNumbers(calibration)).toEqual([]);
  });

  it.each([0, 1])('scores that are all %i leave the skill as it was, and claim nothing', async (score) => {
    const world = { rollout: () => scored(score) };
    const run = await train(world, config);
    const isOver = isPaired && score === 1; // nothing is left to gain: nothing is tried or tested
    const [tested, delta] = isOver ? [null, null] : [score, 0];
    const same = { bestSelectionScore: score, baselineTestHard: tested, testHard: tested, testDeltaHard: delta };
    expect(run.summary).toMatchObject({ isDone: true, totalAccepts: 0, bestOrigin: 'initial', ...same });
    expect(actionsOf(run)).toEqual(isOver ? [] : expect.arrayContaining(['reject']));
    expect(finalOf(run)).toEqual([isOver ? null : false, undefined]); // the seed skill stays, and has no gain over itself
    expectPlainFigures(run);
    const calibration = await calibrated(world, config);
    expect(calibration).toMatchObject({ items: 10, score, flakiest: [] });
    expect(calibration.noiseFloor).toBeLessThan(0.06);
    expect(oddNumbers(calibration)).toEqual([]);
  });

  const missing = (share: number) => (task: Task, level: number) => {
    if (task.k < 10 * share) throw new ModelCallError(`${task.id} is down`, { isRetryable: false });
    return scored(Number(level >= task.k));
  };

  it('a tenth of the results missing counts for nothing, neither for nor against', async () => {
    const world = { rollout: missing(0.1) };
    const run = await train(world, config);
    expect(run.summary).toMatchObject({ isDone: true, totalAccepts: 1, baselineTestHard: 0, testHard: 1 });
    const [first] = baselineOf(run)!.evaluation.scores;
    expect(first).toEqual({ id: 'val-0', hard: 0, soft: 0, errored: true });
    expectPlainFigures(run);
    expect(await calibrated(world, config)).toMatchObject({ items: 9, score: 0 });
  });

  it('three tenths missing are no measurement: the run stops, and says what to do', async () => {
    const world = { rollout: missing(0.3) };
    const run = await train(world, config);
    const problem = { code: 'MODEL_CALL_FAILED', message: expect.stringContaining('3 of 10 tasks got no score') };
    expect(run.error).toMatchObject({ ...problem, hint: expect.stringContaining('again') });
    expect(run.events.map(({ type }) => type)).toEqual(['run-start']);
    await expect(calibrated(world, config)).rejects.toMatchObject(problem);
  });

  const ODD = [
    ['NaN', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['minus infinite', Number.NEGATIVE_INFINITY],
  ] as const;

  it.each(ODD)('a score that is %s is a failed task, with the reason, and no figure', async (_name, odd) => {
    const world = {
      rollout: (task: Task, level: number) =>
        task.k === 0 ? { hard: odd, soft: odd } : scored(Number(level >= task.k)),
    };
    const run = await train(world, config);
    expect(run.summary).toMatchObject({ isDone: true, totalAccepts: 1, baselineTestHard: 0, testHard: 0.9 });
    expect(baselineOf(run)!.evaluation.scores[0]).toEqual({ id: 'val-0', hard: 0, soft: 0 });
    const [result] = JSON.parse(run.store.views['baseline_selection_eval/results.json']!);
    expect(result.fail_reason).toMatch(/^rolloutOne gave an unusable result: .*at hard.*at soft/s);
    expectPlainFigures(run);
    expect(await calibrated(world, config)).toMatchObject({ items: 10, score: 0 });
  });

  it.each(ODD)('scores that are all %s are an environment that has failed, not a score of 0', async (_name, odd) => {
    const world = { rollout: () => ({ hard: 0, soft: odd }) };
    const failed = { code: 'ENV_FAILED', message: expect.stringContaining('rolloutOne gave an unusable result') };
    expect((await train(world, config)).error).toMatchObject(failed);
    await expect(calibrated(world, config)).rejects.toMatchObject(failed);
  });

  it('one such score of a batch that is rolled out at once fails its own task alone', async () => {
    const env: SkillEnv<Task> = {
      ...envOf({ rollout: () => scored(0) }),
      rolloutMany: async ({ items, skill }) =>
        items.map(({ k }) => (k === 0 ? { hard: 1, soft: Number.NaN } : scored(Number(levelOf(skill) >= k)))),
    };
    const run = await train({ env, rollout: () => scored(0) }, config);
    expect(run.summary).toMatchObject({ isDone: true, baselineTestHard: 0, testHard: 0.9 });
    const [result] = JSON.parse(run.store.views['baseline_selection_eval/results.json']!);
    expect(result.fail_reason).toContain('rolloutMany gave an unusable result');
    expectPlainFigures(run);
  });

  it('a judge that always fails stops the run before anything is scored', async () => {
    const rollout: Rollout = async ({ id }, level, judge) =>
      judgedOutput(await judgeAnswer({ judge, question: id, answer: `${level}`, rubric: 'High.' }));
    const world = { rollout, judge: scripted('judge', () => 'No.') };
    const run = await train(world, config);
    const problem = { code: 'MODEL_REPLY_INVALID', message: expect.stringContaining('10 of 10 tasks got no score') };
    expect(run.error).toMatchObject({ ...problem, hint: expect.stringContaining('another judge model') });
    expect(run.events.map(({ type }) => type)).toEqual(['run-start']);
    await expect(calibrated(world, config)).rejects.toMatchObject(problem);
  });

  it('a judge that fails for a candidate alone makes that step invalid, and the report says so', async () => {
    const rollout: Rollout = async ({ id }, level, judge) =>
      judgedOutput(await judgeAnswer({ judge, question: id, answer: `level ${level}`, rubric: 'High.' }));
    const judge = scripted('judge', ({ messages }) =>
      messages[1]!.content.includes('level 9') ? 'No.' : '{"score": 0}',
    );
    const run = await train({ rollout, judge }, config);
    expect(run.summary).toMatchObject({ isDone: true, totalAccepts: 0, bestOrigin: 'initial' });
    expect(expectPlainFigures(run)).toMatch(/step 1 could not be measured: \d+ of 10 items gave no result/);
  });
});
