import { memoryRun, type SkillOptConfigInput } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { appends, ofType, scriptedRun } from '../../../support/scripted-run.ts';

const marks = (skill: string) => skill.split('MARK').length - 1;

/** Every mark helps while the search looks; in later draws the second one turns out to have been luck. */
const solvedBy = (skill: string, isSearch: boolean) => [2, 8, isSearch ? 10 : 5][Math.min(2, marks(skill))]!;

const luckyTarget = () =>
  scripted('target', ({ messages, sampleIndex = 0 }) => {
    const { k } = JSON.parse(messages[1]!.content) as { k: number };
    const isSearch = sampleIndex < 1000 * 1000; // a thousand numbers to a draw
    return String(Number(k < solvedBy(messages[0]!.content, isSearch)));
  });

const run = (config: SkillOptConfigInput, store = memoryRun()) =>
  scriptedRun({
    solves: () => false,
    sizes: { train: 2, val: 10, test: 0 },
    script: { analyst: ({ step }) => appends(`MARK ${step}`) },
    config: { numEpochs: 2, batchSize: 2, finalPasses: 2, evalTest: false, ...config },
    options: { target: luckyTarget() },
    store,
  });

describe('finalists', () => {
  it('are not asked for by default: the last best wins, lucky or not', async () => {
    const { facts, summary } = await run({});
    expect(ofType(facts, 'finalists-end')).toEqual([]);
    expect(marks(summary.bestSkill)).toBe(2);
  });

  it('are measured anew side by side, and the highest wins', async () => {
    const { facts, summary } = await run({ finalists: 2 });
    const [{ finalists, hash }] = ofType(facts, 'finalists-end') as [
      ReturnType<typeof ofType<'finalists-end'>>[number],
    ];
    expect(finalists.map(({ origin, score }) => [origin, score])).toEqual([
      ['step_0002', 0.5],
      ['step_0001', 0.8],
    ]);
    expect(hash).toBe(finalists[1]!.hash);
    expect(marks(summary.bestSkill)).toBe(1);
    expect(summary).toMatchObject({ bestOrigin: 'step_0001', finalScore: { value: 0.8 } });
  });

  it('may reach back to the skill that the run began with', async () => {
    const { facts } = await run({ finalists: 9 });
    const [{ finalists }] = ofType(facts, 'finalists-end') as [ReturnType<typeof ofType<'finalists-end'>>[number]];
    expect(finalists.map(({ origin }) => origin)).toEqual(['step_0002', 'step_0001', 'initial']);
  });

  it('are chosen by other draws than the winner is reported by, and than the search has seen', async () => {
    const { requests } = await scriptedRun({
      solves: (skill, { k }) => k < [2, 8, 10][Math.min(2, marks(skill))]!,
      sizes: { train: 2, val: 10, test: 0 },
      script: { analyst: ({ step }) => appends(`MARK ${step}`) },
      config: { numEpochs: 2, batchSize: 2, finalPasses: 2, finalists: 2, evalTest: false },
    });
    const draws = new Set(requests.target.map(({ sampleIndex = 0 }) => Math.floor(sampleIndex / 1000)));
    expect([...draws].sort((a, b) => a - b)).toEqual([0, 900_000, 900_001, 1_000_000, 1_000_001]);
  });

  it('are met again by a run that is resumed', async () => {
    const { facts, store } = await run({ finalists: 3 });
    for (let cut = 1; cut < store.events.length; cut++) {
      const again = await run({ finalists: 3 }, memoryRun(store.events.slice(0, cut)));
      expect(again.facts, `cut after event ${cut}`).toEqual(facts);
    }
  });
});
