import { describe, expect, it } from 'vitest';
import { loadFixture } from './work-imports.ts';

describe("dotnet's tests/eval.yaml as tasks in a workspace", () => {
  it('keeps every field', async () => {
    const { tasks, leftOut } = await loadFixture('dotnet/every-field');
    expect(leftOut).toEqual([]);
    expect(tasks['Sum a table']).toMatchObject({
      prompt: 'Sum data.csv into total.txt.',
      files: { 'input.txt': 'hello\n', 'data.csv': 'a,b\n1,2\n' },
      setup: 'set -e\necho made > made.txt',
      rubric: ['The sum is right', 'Nothing else was written'],
      limits: { timeoutMs: 120_000 },
      assertions: [
        { type: 'output_contains', value: 'Done' },
        { type: 'output_not_contains', value: 'sorry' },
        { type: 'output_matches', value: expect.stringContaining('done') },
        { type: 'output_not_matches', value: expect.stringContaining('x') },
        { type: 'file_exists', path: '*.txt' },
        { type: 'file_not_exists', path: '*.csproj' },
        { type: 'file_contains', path: 'tot*.txt', value: '3' },
        { type: 'file_not_contains', path: 'total.txt', value: 'NaN' },
        { type: 'output_matches', value: '\\S' },
        { type: 'expect_tools', value: ['bash'] },
        { type: 'reject_tools', value: ['create_file'] },
        { type: 'max_turns', value: 15 },
        { type: 'max_tokens', value: 5000 },
      ],
    });
  });

  it('copies what lies beside it', async () => {
    const { tasks } = await loadFixture('dotnet/test-files/tests/eval.yaml');
    expect(tasks.Mend?.files).toEqual({ 'src/a.cs': 'broken\n' });
  });

  it('names what is not carried, and numbers names that come twice', async () => {
    const { tasks, named } = await loadFixture('dotnet/odd/tests/eval.yaml');
    expect(Object.keys(tasks)).toEqual(['Odd', 'Odd (2)']);
    expect(tasks.Odd?.assertions).toEqual([{ type: 'output_contains', value: 'done' }]);
    expect(named).toEqual([
      'config | config | nothing here does it',
      'scenarios[0].expect_activation | expect_activation | nothing here does it',
      'scenarios[0].assertions[0] | run_command_and_assert | write it as verify of the task',
      'scenarios[0].assertions[1] | output_contains | it needs value, a text',
      'scenarios[0].assertions[2].case | case | nothing here does it',
      expect.stringContaining('scenarios[0].assertions[3] | output_matches | '),
      'scenarios[0].rubric | a statement | it is no text',
      'scenarios[0].setup.additional_required_skills | additional_required_skills | nothing here does it',
      'scenarios[0].timeout | timeout | a limit is a number of seconds, at most 3600',
      'scenarios[1] | the scenario | it has no prompt that is text',
      'scenarios[2] | the scenario | nothing in it can be judged by',
      'scenarios[3] | the scenario | gone.txt does not exist',
    ]);
  });

  it('is refused in its newer format', async () => {
    await expect(loadFixture('dotnet/newer/tests/eval.yaml')).rejects.toThrow('stimuli and graders are not read');
  });
});

describe('rows in the style of SWE-bench', () => {
  it('are refused with what they would need', async () => {
    await expect(loadFixture('swe/rows.jsonl')).rejects.toMatchObject({
      code: 'TASKS_INVALID',
      message: expect.stringContaining('needs docker: an image with the repository at its base_commit'),
    });
  });
});
