import { memoryRun, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

/** `GAIN` solves tasks 0 to 5. What stands before it is solved without: 6 to 11. `BREAK=9` takes task 9 away again. */
const solves = (skill: string, { k }: Task) =>
  k < 6 ? skill.includes('GAIN') : !skill.includes(`BREAK=${k} `) && !skill.includes(`BREAK=${k}\n`);

type World = Partial<Parameters<typeof scriptedRun>[0]>;
type Hooks = NonNullable<World['hooks']>;

const run = (edit: string, config: SkillOptConfigInput, store = memoryRun(), world: World = {}) =>
  scriptedRun({
    solves,
    sizes: { train: 3, val: 12, test: 0 },
    script: { analyst: () => appends(edit) },
    config: { gate: 'paired', numEpochs: 1, batchSize: 3, evalTest: false, ...config },
    store,
    ...world,
  });

const outcome = async (edit: string, config: SkillOptConfigInput) => {
  const { facts } = await run(edit, config);
  const { decision } = ofStage(facts, 'evaluate')[0]!;
  return { ...decision!, action: ofType(facts, 'step-end')[0]!.action };
};

describe('the regression veto', () => {
  it('stops a better candidate that surely lost several tasks, and names them', async () => {
    const edit = 'GAIN BREAK=6 BREAK=7 BREAK=9 BREAK=10 ';
    expect(await outcome(edit, {})).toMatchObject({ verdict: 'accept', action: 'accept_new_best' });
    const stopped = await outcome(edit, { regressionVeto: true });
    expect(stopped).toMatchObject({ verdict: 'reject', action: 'reject' });
    const flips = stopped.regressions.items.length;
    expect(stopped.reason).toMatch(new RegExp(`^${flips} of ${flips} flips stood up to re-rolls: `));
    expect([...stopped.veto!.regressions].sort()).toEqual([...stopped.regressions.items].sort());
    const rerolled = [...stopped.regressions.items].sort().flatMap((id) => [id, id, id]);
    expect(stopped.veto!.incumbent.map(({ id }) => id).sort()).toEqual(rerolled);
    expectEvery(stopped.veto!.candidate, ({ hard }) => hard === 0);
    expect(stopped.gains.items.length, 'apart, whatever the veto says').toBeGreaterThan(flips);
  });

  it('also stops one that is so much better that a first look would do', async () => {
    const stopped = await outcome('GAIN BREAK=7 BREAK=9 ', { regressionVeto: true });
    expect(stopped).toMatchObject({ verdict: 'reject', action: 'reject' });
    expect([...stopped.veto!.regressions].sort()).toEqual(['val-7', 'val-9']);
  });

  it('lets one lost task pass, unless it is protected', async () => {
    const edit = 'GAIN BREAK=7 ';
    expect(await outcome(edit, { regressionVeto: true })).toMatchObject({ verdict: 'accept' });
    expect(await outcome(edit, { protectedItems: ['val-9'] })).toMatchObject({ verdict: 'accept' });
    const stopped = await outcome(edit, { protectedItems: ['val-7'] });
    expect(stopped).toMatchObject({ verdict: 'reject', veto: { regressions: ['val-7'] } });
    expect(stopped.veto!.candidate).toHaveLength(5);
  });

  it('stops a candidate that loses a protected task whose scores are grades', async () => {
    const graded = (skill: string, { k }: Task) => {
      if (k < 6) return skill.includes('GAIN') ? 0.9 : 0.1;
      return skill.includes('BREAK') && k === 9 ? 0.2 : 0.9;
    };
    const verdictOn = async (edit: string, gateMetric: 'hard' | 'soft') => {
      const config = { gateMetric, protectedItems: ['val-9'] };
      return ofStage((await run(edit, config, memoryRun(), { solves: graded })).facts, 'evaluate')[0]!.decision!;
    };
    for (const metric of ['hard', 'soft'] as const) {
      expect(await verdictOn('GAIN', metric)).toMatchObject({ verdict: 'accept' });
      expect(await verdictOn('GAIN BREAK', metric)).toMatchObject({
        verdict: 'reject',
        reason: '1 of 1 flips stood up to re-rolls: val-9',
      });
    }
  });

  it.each([
    [9, 'reject'],
    [10, 'accept'],
  ] as const)('lets no protected task (val-9) pass that got no result (val-%i): %s', async (place, verdict) => {
    const hooks: Hooks = {
      async rolloutOne({ item, skill }) {
        const hard = Number(solves(skill, item));
        const isLost = skill.includes('GAIN') && item.k === place;
        return isLost ? { hard: 0, soft: 0, unjudged: true, failReason: 'no judgement' } : { hard, soft: hard };
      },
    };
    const { facts } = await run('GAIN', { proposalsPerBatch: 2, protectedItems: ['val-9'] }, memoryRun(), { hooks });
    const { decision } = ofStage(facts, 'evaluate').find(({ evaluation }) => evaluation)!;
    expect(decision).toMatchObject({ verdict });
    expect(decision!.veto?.regressions).toEqual(verdict === 'reject' ? ['val-9'] : undefined);
  });

  it('asks about nothing when nothing seems lost', async () => {
    expect(await outcome('GAIN', { regressionVeto: true })).not.toHaveProperty('veto');
  });

  it('keeps what was rolled out for it: the draws of either side go on from there', async () => {
    const { facts, store } = await run('GAIN BREAK=7 BREAK=9 ', { regressionVeto: true, proposalsPerBatch: 2 });
    const { config: _config, ...start } = ofType(facts, 'run-start')[0]!;
    expect(start.totalSteps).toBe(2);
    for (let cut = 1; cut < store.events.length; cut++) {
      const again = await run(
        'GAIN BREAK=7 BREAK=9 ',
        { regressionVeto: true, proposalsPerBatch: 2 },
        memoryRun(store.events.slice(0, cut)),
      );
      expect(again.facts, `cut after event ${cut}`).toEqual(facts);
    }
  });

  it('protects only what is there, and needs the gate that knows noise', async () => {
    await expect(run('GAIN', { protectedItems: ['val-99'] })).rejects.toThrow(
      'protectedItems names val-99, which the val split does not have',
    );
    await expect(run('GAIN', { gate: 'strict', regressionVeto: true })).rejects.toThrow(
      'regressionVeto: needs gate: paired, got strict',
    );
    await expect(run('GAIN', { gate: 'strict', protectedItems: ['val-1'] })).rejects.toThrow('needs gate: paired');
  });
});
