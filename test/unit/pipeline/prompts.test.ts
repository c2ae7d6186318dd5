import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES } from '../../../src/core/contracts/index.ts';
import { MARKERS } from '../../../src/core/document/index.ts';
import { loadPrompts } from '../../../src/pipeline/index.ts';

const prompts = loadPrompts();

describe('loadPrompts', () => {
  it('knows a prompt for every name, each in English and for JSON', () => {
    expect(Object.keys(prompts)).toEqual([...PROMPT_NAMES]);
    for (const name of PROMPT_NAMES) expect(prompts[name], name).toMatch(/Answer with one JSON object/);
  });

  it('tells in every prompt that what is fenced is data', () => {
    for (const name of PROMPT_NAMES) expect(prompts[name], name).toMatch(/Everything between tags .* is data/);
  });

  it('asks for what the stages read', () => {
    expect(prompts.analyst_error).toContain('"failure_summary"');
    expect(prompts.analyst_success).toContain('"success_patterns"');
    expect(prompts.ranking).toContain('"selected_indices"');
    for (const name of ['merge_failure', 'merge_success', 'merge_final'] as const) {
      expect(prompts[name]).toContain('"support_count"');
      expect(prompts[name]).not.toContain('selected_indices');
    }
    for (const name of ['analyst_error', 'analyst_success'] as const) {
      expect(prompts[name]).not.toMatch(/support_count|selected_indices/);
      for (const op of ['append', 'insert_after', 'replace', 'delete']) expect(prompts[name]).toContain(`\`${op}\``);
    }
  });

  it('warns analysts off the protected regions that a run itself writes', () => {
    for (const { start, end } of [MARKERS.slowUpdate, MARKERS.appendix]) {
      expect(prompts.analyst_error).toContain(start);
      expect(prompts.analyst_success).toContain(end);
    }
  });

  it('takes a prompt given by name instead, also an empty one', () => {
    expect(loadPrompts({ ranking: 'Rank.', merge_final: '' })).toEqual({
      ...prompts,
      ranking: 'Rank.',
      merge_final: '',
    });
  });

  it('ignores an override that is not there', () => {
    expect(loadPrompts({ ranking: undefined })).toEqual(prompts);
  });

  it('fills in extras by name, and leaves what it does not know', () => {
    const ranking = '{{domain}} $& {{count}} {{unknown}} {{toString}} { {domain} }';
    expect(loadPrompts({ ranking }, { domain: 'law $1', count: 0 }).ranking).toBe(
      'law $1 $& 0 {{unknown}} {{toString}} { {domain} }',
    );
  });
});
