import { describe, expect, it } from 'vitest';
import { parseConfig, type SkillEnv, type SkillOptConfigInput } from '../../../src/core/contracts/index.ts';
import { emptyRun, type RunState } from '../../../src/core/run/index.ts';
import { skillHash } from '../../../src/core/text/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { createStageDeps, evaluateCandidate, gateScore, scoreSkill, updateSkill } from '../../../src/pipeline/index.ts';
import { STRICT } from '../../support/strict-gate.ts';

const items = [{ id: 'a' }, { id: 'b' }];
const scoredAs = (skill: string, score: number, step = 0) => ({
  skill,
  hash: skillHash(skill),
  score,
  step,
  origin: 'test',
});
const stateOf = (current: number, best = current): RunState => {
  return { ...emptyRun, current: scoredAs('current', current), best: scoredAs('best', best), stepsDone: 4 };
};
const appending = (...contents: string[]) => ({
  reasoning: '',
  edits: contents.map((content) => ({ op: 'append' as const, target: '', content })),
});

/** Evaluates what `patch` makes of the current skill, in an environment where every item scores `hard` and `soft`. */
async function evaluate(
  state: RunState,
  patch = appending('new'),
  more: { hard?: number; soft?: number; config?: SkillOptConfigInput } = {},
) {
  const { hard = 0.5, soft = 0.5, config } = more;
  const measured: string[] = [];
  const env: SkillEnv = {
    name: 'env',
    getItems: () => items,
    rolloutOne: async ({ item, skill }) => {
      measured.push(`${item.id}: ${skill}`);
      return { hard, soft, taskType: 'qa' };
    },
  };
  const model = scripted('model', () => '');
  const deps = createStageDeps({ target: model, optimizer: model });
  const candidate = await updateSkill({ skill: state.current.skill, patch }, deps);
  const verdict = await evaluateCandidate(
    { env, candidate, state, items, config: parseConfig({ ...STRICT, ...config }) },
    deps,
  );
  return { verdict, measured, candidate };
}

describe('evaluateCandidate', () => {
  it('measures the candidate on every item and lets the gate decide', async () => {
    const { verdict, measured } = await evaluate(stateOf(0.25), undefined, { hard: 0.5, soft: 1 });
    expect(measured).toEqual(['a: current\n\nnew\n', 'b: current\n\nnew\n']);
    expect(verdict).toEqual({
      evaluation: {
        hard: 0.5,
        soft: 1,
        scores: items.map(({ id }) => ({ id, hard: 0.5, soft: 1, taskType: 'qa' })),
      },
      score: 0.5,
      action: 'accept_new_best',
      results: items.map(({ id }) => ({ id, hard: 0.5, soft: 1, taskType: 'qa' })),
    });
  });

  it.each([
    [0.25, 0.75, 'accept'],
    [0.5, 0.75, 'reject'],
    [0.75, 0.25, 'accept_new_best'],
  ])('0.5 against current %d and best %d is %s', async (current, best, action) => {
    expect((await evaluate(stateOf(current, best))).verdict.action).toBe(action);
  });

  it('asks the gate about the metric of the run', async () => {
    const config = { gateMetric: 'mixed' as const, gateMixedWeight: 0.25 };
    const { verdict } = await evaluate(stateOf(0.5), undefined, { hard: 0.5, soft: 1, config });
    expect([verdict.score, verdict.action]).toEqual([0.625, 'accept_new_best']);
  });

  it('weakness 31: never measures an unchanged candidate', async () => {
    const { verdict, measured } = await evaluate(stateOf(0.25), appending(''));
    expect(verdict).toEqual({ evaluation: null, score: 0.25, action: 'unchanged', results: [] });
    expect(measured).toEqual([]);
  });

  it('says when there was nothing to apply', async () => {
    const { verdict, measured } = await evaluate(stateOf(0.25), appending());
    expect(verdict).toEqual({ evaluation: null, score: 0.25, action: 'skip_no_patches', results: [] });
    expect(measured).toEqual([]);
  });

  it('never measures a text again that it knows, and judges it by what is known', async () => {
    const { candidate } = await evaluate(stateOf(0.25));
    const evaluations = [{ hash: candidate.candidateHash, hard: 0.125, soft: 1 }];
    const { verdict, measured } = await evaluate({ ...stateOf(0.25), evaluations });
    expect(verdict).toEqual({ evaluation: null, score: 0.125, action: 'reject', results: [] });
    expect(measured).toEqual([]);
  });
});

describe('scoreSkill and gateScore', () => {
  it('score a document by itself', async () => {
    const model = scripted('model', () => '');
    const env: SkillEnv = { name: 'e', getItems: () => [], rolloutOne: async () => ({ hard: 1, soft: 0.5 }) };
    const { evaluation } = await scoreSkill(
      { env, skill: '', items },
      createStageDeps({ target: model, optimizer: model }),
    );
    expect(evaluation).toMatchObject({ hard: 1, soft: 0.5 });
    expect(gateScore(evaluation, { gateMetric: 'mixed', gateMixedWeight: 0.5 })).toBe(0.75);
  });
});

describe('updateSkill', () => {
  it('gives the candidate, its name, and a row per edit', async () => {
    const model = scripted('model', () => '');
    const deps = createStageDeps({ target: model, optimizer: model });
    expect(await updateSkill({ skill: '# S\n', patch: appending('a', '') }, deps)).toMatchObject({
      candidateSkill: '# S\n\na\n',
      candidateHash: skillHash('# S\n\na\n'),
      report: [{ status: 'applied_append' }, { status: 'skipped_empty_content' }],
    });
  });
});
