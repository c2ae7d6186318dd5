import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SleepSettings } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { filesBelow, nightWorld, obedient, proposing, RULE, USELESS } from './night-world.ts';

describe('a dry run', () => {
  it('says what a night would, and keeps nothing', async () => {
    using world = nightWorld();
    const { report, proposals, folder } = await runCycle(await world.input({ isDryRun: true }));
    expect(report).toMatchObject({ accepted: true, documents: [{ isStaged: false }, { isStaged: false }] });
    expect(report.documents[0]!.after).toContain(RULE);
    expect({ proposals, folder, isThere: existsSync(world.folder) }).toEqual({
      proposals: [],
      folder: undefined,
      isThere: false,
    });
  });
});

describe('without a gate', () => {
  it('whatever was learned is staged, and nothing is measured', async () => {
    using world = nightWorld();
    const settings = SleepSettings.parse({ gateMode: 'off', evolveMemory: false });
    const models = { target: obedient(), optimizer: proposing(USELESS) };
    const { report, proposals } = await runCycle(await world.input({ settings, models }));
    expect(report).toMatchObject({ gateAction: 'greedy_applied', baselineScore: null, candidateScore: null });
    expect(proposals).toMatchObject([{ gain: null, confidence: null }]);
    const attempts = models.target.requests.filter(({ stage }) => stage !== 'critic');
    expect(attempts).toHaveLength(4); // those that are learned from: nobody pays for what is not used
    expect(Object.keys(filesBelow(world.folder))).toContain('state.json');
  });
});
