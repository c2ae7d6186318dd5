import { evaluateGate, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import {
  appends,
  type Call,
  levelOf,
  ofStage,
  ofType,
  type Script,
  scriptedRun,
  type Task,
} from '../../support/scripted-run.ts';

// Every expected value here was worked out from the rules of the reference and a run of Python's own `random`.

/** Task k is solved from level k on; guidance can shift the level. */
const shiftOf = (skill: string) => Number([...skill.matchAll(/SHIFT=(-?\d+)/g)].at(-1)?.[1] ?? 0);
const solves = (skill: string, { k }: Task) => levelOf(skill) + shiftOf(skill) >= k;
const idsIn = ({ user }: Call) => [...user.matchAll(/^id: train-(\d+)$/gm)].map(([, k]) => k);

/** Each analyst wants the step's level, and one rule for each task that it has read. */
const proposals = (levels: readonly number[]): Script => ({
  analyst: (call) =>
    appends(`LEVEL=${levels[call.step - 1]}`, ...idsIn(call).map((k) => `rule of step ${call.step} for ${k}`)),
});

const config: SkillOptConfigInput = {
  preset: 'paper',
  numEpochs: 3,
  batchSize: 4,
  minibatchSize: 2,
  mergeBatchSize: 2,
  slowUpdateSamples: 4,
};

type PaperRun = { readonly levels: readonly number[]; readonly script?: Script; readonly config?: SkillOptConfigInput };

const paperRun = ({ levels, script, config: more }: PaperRun) =>
  scriptedRun({
    solves,
    initialSkill: '# Levels\n\nLEVEL=0\n',
    config: { ...config, ...more },
    script: { ...proposals(levels), ...script },
  });

const WHOLE: PaperRun = {
  levels: [3, 3, 2, 5, 5, 6, 8, 8, 4],
  script: {
    slow_update: ({ epoch }) => ({ slow_update_content: epoch === 2 ? 'SHIFT=1' : 'SHIFT=0' }),
    meta_skill: ({ epoch }) => ({ meta_skill_content: `notes of epoch ${epoch}` }),
  },
};

describe('a run of the paper', () => {
  it('has the batches, seeds and budgets of the reference', async () => {
    const { facts } = await paperRun(WHOLE);
    const plan = ofType(facts, 'step-start').map(({ step, epoch, stepInEpoch, seed, editBudget, itemIds }) =>
      [step, epoch, stepInEpoch, seed, editBudget, ...itemIds.map((id) => id.replace('train-', ''))].join(' '),
    );
    expect(plan).toEqual([
      '1 1 1 1043 4 6 4 1 9',
      '2 1 2 1044 4 7 8 0 5',
      '3 1 3 1045 4 2 3',
      '4 2 1 2043 3 1 4 6 9',
      '5 2 2 2044 3 8 0 7 2',
      '6 2 3 2045 2 3 5',
      '7 3 1 3043 2 0 1 6 8',
      '8 3 2 3044 2 4 2 5 9',
      '9 3 3 3045 2 3 7',
    ]);
  });

  it('asks the optimizer for the same things in the same order', async () => {
    const { calls } = await paperRun(WHOLE);
    const asked = calls.map((call) => [call.step, call.prompt, ...(call.stage === 'analyst' ? idsIn(call) : [])]);
    expect(asked.map((words) => words.join(' '))).toEqual([
      '1 analyst_error 6 9',
      '1 analyst_error 4 1',
      '1 merge_failure',
      '1 ranking',
      '2 analyst_error 5 8',
      '2 analyst_error 7',
      '2 analyst_success 0',
      '2 merge_failure',
      '2 merge_final',
      '2 ranking',
      '3 analyst_success 2 3',
      '4 analyst_error 9 4',
      '4 analyst_error 6',
      '4 analyst_success 1',
      '4 merge_failure',
      '4 merge_final',
      '4 ranking',
      '5 analyst_error 7 8',
      '5 analyst_success 2 0',
      '5 merge_final',
      '5 ranking',
      '6 analyst_success 3 5',
      '6 slow_update',
      '6 meta_skill',
      '7 analyst_error 8',
      '7 analyst_success 6 0',
      '7 analyst_success 1',
      '7 merge_success',
      '7 merge_final',
      '7 ranking',
      '8 analyst_success 2 4',
      '8 analyst_success 9 5',
      '8 merge_success',
      '8 ranking',
      '9 analyst_success 7 3',
      '9 slow_update',
    ]);
  });

  it('decides as the reference would: better is taken, a tie is not', async () => {
    const { facts } = await paperRun(WHOLE);
    const verdicts = ofStage(facts, 'evaluate').map(({ score, action }) => `${score} ${action}`);
    expect(verdicts).toEqual([
      '0.4 accept_new_best',
      '0.4 reject',
      '0.3 reject',
      '0.6 accept_new_best',
      '0.6 reject',
      '0.7 accept_new_best',
      '1 accept_new_best',
      '1 reject',
      '0.6 reject',
    ]);
    expect(ofStage(facts, 'select').map(({ patch }) => patch.edits.length)).toEqual([4, 4, 3, 3, 3, 2, 2, 2, 2]);
  });

  it('writes guidance at epoch ends from the second on, and keeps it only if validation is better', async () => {
    const { facts, summary } = await paperRun(WHOLE);
    const ends = ofType(facts, 'slow-update-end').map(({ epoch, action, score, prevHard, currHard, pairs }) => {
      return { epoch, action, score, prevHard, currHard, pairs: pairs.map(({ id, category }) => `${id} ${category}`) };
    });
    expect(ends).toEqual([
      {
        epoch: 2,
        action: 'accept_new_best',
        score: 0.8,
        prevHard: 0.25,
        currHard: 0.75,
        pairs: ['train-6 improved', 'train-7 persistent_fail', 'train-5 improved', 'train-3 stable_success'],
      },
      {
        epoch: 3,
        action: 'reject',
        score: 0.9,
        prevHard: 0.75,
        currHard: 1,
        pairs: ['train-6 stable_success', 'train-5 stable_success', 'train-9 improved', 'train-4 stable_success'],
      },
    ]);
    expect(shiftOf(summary.bestSkill)).toBe(1);
  });

  it('shows the notes of one epoch to the analysts, merges and rankings of the next, and to nobody before', async () => {
    const { calls } = await paperRun(WHOLE);
    const readers = calls.filter(({ user }) => user.includes('notes of epoch 2'));
    expect(readers.map(({ step, stage }) => `${step} ${stage}`)).toEqual([
      '7 analyst',
      '7 analyst',
      '7 analyst',
      '7 merge',
      '7 merge',
      '7 ranking',
      '8 analyst',
      '8 analyst',
      '8 merge',
      '8 ranking',
      '9 analyst',
    ]);
  });

  it('goes through the same stages in each step, and through the same ends after them', async () => {
    const { facts } = await paperRun(WHOLE);
    const names = facts.map((fact) => (fact.type === 'stage-end' ? fact.stage : fact.type));
    const step = [...['step-start', 'rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate', 'step-end']];
    const epoch = [...step, ...step, ...step];
    expect(names).toEqual([
      ...['run-start', 'baseline-end'],
      ...[...epoch, 'epoch-end'],
      ...[...epoch, 'slow-update-end', 'meta-skill-end', 'epoch-end'],
      ...[...epoch, 'slow-update-end', 'epoch-end'],
      ...['final-selection-end', 'test-look', 'test-end', 'test-end', 'test-end', 'run-end'],
    ]);
  });

  it('tests baseline, best and final, and one text once', async () => {
    const { facts, summary, rollouts } = await paperRun(WHOLE);
    expect(ofType(facts, 'test-end').map(({ subject, evaluation }) => [subject, evaluation.hard])).toEqual([
      ['baseline', 0.1],
      ['best', 1],
      ['final', 1],
    ]);
    expect(rollouts.filter(({ id }) => id.startsWith('test-'))).toHaveLength(20);
    expect(summary).toMatchObject({
      baselineSelectionHard: 0.1,
      bestSelectionHard: 1,
      finalSelectionHard: 1,
      testDeltaHard: 0.9,
      bestStep: 7,
      bestOrigin: 'step_0007',
      currentOrigin: 'step_0007',
      totalAccepts: 4,
      totalRejects: 5,
      totalSkips: 0,
    });
  });
});

describe('the gate', () => {
  it('takes what beats the current skill though not the best, as after forced guidance', async () => {
    const { facts, summary } = await paperRun({
      levels: [3, 3, 2, 5, 5, 6, 8, 9, 3],
      script: { slow_update: ({ epoch }) => ({ slow_update_content: epoch === 2 ? 'SHIFT=-3' : '' }) },
      config: { slowUpdateGate: false },
    });
    expect(ofType(facts, 'slow-update-end').map(({ action, score }) => [action, score])).toEqual([
      ['force_accept', 0.4],
      ['no_content', 0.7],
    ]);
    const late = ofStage(facts, 'evaluate').slice(6);
    expect(late.map(({ score, action }) => `${score} ${action}`)).toEqual(['0.6 accept', '0.7 accept', '0.1 reject']);
    expect(summary).toMatchObject({ bestStep: 6, bestSelectionHard: 0.7, finalSelectionHard: 0.7 });
    expect(ofType(facts, 'final-selection-end')).toMatchObject([{ isPromoted: false, evaluation: null }]);
    expect(summary.finalTestHard, 'final is another text than best, and is tested').toBe(0.7);
    expect([summary.bestOrigin, summary.currentOrigin]).toEqual(['step_0006', 'step_0008']);
  });

  it.each([
    [0.9, 0.5, 0.5, 'accept_new_best'],
    [0.6, 0.4, 0.8, 'accept'],
    [0.8, 0.5, 0.8, 'accept'],
    [0.5, 0.5, 0.5, 'reject'],
    [0.9, 0.95, 0.5, 'accept_new_best'],
    [0.4, 0.95, 0.5, 'reject'],
  ])('says of %f against a current %f and a best %f: %s', (candHard, currentScore, bestScore, action) => {
    const result = evaluateGate({
      ...{ candidateSkill: 'new', currentSkill: 'now', bestSkill: 'best' },
      ...{ candHard, currentScore, bestScore, bestStep: 1, globalStep: 7 },
    });
    expect(result).toMatchObject({ action, bestStep: action === 'accept_new_best' ? 7 : 1 });
  });
});

describe('accumulation', () => {
  const accumulated = (workers = 1) =>
    paperRun({
      levels: [3, 5, 5, 6],
      config: { numEpochs: 2, accumulation: 2, useSlowUpdate: false, useMetaSkill: false, workers },
    });

  it('takes two batches per step, and draws a last empty one again', async () => {
    const { facts } = await accumulated();
    const plan = ofType(facts, 'step-start').map(({ seed, editBudget, itemIds, batches }) => {
      const ids = itemIds.map((id) => id.replace('train-', '')).join(' ');
      return [seed, editBudget, ids, ...(batches ?? []).map((batch) => `${batch.seed}:${batch.size}`)].join(' | ');
    });
    expect(plan).toEqual([
      '1043 | 4 | 6 4 1 9 7 8 0 5 | 1043:4 | 1044:4',
      '1045 | 3 | 2 3 9 8 6 7 | 1045:2 | 1046:4',
      '2043 | 2 | 1 4 6 9 8 0 7 2 | 2043:4 | 2044:4',
      '2045 | 2 | 3 5 2 5 8 1 | 2045:2 | 2046:4',
    ]);
  });

  it('divides each batch by itself into minibatches', async () => {
    const { calls } = await accumulated();
    const read = calls.filter(({ stage }) => stage === 'analyst');
    expect(read.map((call) => [call.step, call.prompt.replace('analyst_', ''), ...idsIn(call)].join(' '))).toEqual([
      ...['1 error 6 9', '1 error 4 1', '1 error 5 8', '1 error 7', '1 success 0'],
      ...['2 success 2 3', '2 error 9 8', '2 error 6 7'],
      ...['3 error 6 9', '3 success 4 1', '3 error 7 8', '3 success 2 0'],
      ...['4 success 3 5', '4 error 8', '4 success 5 2', '4 success 1'],
    ]);
  });

  it('weighs every task alike, whichever batch it is from', async () => {
    const { facts } = await accumulated();
    const hard = ofStage(facts, 'rollout').map(({ evaluation }) => evaluation.hard.toFixed(4));
    expect(hard).toEqual(['0.1250', '0.3333', '0.5000', '0.8333']);
  });

  it('comes to the same with many workers', async () => {
    const [one, many] = [await accumulated(1), await accumulated(7)];
    expect(many.facts.slice(1)).toEqual(one.facts.slice(1));
  });
});

describe('the learning rate', () => {
  const calm: SkillOptConfigInput = { numEpochs: 2, useSlowUpdate: false, useMetaSkill: false };
  const LEVELS = [1, 2, 3, 4, 5, 6];

  it('is what the optimizer says when it has the say: held to what there is, and 0 when it cannot be read', async () => {
    const said: unknown[] = [2.5, 'about -3 edits', true, [4], 99, 'none of them'];
    const { facts, store, calls } = await paperRun({
      levels: LEVELS,
      config: { ...calm, lrControlMode: 'autonomous', editBudget: 3 },
      script: {
        lr_autonomous: ({ step }) => ({ learning_rate: said[step - 1], confidence: 'low', risk_notes: ['x'] }),
      },
    });
    const decisions = ofType(facts, 'lr-decision').map((fact) => [
      fact.learningRate,
      fact.rawLearningRate,
      fact.availableUpdateItems,
      fact.isClamped,
      fact.isFallback,
    ]);
    expect(decisions).toEqual([
      [2, 2, 5, false, false],
      [0, 0, 5, false, false],
      [0, null, 3, false, true],
      [4, 4, 5, false, false],
      [5, 99, 5, true, false],
      [0, null, 3, false, true],
    ]);
    expect(ofStage(facts, 'select').map(({ patch }) => patch.edits.length)).toEqual([2, 0, 0, 4, 5, 0]);
    const rows = store.views['lr_history.jsonl']!.trim().split('\n');
    expect(rows.map((row) => JSON.parse(row).learning_rate)).toEqual([2, 0, 0, 4, 5, 0]);
    expect(JSON.parse(rows[0]!)).toMatchObject({
      step: 1,
      raw_learning_rate: 2,
      confidence: 'low',
      is_fallback: false,
    });
    const told = calls.filter(({ stage }) => stage === 'analyst').map(({ user }) => /At most \d/.exec(user)?.[0]);
    expect(new Set(told), 'analysts may propose what is configured').toEqual(new Set(['At most 3']));
    expect(calls.filter(({ stage }) => stage === 'ranking').map(({ step }) => step)).toEqual([1, 4]);
  });

  it('does not exist without control: nothing is left out and nothing is ranked', async () => {
    const { facts, calls } = await paperRun({ levels: LEVELS, config: { ...calm, lrControlMode: 'none' } });
    expect(ofType(facts, 'step-start').map(({ editBudget }) => editBudget)).toEqual(LEVELS.map(() => null));
    const counts = (stage: 'aggregate' | 'select') => ofStage(facts, stage).map(({ patch }) => patch.edits.length);
    expect(counts('select')).toEqual(counts('aggregate'));
    expect(Math.max(...counts('select'))).toBe(5);
    expect(calls.filter(({ stage }) => stage === 'ranking')).toEqual([]);
    expect(calls[0]!.user).toContain('No limit.');
  });
});

describe('each update mode', () => {
  const short: SkillOptConfigInput = { numEpochs: 1, useSlowUpdate: false, useMetaSkill: false };
  const promptsOf = (calls: readonly Call[], step: number) =>
    calls.filter((call) => call.step === step).map(({ prompt }) => prompt);
  const suggestions = (call: Call) => ({
    patch: {
      revise_suggestions: ['level', ...idsIn(call)].map((title) => ({
        ...{ type: 'add', title: `${title}`, instruction: `write ${title} of step ${call.step}` },
      })),
    },
  });

  it('patch: analysts, merges and ranking speak of edits', async () => {
    const { calls } = await paperRun({ levels: [3, 4, 5], config: short });
    expect(promptsOf(calls, 1)).toEqual(['analyst_error', 'analyst_error', 'merge_failure', 'ranking']);
  });

  it('rewrite_from_suggestions: a writer carries out the suggestions that were chosen', async () => {
    const { calls, facts, summary } = await paperRun({
      levels: [],
      config: { ...short, skillUpdateMode: 'rewrite_from_suggestions' },
      script: {
        analyst: suggestions,
        rewrite: ({ step }) => ({ new_skill: `# Levels\n\nLEVEL=${step + 2}`, change_summary: `step ${step}` }),
      },
    });
    expect(promptsOf(calls, 1)).toEqual([
      ...['analyst_error_rewrite', 'analyst_error_rewrite', 'merge_failure_rewrite', 'ranking_rewrite', 'rewrite'],
    ]);
    expect(promptsOf(calls, 2)).toEqual([
      ...['analyst_error_rewrite', 'analyst_error_rewrite', 'analyst_success_rewrite'],
      ...['merge_failure_rewrite', 'merge_final_rewrite', 'ranking_rewrite', 'rewrite'],
    ]);
    expect(calls.find(({ stage }) => stage === 'rewrite')!.maxOutputTokens).toBe(64_000);
    expect(ofStage(facts, 'update').map(({ changeSummary }) => changeSummary)).toEqual([
      ['step 1'],
      ['step 2'],
      ['step 3'],
    ]);
    expect(summary.bestSkill).toBe('# Levels\n\nLEVEL=5\n');
  });

  it('rewrite_from_suggestions: a suggestion goes through a merge as it came', async () => {
    const { calls, facts } = await paperRun({
      levels: [],
      config: { ...short, skillUpdateMode: 'rewrite_from_suggestions' },
      script: { analyst: suggestions, rewrite: () => ({ new_skill: 'LEVEL=1' }) },
    });
    const merge = calls.find(({ stage }) => stage === 'merge')!;
    expect(merge.user).toMatch(/"type": "add",\s+"title": "level",\s+"instruction": "write level of step 1"/);
    expect(ofStage(facts, 'select')[0]!.patch.edits[0]!.target).toBe('add: level');
  });

  it('full_rewrite_minibatch: no budget, no ranking, and the merged document is the candidate', async () => {
    const { calls, facts, summary } = await paperRun({
      levels: [],
      config: { ...short, skillUpdateMode: 'full_rewrite_minibatch' },
      script: {
        analyst: ({ step, user }) => ({
          patch: { skill_candidates: [{ title: 'a', new_skill: `LEVEL=${step + 2} ${user.length}` }] },
        }),
        merge: ({ step }) => ({ skill_candidates: [{ title: 'b', new_skill: `# Levels\n\nLEVEL=${step + 2}` }] }),
      },
    });
    expect(promptsOf(calls, 1)).toEqual([
      ...['analyst_error_full_rewrite', 'analyst_error_full_rewrite', 'merge_failure_full_rewrite'],
    ]);
    expect(promptsOf(calls, 2)).toEqual([
      ...['analyst_error_full_rewrite', 'analyst_error_full_rewrite', 'analyst_success_full_rewrite'],
      ...['merge_failure_full_rewrite', 'merge_final_full_rewrite'],
    ]);
    expect(calls.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual(calls.map(() => 64_000));
    expect(ofType(facts, 'step-start').map(({ editBudget }) => editBudget)).toEqual([null, null, null]);
    expect(levelOf(summary.bestSkill)).toBe(5);
  });

  it('full_rewrite_minibatch: what a writer says that it changed goes through the merge into the record', async () => {
    const { calls, facts, store } = await paperRun({
      levels: [],
      config: { ...short, skillUpdateMode: 'full_rewrite_minibatch' },
      script: {
        analyst: ({ step, user }) => ({
          patch: { skill_candidates: [{ new_skill: `LEVEL=1 ${user.length}`, change_summary: [`read ${step}`] }] },
        }),
        merge: ({ step }) => ({
          skill_candidates: [
            { new_skill: `LEVEL=${step + 2}`, ...(step === 2 ? {} : { change_summary: `step ${step}` }) },
          ],
        }),
      },
    });
    expect(calls.find(({ stage }) => stage === 'merge')!.user).toMatch(/"change_summary": \[\s+"read 1"\s+\]/);
    const summaries = ofStage(facts, 'update').map(({ changeSummary }) => changeSummary);
    expect(summaries, 'the third step had one analyst and no merge').toEqual([['step 1'], undefined, ['read 3']]);
    const history = JSON.parse(store.views['history.json']!);
    expect(history[0].rewrite_change_summary).toEqual(['step 1']);
    expect(JSON.parse(store.views['steps/step_0003/rewrite_result.json']!)).toEqual({ change_summary: ['read 3'] });
  });

  it('skips a step whose rewriter writes nothing, and counts it', async () => {
    const { facts, summary } = await paperRun({
      levels: [],
      config: { ...short, skillUpdateMode: 'rewrite_from_suggestions' },
      script: { analyst: suggestions, rewrite: () => ({ new_skill: '  ' }) },
    });
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(3).fill('skip_no_rewrite'));
    expect(summary).toMatchObject({ totalSkips: 3, totalRejects: 0, totalAccepts: 0 });
  });
});

describe('failureOnly', () => {
  it('has no successes read', async () => {
    const { calls } = await paperRun({ ...WHOLE, config: { failureOnly: true } });
    const read = calls.filter(({ stage }) => stage === 'analyst' || stage === 'merge');
    expect(new Set(read.map(({ prompt }) => prompt))).toEqual(new Set(['analyst_error', 'merge_failure']));
  });
});
