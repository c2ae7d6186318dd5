import { emptyRun, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { isSaidIn } from '../../../../src/core/document/index.ts';
import { withoutRepeats } from '../../../../src/train/step/guard-edits.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

describe('what a text says already', () => {
  const skill = '# Skill\n\nBe brief.\n\n- Name the unit\n  1. Think first!\n> Quote: mind the gap;\n';

  it.each([
    'Be brief.',
    'be brief',
    '  * BE   brief!',
    '12) Be brief.',
    'name the unit.',
    '• Name the unit',
    'Think first',
    'Be brief.\n\n- Think first.',
    'quote: mind the gap',
  ])('is known in whatever dress: %j', (content) => {
    expect(isSaidIn(skill, content)).toBe(true);
  });

  it.each(['Be brief, always.', 'Be', 'brief.', 'Be brief.\nBe kind.', 'Name the units', '', '  \n'])(
    'is not what only looks like it: %j',
    (content) => {
      expect(isSaidIn(skill, content)).toBe(false);
    },
  );
});

describe('a patch without repeats', () => {
  const edit = (op: 'append' | 'insert_after' | 'replace' | 'delete', content: string, target = '') => ({
    op,
    content,
    target,
  });
  const skill = '# Skill\n\nBe brief.\n\nName the unit.\n';
  const left = (...edits: ReturnType<typeof edit>[]) => {
    const { patch, repeats } = withoutRepeats({ reasoning: 'why', edits } as never, skill);
    return { kept: patch.edits.map(({ content }) => content), repeats };
  };

  it('has no edit that adds what the skill says, by whatever operation', () => {
    const known = [edit('append', '- be brief'), edit('insert_after', 'Name the unit', '# Skill')];
    expect(left(...known, edit('append', 'New.'))).toEqual({
      kept: ['New.'],
      repeats: [
        { op: 'append', target: '', content: '- be brief' },
        { op: 'insert_after', target: '# Skill', content: 'Name the unit' },
      ],
    });
  });

  it('has each new thing once', () => {
    expect(left(edit('append', 'New.'), edit('append', '* NEW'), edit('append', 'Newer.')).kept).toEqual([
      'New.',
      'Newer.',
    ]);
  });

  it('may replace a line by itself in other words, but not by what stands elsewhere', () => {
    expect(left(edit('replace', 'BE BRIEF!', 'Be brief.'))).toEqual({ kept: ['BE BRIEF!'], repeats: undefined });
    expect(left(edit('replace', 'Name the unit', 'Be brief.')).kept).toEqual([]);
  });

  it('takes out what it wants, and says nothing where there is nothing to say', () => {
    const whole = withoutRepeats({ reasoning: 'why', edits: [edit('delete', '', 'Be brief.')] } as never, skill);
    expect(whole).toEqual({ patch: { reasoning: 'why', edits: [edit('delete', '', 'Be brief.')] } });
  });
});

describe('a run', () => {
  /** GAIN solves 6 more of 12 tasks; nothing else matters. */
  const solves = (skill: string, { k }: Task) => k < (skill.includes('GAIN') ? 9 : 3);
  const initialSkill = '# Skill\n\nBe brief.\n';
  const run = async (config: SkillOptConfigInput = {}) => {
    const played = await scriptedRun({
      solves,
      initialSkill,
      sizes: { train: 6, val: 12, test: 0 },
      script: { analyst: () => appends('- be BRIEF', 'GAIN it.', '* Gain it') },
      config: { gate: 'paired', numEpochs: 2, batchSize: 6, evalTest: false, minEditBudget: 4, ...config },
    });
    return { ...played, state: played.store.events.reduce(reduce, emptyRun) };
  };

  it('leaves out what the skill says before anything is ranked, and writes it down', async () => {
    const { facts, calls, state, store } = await run({ editBudget: 2, minEditBudget: 2 });
    const [first, second] = ofStage(facts, 'select');
    expect(ofStage(facts, 'aggregate')[0]!.patch.edits).toHaveLength(2);
    expect(first!.patch.edits.map(({ content }) => content)).toEqual(['GAIN it.']);
    expect(first!.repeats!.map(({ content }) => content)).toEqual(['- be BRIEF']);
    expect(second!.patch.edits).toEqual([]);
    expect(calls.filter(({ stage }) => stage === 'ranking')).toEqual([]);
    expect(state.history.map(({ nRepeats }) => nRepeats)).toEqual([1, 2]);
    expect(JSON.parse(store.views['history.json']!)[0].n_repeats).toBe(1);
  });

  it('writes nothing twice, and asks nobody about a step that repeats everything', async () => {
    const { facts, summary, state } = await run();
    expect(summary.bestSkill).toBe('# Skill\n\nBe brief.\n\nGAIN it.\n');
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(['accept_new_best', 'skip_no_patches']);
    expect(state.history[1]).toMatchObject({ nRepeats: 3, nEditsRanked: 0 });
    expect(ofStage(facts, 'evaluate')[1]!.evaluation).toBeNull();
  });

  it.each([
    { dropRepeats: false, tryRemovals: false, tryShorter: false },
    { preset: 'paper', gate: 'strict' },
  ] as const)('writes it all the same under %o', async (config) => {
    const { facts, summary } = await run(config);
    expectEvery(ofStage(facts, 'select'), ({ repeats }) => repeats === undefined);
    expect(summary.bestSkill).toBe('# Skill\n\nBe brief.\n\n- be BRIEF\n\nGAIN it.\n\n* Gain it\n');
  });
});
