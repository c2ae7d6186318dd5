import type { SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { MARKERS } from '../../../../src/core/document/index.ts';
import { countTokens } from '../../../../src/public/models.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';

/** Task k needs GOODk in the skill, and BAD spoils everything. */
const solves = (skill: string, { k }: Task) => skill.includes(`GOOD${k}`) && !skill.includes('BAD');
const sizes = { train: 4, val: 4, test: 4 };
const config: SkillOptConfigInput = { numEpochs: 1, batchSize: 4, minibatchSize: 4, lrScheduler: 'constant' };

const run = (script: Script, more: SkillOptConfigInput, options: { readonly initialSkill?: string } = {}) =>
  scriptedRun({ solves, sizes, script, config: { ...config, ...more }, ...options });

const propose = (...lines: string[]): Script => ({ analyst: () => appends(...lines) });

describe('salvage', () => {
  const mixed = propose('GOOD0', 'BAD', 'GOOD1', 'GOOD2');

  it('saves the good edits that a bad one would have buried', async () => {
    const { facts, summary, store } = await run(mixed, { salvage: true });
    expect(ofType(facts, 'salvage-end')[0]).toMatchObject({
      tries: [
        { edits: [0, 1], score: 0 },
        { edits: [2, 3], score: 0.5 },
      ],
      accepted: { edits: [2, 3], score: 0.5, action: 'accept_new_best' },
    });
    expect(ofType(facts, 'step-end')).toMatchObject([{ action: 'accept_new_best' }]);
    expect(summary.bestSkill).toBe('# Skill\n\nGOOD1\n\nGOOD2\n');
    const [record] = JSON.parse(store.views['history.json']!);
    expect(record).toMatchObject({ salvaged_edits: [2, 3], selection_hard: 0.5, best_score: 0.5, best_step: 1 });
  });

  it('halves what is left when no half is good', async () => {
    const { facts } = await run(propose('GOOD0', 'BAD', 'BAD too', 'GOOD1'), { salvage: true, salvageRollouts: 100 });
    expect(ofType(facts, 'salvage-end')[0]!.tries.map(({ edits }) => edits)).toEqual([[0, 1], [2, 3], [0]]);
    expect(ofType(facts, 'salvage-end')[0]!.accepted).toMatchObject({ edits: [0], score: 0.25 });
  });

  it.each([
    [0, 2],
    [3, 0],
    [4, 1],
    [11, 2],
    [12, 3],
    [100, 6],
  ])('keeps to its budget of %i rollouts: %i tries', async (salvageRollouts, tries) => {
    const hopeless = propose('BAD 1', 'BAD 2', 'BAD 3', 'BAD 4');
    const { facts, rollouts } = await run(hopeless, { salvage: true, salvageRollouts, evalTest: false });
    expect(ofType(facts, 'salvage-end')[0]).toMatchObject({ accepted: null });
    expect(ofType(facts, 'salvage-end')[0]!.tries).toHaveLength(tries);
    const measured = rollouts.filter(({ id }) => id.startsWith('val-')).length;
    expect(measured, 'the baseline, the candidate, and the tries').toBe(4 * (2 + tries));
    expect(ofType(facts, 'step-end')).toMatchObject([{ action: 'reject' }]);
  });

  it('is not tried for one edit, for an accepted patch, or when it is off', async () => {
    const single = await run(propose('BAD'), { salvage: true });
    const accepted = await run(propose('GOOD0', 'GOOD1'), { salvage: true });
    const off = await run(mixed, {});
    for (const { facts } of [single, accepted, off]) expect(ofType(facts, 'salvage-end')).toEqual([]);
    expect(off.summary.totalRejects).toBe(1);
  });

  it('tells later steps only of the edits that were not saved', async () => {
    const { calls } = await run(
      { analyst: ({ step }) => (step === 1 ? appends('GOOD0', 'BAD', 'GOOD1', 'GOOD2') : appends(`words ${step}`)) },
      { salvage: true, batchSize: 2 },
    );
    const { user } = calls.find(({ step, stage }) => step === 2 && stage === 'analyst')!;
    expect(user).toContain('{"op":"append","content":"BAD"}');
    expect(user).not.toContain('{"op":"append","content":"GOOD2"}');
    expect(user, 'with the score of the whole').toContain('rejected, score 0.0000 before, 0.0000 with these');
  });

  it('saves no part that is longer than a skill may be', async () => {
    const long = `GOOD3 ${'word '.repeat(100)}`;
    const { summary, facts } = await run(propose('GOOD0', 'BAD', 'GOOD1', long), { salvage: true, maxSkillTokens: 50 });
    expect(await countTokens(summary.bestSkill)).toBeLessThanOrEqual(50);
    expectEvery(ofType(facts, 'salvage-end')[0]!.tries, ({ edits }) => !edits.includes(3));
  });
});

describe('prune', () => {
  it('takes out what does not help, keeps what does, and tests the shorter skill', async () => {
    const { facts, summary, store } = await run(propose('GOOD0', 'idle words', 'GOOD1'), { prune: true });
    expect(ofType(facts, 'prune-end')[0]).toMatchObject({ removed: ['idle words'], tries: 3, score: 0.5 });
    expect(summary.bestSkill).toBe('# Skill\n\nGOOD0\n\nGOOD1\n');
    expect(store.views['best_skill.md']).toBe(summary.bestSkill);
    expect(summary).toMatchObject({ bestSelectionHard: 0.5, testHard: 0.5, bestOrigin: 'prune' });
  });

  it('takes out one of two that say the same, but not both', async () => {
    const twice = propose('GOOD0 said so', 'GOOD0 said otherwise');
    const { facts, summary } = await run(twice, { prune: true });
    expect(ofType(facts, 'prune-end')[0]!.removed).toEqual(['GOOD0 said so']);
    expect(summary.bestSkill).toBe('# Skill\n\nGOOD0 said otherwise\n');
  });

  it('leaves text alone that no edit wrote', async () => {
    const initialSkill = '# Skill\n\nidle words by hand\n';
    const { summary } = await run(propose('GOOD0', 'idle words'), { prune: true }, { initialSkill });
    expect(summary.bestSkill).toContain('idle words by hand\n');
  });

  it('never takes out protected text', async () => {
    const script: Script = {
      analyst: ({ step }) =>
        step === 1
          ? appends('GOOD0', 'idle words')
          : { patch: { edits: [{ op: 'replace', target: 'idle words', content: 'GOOD1' }] } },
      slow_update: () => ({ slow_update_content: 'idle words\nGOOD2' }),
    };
    const { facts, summary } = await run(script, { prune: true, numEpochs: 2, useSlowUpdate: true });
    expect(ofType(facts, 'prune-end')[0]!.removed).toEqual([]);
    expect(summary.bestSkill).toContain(`${MARKERS.slowUpdate.start}\nidle words\nGOOD2\n${MARKERS.slowUpdate.end}`);
  });

  it('prunes what was salvaged, and not what was left behind', async () => {
    const { facts, summary } = await run(propose('idle words', 'GOOD1', 'BAD', 'GOOD2'), {
      salvage: true,
      prune: true,
    });
    expect(ofType(facts, 'prune-end')[0]).toMatchObject({ removed: ['idle words'], tries: 2 });
    expect(summary.bestSkill).toBe('# Skill\n\nGOOD1\n');
  });

  it('does not happen when it is off', async () => {
    const { facts } = await run(propose('GOOD0', 'idle words'), {});
    expect(ofType(facts, 'prune-end')).toEqual([]);
  });
});
