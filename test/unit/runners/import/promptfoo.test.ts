import { describe, expect, it } from 'vitest';
import { loadFixture } from './work-imports.ts';

describe('a promptfoo config as tasks in a workspace', () => {
  it('becomes assertions about last words, skills and cost, and a rubric', async () => {
    const { tasks } = await loadFixture('promptfoo/every-check.yaml');
    expect(tasks['all that is carried']).toMatchObject({
      prompt: 'Look up Oslo and say its code.',
      rubric: ['It names Oslo'],
      assertions: [
        { type: 'max_cost_usd', value: 0.5 },
        { type: 'output_matches', value: 'OSL \\(Oslo\\)' },
        { type: 'output_contains', value: 'airport' },
        { type: 'output_not_matches', value: 'Bergen' },
        { type: 'output_not_contains', value: 'sorry' },
        { type: 'output_matches', value: expect.stringContaining('O[A-Z]{2}') },
        { type: 'output_not_matches', value: expect.stringContaining('X{3}') },
        { type: 'output_matches', value: '\\A\\s*The airport is OSL \\(Oslo\\)\\.\\s*\\Z' },
        { type: 'output_matches', value: '\\AThe' },
        { type: 'output_matches', value: '(?:OSL|BGO)' },
        { type: 'output_contains', value: 'the' },
        { type: 'output_contains', value: 'airport' },
        { type: 'skill_used', value: 'airports' },
        { type: 'skill_not_used', value: 'hotels' },
        { type: 'skill_not_used', value: 'trains' },
        { type: 'output_matches', value: 'OSL' },
        { type: 'skill_used', value: 'airports' },
      ],
    });
  });

  it('names the checks that nothing here says', async () => {
    const { tasks, leftOut } = await loadFixture('promptfoo/every-check.yaml');
    expect(tasks['all that is not']).toBeUndefined();
    expect(leftOut.map(({ what, why, check }) => `${check ?? '-'} ${what}: ${why}`)).toEqual([
      '3 latency: is about a call and not about an answer',
      '5 javascript: evaluated here, as an expression',
      '- threshold: all checks of a task in a workspace must hold',
      '1 weight: every check counts the same',
      '2 contains: with a weight of 0 it cannot fail',
      '4 is-json: there is no assertion about an agent that says it',
      '5 javascript: there is no assertion about an agent that says it',
      '6 skill-used: how often a skill is used is not counted, and a pattern of names is not read',
      '7 rubric: a statement that must not hold; write it the other way round',
      '8 threshold: a statement holds or does not',
      '9 contains-all: that not all of several are there is no assertion',
      '10 equals: last words are text, and it wants a value in JSON',
      '11 set: a part of its checks is enough, and here all must hold',
      '- the test: its verdict needs javascript',
    ]);
  });

  it('gives each combination of variables a task, in a copy of the working folder', async () => {
    const { tasks } = await loadFixture('promptfoo/folders.yaml');
    expect(Object.entries(tasks).map(([id, { prompt, from }]) => [id, prompt, from])).toEqual([
      ['tests[0]', 'Mend a.txt.', 'broken'],
      ['tests[0] (2)', 'Mend b.txt.', 'broken'],
    ]);
  });

  it('is refused when no test is carried, with the reasons', async () => {
    await expect(loadFixture('promptfoo/nothing.yaml')).rejects.toThrow(
      /none of its tests can be carried[\s\S]*latency is left out/,
    );
  });
});
