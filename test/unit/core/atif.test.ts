import { describe, expect, it } from 'vitest';
import { type AgentRun, type AgentStep, toAtif } from '../../../src/core/contracts/index.ts';

const call = (id: string, input: unknown = { command: 'ls' }): AgentStep => ({
  type: 'tool-call',
  id,
  tool: 'bash',
  input,
});
const result = (id: string, output = 'out', isError = false): AgentStep => ({
  type: 'tool-result',
  id,
  output,
  isError,
});
const text = (words: string): AgentStep => ({ type: 'text', text: words });

const runOf = (steps: readonly AgentStep[]): AgentRun => ({
  text: 'done',
  ended: 'done',
  turns: 2,
  steps,
  skillsOffered: [],
  skillsLoaded: [],
  usage: { input: 100, cached: 40, output: 20, reasoning: 0 },
  costUsd: 0.02,
});
const about = { agent: 'claude', version: '2.1.197', model: 'opus', sessionId: 'task-1', prompt: 'Do it.' };

describe('a run as ATIF', () => {
  it('has a step for each turn, with what was said, called and seen', () => {
    const steps = [
      { type: 'skill-loaded', name: 'sums' } as const,
      text('I look.'),
      call('a'),
      call('b', 'raw'),
      result('a'),
      result('b', 'no', true),
      text('I am done.'),
    ];
    expect(toAtif(runOf(steps), about)).toEqual({
      schema_version: 'ATIF-v1.4',
      session_id: 'task-1',
      agent: { name: 'claude', version: '2.1.197', model_name: 'opus' },
      steps: [
        { step_id: 1, source: 'user', message: 'Do it.' },
        {
          step_id: 2,
          source: 'agent',
          message: 'I look.',
          tool_calls: [
            { tool_call_id: 'a', function_name: 'bash', arguments: { command: 'ls' } },
            { tool_call_id: 'b', function_name: 'bash', arguments: { input: 'raw' } },
          ],
          observation: {
            results: [
              { source_call_id: 'a', content: 'out' },
              { source_call_id: 'b', content: 'no' },
            ],
          },
          extra: { skills_loaded: ['sums'], failed_call_ids: ['b'] },
        },
        { step_id: 3, source: 'agent', message: 'I am done.' },
      ],
      final_metrics: {
        total_prompt_tokens: 100,
        total_completion_tokens: 20,
        total_cached_tokens: 40,
        total_cost_usd: 0.02,
        total_steps: 3,
      },
    });
  });

  it('joins a late result to the turn that called for it, and keeps one that nobody called for', () => {
    const { steps } = toAtif(
      runOf([call('a'), call('b'), result('a'), call('c'), result('b'), result('c'), result('x')]),
      about,
    );
    expect(steps.map(({ observation }) => observation?.results.map((one) => one.source_call_id))).toEqual([
      undefined,
      ['a', 'b'],
      ['c', undefined],
    ]);
  });

  it('says what was cut of long texts, and of long runs', () => {
    const long = 'x'.repeat(1_000);
    const bounded = { ...about, maxTextLength: 100, maxLength: 246 };
    const { steps, notes } = toAtif(runOf([call('a', { text: long }), result('a', long), text(long)]), bounded);
    expect(steps[1]?.tool_calls?.[0]?.arguments).toEqual({
      text: `${'x'.repeat(50)}[… 900 characters …]${'x'.repeat(50)}`,
    });
    expect(steps.at(-1)?.message).toBe('[… 1000 characters …]');
    expect(notes).toMatch(/^\d+ characters of long texts are left out/);
    expect(JSON.stringify(steps).length).toBeLessThan(900);
  });

  it('says nothing of what nobody knows', () => {
    const { costUsd: _, ...run } = runOf([]);
    const trajectory = toAtif(run, { ...about, model: undefined });
    expect(trajectory.agent).toEqual({ name: 'claude', version: '2.1.197' });
    expect(trajectory.final_metrics).not.toHaveProperty('total_cost_usd');
    expect(trajectory).not.toHaveProperty('notes');
  });
});
