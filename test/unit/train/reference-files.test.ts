import fc from 'fast-check';
import { computeScore, Edit, type Item, Patch, RolloutResult, type SkillEnv } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { bucketScores } from '../../../src/core/contracts/index.ts';
import { toCamelCase, toSnakeCase } from '../../../src/core/text/index.ts';
import { planItems } from '../../../src/envs/index.ts';
import { planEpoch } from '../../../src/train/plan.ts';
import { expectEvery } from '../../support/expect-every.ts';
import { appends, byLevel, scriptedRun, type Task } from '../../support/scripted-run.ts';

const typed: Partial<SkillEnv<Task>> = {
  getTaskTypes: () => ['dates', 'myMoney'],
  async rolloutOne({ item, skill }) {
    const hard = byLevel(skill, item) ? 1 : 0;
    const kind = ['dates', 'myMoney', ''][item.k % 3]!;
    return {
      hard,
      soft: hard / 2,
      taskType: kind,
      predictedAnswer: 'x',
      question: 'q',
      nTurns: 2,
      extras: { myKey: 1 },
    };
  },
};

const run = () =>
  scriptedRun({
    solves: byLevel,
    hooks: typed,
    script: {
      analyst: ({ step }) => appends(`LEVEL=${step}`),
      merge: ({ step }) => appends(`LEVEL=${step}`, `LEVEL=${step + 1}`, 'and <!-- this -->').patch,
      ranking: () => ({ selected_indices: [1, 2], reasoning: 'best first' }),
      slow_update: () => ({ slow_update_content: 'look twice', reasoning: 'seen' }),
      meta_skill: () => ({ meta_skill_content: 'levels help' }),
    },
    config: {
      ...{ numEpochs: 3, batchSize: 10, minibatchSize: 5, editBudget: 2, minEditBudget: 2, failureOnly: true },
      ...{ useSlowUpdate: true, useMetaSkill: true, slowUpdateSamples: 4, slowUpdateGate: false },
    },
  });

const { store } = await run();
const read = (file: string) => JSON.parse(store.views[file]!);

describe('files that are read by their names in the reference', () => {
  it('buckets.json has sums by type, and the means beside them', () => {
    const buckets = read('test_eval_best/buckets.json');
    expect(Object.keys(buckets).sort()).toEqual(['dates', 'myMoney', 'other', 'overall']);
    const { total, hard, soft, mean_hard, mean_soft } = buckets.overall;
    expect({ total, hard, soft }).toEqual({ total: 10, hard: 10 * mean_hard, soft: 10 * mean_soft });
    expect(hard).toBe(buckets.dates.hard + buckets.myMoney.hard + buckets.other.hard);
    expect(buckets.other.total).toBe(3);
  });

  it('step records say what was applied, by which metric, and how long each stage took in seconds', () => {
    const counts = { total: 2, applied: 1, skipped: 1, errors: 0 };
    const stages = ['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate'];
    for (const record of [read('steps/step_0001/step_record.json'), read('history.json')[0]]) {
      expect(record).toMatchObject({ apply_report: counts, edit_apply_summary: counts, gate_metric: 'hard' });
      expect(record).toMatchObject({ lr_control_mode: 'fixed', candidate_gate_score: 0.3, edit_budget: 2 });
      expect(Object.keys(record.timing)).toEqual(stages.map((stage) => `${stage}_s`));
      expect(Object.keys(record.timing_ms)).toEqual(stages);
      expect(Math.abs(record.timing.rollout_s * 1000 - record.timing_ms.rollout)).toBeLessThanOrEqual(5);
      const { calls, prompt_tokens, completion_tokens, input, output } = record.tokens.analyst;
      expect([calls, prompt_tokens, completion_tokens]).toEqual([2, input, output]);
    }
  });

  it('runtime_state.json names the files of both skills', () => {
    const { current_skill_path, best_skill_path } = read('runtime_state.json');
    expect([current_skill_path, best_skill_path].map((path) => path.split('/').at(-1))).toEqual([
      ...['current_skill.md', 'best_skill.md'],
    ]);
  });

  it('slow_result.json and its companions have all of their fields', () => {
    expect(read('slow_update/epoch_02/slow_result.json')).toMatchObject({
      ...{ reasoning: 'seen', slow_update_content: 'look twice', action: 'force_accept' },
      ...{ time_s: expect.any(Number), prev_hard: expect.any(Number), curr_hard: expect.any(Number) },
      ...{ candidate_hash: expect.any(String), update_origin: expect.any(String), update_target: expect.any(String) },
      ...{ selection_hard: expect.any(Number), selection_soft: expect.any(Number) },
    });
    const [pair] = read('slow_update/epoch_02/comparison_pairs.json');
    const side = { hard: expect.any(Number), soft: expect.any(Number), predicted_answer: 'x', fail_reason: '' };
    expect(pair).toMatchObject({ task: 'q', category: expect.any(String), prev: side, curr: side });
    expect(read('meta_skill/epoch_02/meta_skill_result.json')).toMatchObject({ time_s: expect.any(Number) });
    expect(read('summary.json')).toMatchObject({
      wall_time_s: expect.any(Number),
      total_wall_time_s: expect.any(Number),
    });
  });
});

describe('what is written is read back', () => {
  const names = Object.keys(store.views);
  const written = (pattern: RegExp) =>
    names.filter((name) => pattern.test(name)).map((name) => [name, read(name)] as const);
  const roundTrip = (parsed: unknown) => JSON.parse(JSON.stringify(toSnakeCase(parsed)));

  it.each(written(/(merged|ranked)_patch\.json$/))('%s', (_, json) => {
    const patch = Patch.parse(json);
    expect(roundTrip(patch)).toEqual(json);
    expectEvery(patch.edits, ({ sourceType, supportCount }) => sourceType && supportCount);
  });

  it.each(written(/(rollout_results|results)\.json$/))('%s', (_, json) => {
    const results = json.map((row: unknown) => RolloutResult.parse(row));
    expect(roundTrip(results)).toEqual(json);
    expect(results[0]).toMatchObject({ predictedAnswer: 'x', nTurns: 2, extras: { myKey: 1 } });
  });

  it.each(written(/raw_patches\.json$/))('%s', (_, json) => {
    for (const { patch } of json) expect(roundTrip(Patch.parse(patch))).toEqual(patch);
  });

  it('a ranking keeps what it was', () => {
    const { rankingDetails } = Patch.parse(read('steps/step_0001/ranked_patch.json'));
    expect(rankingDetails).toEqual({ selectedIndices: [1, 2], reasoning: 'best first' });
  });

  it('an edit in either spelling', () => {
    const edit = { op: 'append', content: 'a', target: '', supportCount: 2, mergeLevel: 1, updateOrigin: 'x' } as const;
    expect([Edit.parse(edit), Edit.parse(toSnakeCase(edit))]).toEqual([edit, edit]);
    expect(toCamelCase(toSnakeCase(edit))).toEqual(edit);
  });
});

describe('what is missing', () => {
  it('is nothing: no edits, and a score of 0', () => {
    expect(Patch.parse({})).toEqual({ edits: [], reasoning: '' });
    expect(computeScore([{ hard: 1 }, {}])).toEqual([0.5, 0]);
  });

  it('never makes a score that is no number', () => {
    const loose = fc.record({ hard: fc.anything(), soft: fc.anything(), errored: fc.anything() }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(fc.oneof(loose, fc.anything())), (results) => {
        for (const score of computeScore(results as never)) expect(Number.isFinite(score)).toBe(true);
      }),
    );
  });
});

describe('items without a type', () => {
  const item = (taskType?: string) => ({ id: 'a', hard: 1, soft: 1, ...(taskType === undefined ? {} : { taskType }) });

  it('are counted as other where there are types, and nowhere else', () => {
    expect(Object.keys(bucketScores([item('dates'), item(), item('')]))).toEqual(['dates', 'other', 'overall']);
    expect(bucketScores([item()], ['dates']).other).toEqual({ total: 1, hard: 1, soft: 1 });
    expect(Object.keys(bucketScores([item(), item('')]))).toEqual(['overall']);
    expect(Object.keys(bucketScores([item('dates')], ['dates']))).toEqual(['dates', 'overall']);
  });
});

describe('accumulation_batches of a step record', () => {
  const batchesOf = async (accumulation: number) => {
    const { store } = await scriptedRun({
      solves: (_, { k }) => k < 4,
      script: { analyst: () => appends('LEVEL=1') },
      config: { numEpochs: 1, batchSize: 5, minibatchSize: 5, accumulation, seed: 42 },
    });
    return JSON.parse(store.views['steps/step_0001/step_record.json']!);
  };

  it('has what each batch scored', async () => {
    const { accumulation_batches: batches, rollout_hard } = await batchesOf(2);
    expect(batches.map((batch: object) => Object.keys(batch))).toEqual([SCORED, SCORED]);
    expect(batches.map((batch: { batch_idx: number }) => batch.batch_idx)).toEqual([0, 1]);
    expect(batches[1].batch_seed).toBe(batches[0].batch_seed + 1);
    expect((batches[0].hard + batches[1].hard) / 2).toBeCloseTo(rollout_hard);
  });

  it('is the whole step where there is one', async () => {
    const record = await batchesOf(1);
    expect(record.accumulation_batches).toHaveLength(1);
    const { rollout_hard: hard, n_failure_patches, n_success_patches } = record;
    expect(record.accumulation_batches[0]).toMatchObject({ n_envs: 5, hard, n_failure_patches, n_success_patches });
  });

  const SCORED = ['batch_idx', 'batch_seed', 'n_envs', 'hard', 'soft'];
});

describe('a batch that accumulation lacks', () => {
  it("is drawn from the epoch's order, not from the file's", () => {
    const items: Item[] = ['0', '1', '2'].map((id) => ({ id }));
    const config = { batchSize: 4, accumulation: 2, seed: 42, numEpochs: 1, proposalsPerBatch: 1 } as never;
    const batches = planEpoch(1, { config, items: { train: items } }).groups.flat();
    expect(batches.map((batch) => batch.items.map(({ id }) => id).join(''))).toEqual(['120', '021']);
    const planned = planItems(items, { epoch: 1, batches: 2, batchSize: 4, seed: 42 });
    expect(planned.map((batch) => batch.items.map(({ id }) => id).join(''))).toEqual(['120', '021']);
  });
});
