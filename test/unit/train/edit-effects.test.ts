import { emptyRun, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { reportLines } from '../../../src/report/index.ts';
import { noColors } from '../../../src/report/layout.ts';
import { appends, scriptedRun, type Task } from '../../support/scripted-run.ts';

/** 6 of 20 tasks are solved; GAIN solves 8 more, HARM loses 3 of those that were solved. */
function solves(skill: string, { k }: Task): boolean {
  if (k < 6) return !(skill.includes('HARM') && k < 3);
  return k < 14 && skill.includes('GAIN');
}

/** First what wins, then remarks that change nothing. */
async function run(lines: readonly string[], config: SkillOptConfigInput = {}) {
  const played = await scriptedRun({
    solves,
    sizes: { train: 10, val: 20, test: 0 },
    script: { analyst: ({ step }) => (step === 1 ? appends(...lines) : appends(`Remark ${step}.`)) },
    config: { numEpochs: 3, batchSize: 10, evalTest: false, ...config },
  });
  const state = played.store.events.reduce(reduce, emptyRun);
  const read = (file: string) => JSON.parse(played.store.views[file]!);
  return { ...played, state, read };
}

const worthOf = ({ summary }: Awaited<ReturnType<typeof run>>) =>
  summary.acceptedEdits.map(({ contentPreview, gain, measuredBy, tasks }) => [
    ...[contentPreview, gain === null ? null : Number(gain.toFixed(4)), measuredBy, tasks],
  ]);

describe('the effect of an accepted edit by itself', () => {
  it('is that of its step, if it was alone in it', async () => {
    expect(worthOf(await run(['GAIN']))).toEqual([['GAIN', 0.4, 'own_step', 20]]);
  });

  it('is not known of edits that were only measured together', async () => {
    const played = await run(['GAIN', 'Be kind.']);
    expect(worthOf(played)).toEqual([
      ['GAIN', null, 'not_measured', 0],
      ['Be kind.', null, 'not_measured', 0],
    ]);
    expect(played.read('history.json')[0].edit_effects[0]).toEqual({
      gain: null,
      measured_by: 'not_measured',
      tasks: 0,
    });
  });

  it('is known of the one that was saved of a rejected patch', async () => {
    const world = await scriptedRun({
      solves: (skill, task) => !skill.includes('BAD') && solves(skill, task),
      sizes: { train: 10, val: 20, test: 0 },
      script: { analyst: () => appends('BAD', 'GAIN') },
      config: { numEpochs: 1, batchSize: 10, salvage: true },
    });
    const { history } = world.store.events.reduce(reduce, emptyRun);
    expect(history[0]!.editEffects).toEqual([null, { gain: expect.closeTo(0.4), measuredBy: 'salvage', tasks: 20 }]);
  });

  it('is known from pruning, for what stays and for what goes', async () => {
    const played = await run(['GAIN', 'Be kind.'], { prune: true });
    expect(worthOf(played)).toEqual([
      ['GAIN', 0.4, 'prune', 20],
      ['Be kind.', 0, 'prune', 20],
    ]);
    const [record] = played.read('history.json');
    expect(record.edit_effects[0]).toEqual({ gain: expect.closeTo(0.4), measured_by: 'prune', tasks: 20 });
    expect(played.read('summary.json').accepted_edits[0]).toMatchObject({
      step: 1,
      op: 'append',
      measured_by: 'prune',
    });
  });

  it('is known from a removal, with its sign turned round', async () => {
    const played = await run(['GAIN', 'HARM'], { gate: 'paired', numEpochs: 4 });
    const harm = worthOf(played).find(([text]) => text === 'HARM')!;
    expect(harm[2]).toBe('removal');
    expect(harm[1] as number).toBeLessThan(0);
    expect(harm[3] as number).toBeGreaterThan(0);
  });

  it('stands in the whole report with how it was measured', async () => {
    const { state } = await run(['GAIN', 'Be kind.'], { prune: true });
    const options = { run: 'r', bestSkillPath: 'b', width: 100, colors: noColors };
    const full = reportLines(state, { ...options, isComplete: true });
    expect(full).toContain('             (by itself: +40.0 points on 20 tasks, by the best skill without it)');
  });

  it('is said once to be unknown where no edit was measured by itself', async () => {
    const { state } = await run(['GAIN', 'Be kind.']);
    const options = { run: 'r', bestSkillPath: 'b', width: 100, colors: noColors, isComplete: true };
    const full = reportLines(state, options);
    expect(full).toContain('accepted edits (2), none measured by itself');
    expect(full.join('\n')).not.toContain('(by itself');
  });
});
