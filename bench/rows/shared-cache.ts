import { killWriters, type SharedCacheOutcome } from '../../test/unit/stores/shared-cache.fixture.ts';
import type { BenchRow } from '../row.ts';

const KILLS = 60;

/** Whether two processes can share a cache and be killed at any moment, also while both drop old texts. */
export const sharedCache: BenchRow = {
  name: 'shared-cache',
  what: `${KILLS} × kill -9 of two processes that share a cache`,
  goal: '0 wrong, lost or damaged',
  async run(say) {
    const run = (seed: number, maxCacheMb: number) => {
      const onKill = (kills: number) => say(`${kills} of ${KILLS / 2} kills at ${maxCacheMb} MB`);
      return killWriters({ kills: KILLS / 2, seed, maxCacheMb, onKill });
    };
    const roomy = await run(1, 1024);
    const tight = await run(2, 2); // here texts are dropped on purpose, so none counts as lost
    const sum = (amount: (outcome: SharedCacheOutcome) => number) => amount(roomy) + amount(tight);
    const [kills, read] = [sum((outcome) => outcome.kills), sum((outcome) => outcome.read)];
    const [wrong, damaged] = [sum((outcome) => outcome.wrong), sum((outcome) => outcome.damaged)];
    const { lost } = roomy;
    const measured = `${kills} kills, ${read} texts read: ${wrong} wrong, ${lost} lost, ${damaged} times damaged`;
    return { measured, holds: wrong + lost + damaged === 0, figures: { kills, read, wrong, lost, damaged } };
  },
};
