import type { RolloutResult, SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { clipTrajectories } from '../../../src/pipeline/reflect/trajectory.ts';
import { countTokens } from '../../../src/public/models.ts';
import { appends, byLevel, ofType, type Script, scriptedRun, type Task } from '../../support/scripted-run.ts';
import { EPOCH_ENDS } from '../../support/strict-gate.ts';

const CHARACTERS = { countTokens: (text: string) => text.length };

const result = (id: string, length: number): RolloutResult => {
  const content = length === 0 ? '' : `HEAD ${'x'.repeat(length)} TAIL`;
  return { id, hard: 0, soft: 0, ...(content ? { conversation: [{ role: 'user', content }] } : {}) };
};

describe('clipTrajectories', () => {
  it('leaves what fits together as it is', async () => {
    const { texts, clippedCount } = await clipTrajectories([result('a', 100), result('b', 100)], 10_000, CHARACTERS);
    expect(clippedCount).toBe(0);
    expect(texts.join('')).not.toContain('left out');
  });

  it('counts no tokens when there cannot be more than fit, and says the same', async () => {
    const results = [result('a', 100), { ...result('b', 0), question: 'Wie heißt 京都?' }];
    const whole = await clipTrajectories(results, 10_000, CHARACTERS);
    const uncounted = { countTokens: () => expect.unreachable('nobody needs to know') };
    expect(await clipTrajectories(results, 10_000, uncounted)).toEqual(whole);
    const bytes = Buffer.byteLength(whole.texts.join(''));
    const counts: number[] = [];
    const counting = { countTokens: (text: string) => counts.push(text.length) };
    await clipTrajectories(results, bytes - 1, counting);
    expect(counts).toHaveLength(2);
  });

  it('keeps short ones whole and shares the rest equally among the long ones, by head and tail', async () => {
    const results = [result('long', 8000), result('short', 50), result('longer', 11_000)];
    const { texts, clippedCount } = await clipTrajectories(results, 6_000, CHARACTERS);
    expect(clippedCount).toBe(2);
    expect(texts[1]).not.toContain('left out');
    for (const text of [texts[0]!, texts[2]!]) {
      expect(text).toMatch(/HEAD x+\n\[… \d+ characters left out …\]\nx+ TAIL/);
    }
    const [long, longer] = [texts[0]!.length, texts[2]!.length];
    expect(Math.abs(long - longer)).toBeLessThan(100);
    expect(long + longer + texts[1]!.length).toBeLessThan(6_000 + 2 * 100);
  });

  it('gives what a middle one does not need to the longest', async () => {
    const results = [result('small', 100), result('middle', 2000), result('large', 9000)];
    const { texts, clippedCount } = await clipTrajectories(results, 6_000, CHARACTERS);
    expect(clippedCount).toBe(1);
    expect(texts[2]!.length).toBeGreaterThan(3_000);
  });

  it('counts a conversation that is cut because it alone is very long', async () => {
    const { texts, clippedCount } = await clipTrajectories([result('a', 50_000)], 1_000_000, CHARACTERS);
    expect(texts[0]).toContain('left out');
    expect(clippedCount).toBe(1);
  });

  it('bears that there is no room at all', async () => {
    const { texts } = await clipTrajectories([result('a', 500), result('b', 500)], -5, CHARACTERS);
    expect(texts.join('').length).toBeLessThan(300);
  });
});

describe('a run with long trajectories', () => {
  const talk = Array.from({ length: 40 }, (_, turn) => ({
    role: 'agent',
    content: `turn ${turn} ${'word '.repeat(50)}`,
  }));
  const hooks = {
    async rolloutOne({ item, skill }: { item: Task; skill: string }) {
      return { hard: byLevel(skill, item) ? 1 : 0, soft: 0, conversation: talk };
    },
  };
  const script: Script = { analyst: ({ step }) => appends(`LEVEL=${step}`) };
  const run = (config: SkillOptConfigInput) =>
    scriptedRun({
      solves: byLevel,
      hooks,
      script,
      config: { ...EPOCH_ENDS, numEpochs: 3, batchSize: 10, minibatchSize: 5, slowUpdateSamples: 10, ...config },
    });

  it('says in the record of a step how many were clipped', async () => {
    const { store } = await run({ maxTrajectoryTokens: 3_000 });
    const history = JSON.parse(store.views['history.json']!);
    expect(history.map((record: object) => 'n_clipped_trajectories' in record)).toEqual([true, true, true]);
    expect(history[0].n_clipped_trajectories, 'the one success was read alone').toBe(9);
    const roomy = await run({});
    expect(JSON.parse(roomy.store.views['history.json']!)[0]).not.toHaveProperty('n_clipped_trajectories');
  });

  it('says with the guidance and the notes of an epoch how many were clipped', async () => {
    const { store, facts } = await run({ maxTrajectoryTokens: 3_000 });
    const view = (path: string) => JSON.parse(store.views[path]!);
    const [guidance] = ofType(facts, 'slow-update-end');
    const shown = guidance!.pairs.filter(({ category }) => category !== 'stable_success');
    expect(guidance!.nClippedTrajectories).toBe(2 * shown.length);
    expect(view('slow_update/epoch_02/slow_result.json').n_clipped_trajectories).toBe(2 * shown.length);
    expect(ofType(facts, 'meta-skill-end')[0]!.nClippedTrajectories).toBe(2 * shown.length);
    expect(view('meta_skill/epoch_02/meta_skill_result.json').n_clipped_trajectories).toBe(2 * shown.length);
    const roomy = await run({});
    expect(ofType(roomy.facts, 'slow-update-end')[0]).not.toHaveProperty('nClippedTrajectories');
    expect(ofType(roomy.facts, 'meta-skill-end')[0]).not.toHaveProperty('nClippedTrajectories');
  });

  it.each([
    ['maxTrajectoryTokens', { maxTrajectoryTokens: 2_000 }, 2_800],
    ['the context', { optimizerContextTokens: 6_000, optimizerMaxCompletionTokens: 1_000 }, 5_000],
  ])('never sends more than %s allows, at any stage', async (_name, config, limit) => {
    const { calls } = await run(config);
    const sizes = await Promise.all(calls.map(async ({ stage, user }) => ({ stage, size: await countTokens(user) })));
    expect(new Set(sizes.map(({ stage }) => stage))).toContain('slow_update');
    expect(new Set(sizes.map(({ stage }) => stage))).toContain('meta_skill');
    expect(sizes.filter(({ size }) => size > limit)).toEqual([]);
    expect(Math.max(...sizes.map(({ size }) => size)), 'and uses what it may').toBeGreaterThan(limit / 2);
  });
});
