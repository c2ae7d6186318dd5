import type { SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/public/models.ts';
import { appends, byLevel, ofStage, ofType, type Script, scriptedRun } from '../../support/scripted-run.ts';

const config: SkillOptConfigInput = { numEpochs: 1, batchSize: 10, minibatchSize: 10, lrScheduler: 'constant' };
const words = (count: number) => 'word '.repeat(count).trim();

const run = (script: Script, more: SkillOptConfigInput, initialSkill = 'LEVEL=0\n') =>
  scriptedRun({ solves: byLevel, initialSkill, script, config: { ...config, ...more } });

describe('the longest skill', () => {
  it('is the initial one when that is longer than the limit, with a warning', async () => {
    const initialSkill = `LEVEL=0\n\n${words(100)}\n`;
    const size = await countTokens(initialSkill);
    const { summary, facts } = await run({ analyst: () => appends('LEVEL=3') }, { maxSkillTokens: 50 }, initialSkill);
    expect(summary.warnings).toEqual([expect.stringContaining(`has ${size} tokens, more than maxSkillTokens (50)`)]);
    expect(ofStage(facts, 'update')[0], 'nothing may be added').toMatchObject({ nOverCap: 1 });
    const shorter = { patch: { edits: [{ op: 'replace', target: words(20), content: 'LEVEL=3' }] } };
    const { summary: replaced } = await run({ analyst: () => shorter }, { maxSkillTokens: 50 }, initialSkill);
    expect(replaced.totalAccepts, 'what does not make it longer may be done').toBe(1);
  });

  it('costs a candidate its lowest-ranked edits first, before it is measured', async () => {
    const lines = ['LEVEL=2', `LEVEL=3 ${words(20)}`, `LEVEL=4 ${words(60)}`, 'LEVEL=5'];
    const { facts, summary, rollouts } = await run({ analyst: () => appends(...lines) }, { maxSkillTokens: 50 });
    expect(ofStage(facts, 'update')[0]).toMatchObject({ nOverCap: 2, report: [{ index: 1 }, { index: 2 }] });
    expect(summary.bestSkill).toBe(`LEVEL=0\n\nLEVEL=2\n\nLEVEL=3 ${words(20)}\n`);
    const sizes = await Promise.all(rollouts.map(({ skill }) => countTokens(skill)));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
  });

  it('is counted in tokens where bytes do not tell', async () => {
    const skill = `LEVEL=3 ${words(30)}`; // 158 bytes, some forty tokens
    const { facts, summary } = await run({ analyst: () => appends(skill) }, { maxSkillTokens: 50 });
    expect(ofStage(facts, 'update')[0]).not.toHaveProperty('nOverCap');
    expect(summary.bestSkill).toContain(skill);
  });

  it('does not exist in the protocol of the paper', async () => {
    const { summary } = await run({ analyst: () => appends(`LEVEL=3 ${words(5000)}`) }, { preset: 'paper' });
    expect(summary.bestSkill.length).toBeGreaterThan(20_000);
    expect(summary.warnings).toEqual([]);
  });

  it('is 2,000 tokens otherwise', async () => {
    const { facts } = await run({ analyst: () => appends(`LEVEL=3 ${words(5000)}`) }, {});
    expect(ofStage(facts, 'update')[0]).toMatchObject({ nOverCap: 1, candidateSkill: 'LEVEL=0\n' });
    expect(ofType(facts, 'step-end')[0]).toMatchObject({ action: 'skip_no_patches' });
  });
});

describe('a rewrite that is too long', () => {
  const suggestions = ['a', 'b', 'c', 'd'].map((title) => ({ type: 'add', title, instruction: `write ${title}` }));
  const rewriting = (rewrite: Script[string], more: SkillOptConfigInput = {}) =>
    run(
      { analyst: () => ({ patch: { revise_suggestions: suggestions } }), rewrite },
      { skillUpdateMode: 'rewrite_from_suggestions', maxSkillTokens: 40, ...more },
    );

  it('is tried again with half of the suggestions, the most important ones', async () => {
    const { calls, facts, summary } = await rewriting(({ user }) => {
      const asked = user.match(/write [a-d]/g)!;
      return { new_skill: `LEVEL=3 ${asked.map(() => words(12)).join(' ')}` };
    });
    const tries = calls.filter(({ stage }) => stage === 'rewrite').map(({ user }) => user.match(/write [a-d]/g));
    expect(tries).toEqual([
      ['write a', 'write b', 'write c', 'write d'],
      ['write a', 'write b'],
    ]);
    expect(calls.find(({ stage }) => stage === 'rewrite')!.user).toContain('At most 40 tokens');
    expect(ofStage(facts, 'update')[0]).toMatchObject({ nOverCap: 2 });
    expect(summary.bestSkill).toContain('LEVEL=3');
  });

  it('is given up when one suggestion is too much', async () => {
    const { calls, facts } = await rewriting(() => ({ new_skill: `LEVEL=3 ${words(100)}` }));
    expect(calls.filter(({ stage }) => stage === 'rewrite')).toHaveLength(3);
    expect(ofType(facts, 'step-end')[0]).toMatchObject({ action: 'skip_no_rewrite' });
  });

  it('of the whole document gives way to the next candidate that fits', async () => {
    const candidates = [`LEVEL=9 ${words(100)}`, 'LEVEL=3'].map((new_skill) => ({ new_skill }));
    const { summary } = await run(
      { analyst: ({ user }) => ({ patch: { skill_candidates: [candidates[user.includes('train-0') ? 0 : 1]] } }) },
      { skillUpdateMode: 'full_rewrite_minibatch', maxSkillTokens: 40, minibatchSize: 5 },
      '',
    );
    expect(summary.bestSkill).toBe('LEVEL=3\n');
  });
});
