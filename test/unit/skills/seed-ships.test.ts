import { emptyRun, memoryRun, reduce, type SkillOptConfigInput } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { reportLines } from '../../../src/report/index.ts';
import { noColors } from '../../../src/report/layout.ts';
import { appends, ofType, scriptedRun } from '../../support/scripted-run.ts';

/** From this draw on nothing was seen by the search; a thousand numbers to a draw. */
const FRESH = 1_000_000 * 1000;

/** LUCKY solves 16 of 20 tasks while the search looks, and fewer than the seed's 10 when it is measured again. */
const target = (fresh: number) =>
  scripted('target', ({ messages, sampleIndex = 0 }) => {
    const { k } = JSON.parse(messages[1]!.content) as { k: number };
    if (!messages[0]!.content.includes('LUCKY')) return String(Number(k < 10));
    return String(Number(k < (sampleIndex >= FRESH ? fresh : 16)));
  });

async function run(fresh: number, config: SkillOptConfigInput = {}, store = memoryRun()) {
  const played = await scriptedRun({
    solves: () => false,
    sizes: { train: 6, val: 20, test: 20 },
    script: { analyst: ({ step }) => (step === 1 ? appends('LUCKY') : appends()) },
    config: { gate: 'paired', numEpochs: 1, batchSize: 6, finalPasses: 2, ...config },
    options: { target: target(fresh) },
    store,
  });
  return { ...played, state: played.store.events.reduce(reduce, emptyRun) };
}

describe('a winner that measures worse than the skill that the run began with', () => {
  it('does not ship: the seed skill does', async () => {
    const { facts, summary, store, state } = await run(7);
    expect(ofType(facts, 'step-end')[0]).toMatchObject({ action: 'accept_new_best' });
    expect(ofType(facts, 'final-measurement-end')[0]).toMatchObject({ isSeedBetter: true, isClaimed: false });
    expect(summary.bestSkill).toBe('# Skill\n');
    expect(store.views['best_skill.md']).toBe('# Skill\n');
    expect(summary).toMatchObject({ bestOrigin: 'initial', bestStep: 0, isProven: false });
    expect(state.current.skill).toContain('LUCKY');
  });

  it('is told with what it lost, and the score is that of the seed', async () => {
    const { summary, state } = await run(7);
    expect(summary.finalGain!.value).toBeCloseTo(-3 / 20, 12);
    expect(Math.abs(summary.finalScore!.value - 0.5)).toBeLessThan(0.05);
    expect(summary.bestSelectionScore).toBe(0.5);
    const report = reportLines(state, { run: 'memory', bestSkillPath: 'best', width: 120, colors: noColors }).join(
      '\n',
    );
    expect(report).not.toMatch(/NaN|undefined/);
  });

  it('is what the test measures as the last one, and the seed as the best', async () => {
    const { summary } = await run(7);
    expect(summary).toMatchObject({ testHard: 0.5, testDeltaHard: 0, finalTestHard: 0.8 });
  });

  it('ships where it is no worse', async () => {
    for (const fresh of [10, 13]) {
      const { facts, summary } = await run(fresh);
      expect(ofType(facts, 'final-measurement-end')[0]).toMatchObject({ isSeedBetter: false });
      expect(summary.bestSkill).toContain('LUCKY');
    }
  });

  it('ships where nobody measures it', async () => {
    expect((await run(7, { finalPasses: 0 })).summary.bestSkill).toContain('LUCKY');
  });

  it('meets the same end when it is resumed after any event', async () => {
    const whole = await run(7);
    for (let cut = 1; cut < whole.store.events.length; cut++) {
      const again = await run(7, {}, memoryRun(whole.store.events.slice(0, cut)));
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
      expect(again.summary.bestSkill).toBe('# Skill\n');
    }
  });
});
