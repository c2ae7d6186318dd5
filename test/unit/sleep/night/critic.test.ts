import { describe, expect, it } from 'vitest';
import { scripted } from '../../../../src/models/index.ts';
import { marksOf } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { doneTasks, nightWorld, obedient, proposing, RULE, SKILL_ONLY } from './night-world.ts';

const FETCHES = `${RULE} See https://a.example.`;
const night = { tasks: doneTasks(), settings: SKILL_ONLY };

describe('the critic of a proposed block', () => {
  it('adds a mark, with one call', async () => {
    using world = nightWorld();
    let calls = 0;
    const judge = scripted('judge', ({ stage }) => {
      if (stage === 'critic') calls++;
      return JSON.stringify({
        warnings: [
          { number: 1, reason: 'shouts at people' },
          { number: 9, reason: 'no line' },
        ],
      });
    });
    const models = { target: obedient(), optimizer: proposing(RULE), judge };
    const { proposals, report } = await runCycle(await world.input({ ...night, models }));
    const marked = [{ line: RULE, isStriking: true, reasons: ['critic: shouts at people'] }];
    expect([calls, proposals.map(marksOf), report.documents[0]!.marked]).toEqual([1, [marked], marked]);
  });

  it('takes no mark away, and is no reason to fail when it cannot be asked', async () => {
    for (const answer of ['{"warnings": []}', 'This is fine.']) {
      using world = nightWorld();
      const models = { target: obedient(), optimizer: proposing(FETCHES), judge: scripted('judge', () => answer) };
      const { proposals, report } = await runCycle(await world.input({ ...night, models }));
      expect(proposals.flatMap(marksOf)).toMatchObject([{ reasons: ['names a network address'] }]);
      expect(report.notes.some((note) => note.startsWith('No critic has read the skill'))).toBe(
        answer.startsWith('This'),
      );
    }
  });
});
