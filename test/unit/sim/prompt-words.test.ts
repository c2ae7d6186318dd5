import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES, type PromptName, REPLY_KEYS } from '../../../src/core/contracts/index.ts';
import { loadPrompts } from '../../../src/pipeline/index.ts';
import { type Assignment, readPrompt } from '../../../src/sim/optimizer/read-prompt.ts';

const prompts = loadPrompts({}, {});

const keysOf: Readonly<Record<keyof typeof REPLY_KEYS, readonly PromptName[]>> = {
  ranking: ['ranking', 'ranking_rewrite'],
  merge: PROMPT_NAMES.filter((name) => name.startsWith('merge_')),
  failures: PROMPT_NAMES.filter((name) => name.startsWith('analyst_error')),
  successes: PROMPT_NAMES.filter((name) => name.startsWith('analyst_success')),
  guidance: ['slow_update'],
  metaSkill: ['meta_skill'],
  learningRate: ['lr_autonomous'],
  rewrite: ['rewrite'],
  notes: ['appendix_consolidate'],
  reminders: ['skill_aware_failure', 'skill_aware_success'],
  candidates: PROMPT_NAMES.filter((name) => name.endsWith('_full_rewrite')),
  suggestions: PROMPT_NAMES.filter((name) => /^(analyst|merge).*(?<!full)_rewrite$/.test(name)),
};

describe('the words by which the simulated optimizer knows a prompt', () => {
  it.each(Object.entries(keysOf))('reply key %s stands in its prompt files', (key, names) => {
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(prompts[name]).toContain(REPLY_KEYS[key as keyof typeof REPLY_KEYS]);
  });

  const assignments: readonly (readonly [RegExp, Assignment])[] = [
    [/^analyst_error/, 'read-failures'],
    [/^analyst_success/, 'read-successes'],
    [/^merge_/, 'merge'],
    [/^ranking/, 'rank'],
    [/^lr_autonomous$/, 'decide-rate'],
    [/^rewrite$/, 'rewrite'],
    [/^slow_update$/, 'write-guidance'],
    [/^meta_skill$/, 'write-notes'],
    [/^appendix_consolidate$/, 'shorten-reminders'],
  ];
  const whole = PROMPT_NAMES.filter((name) => !name.startsWith('skill_aware')); // those two are added to another

  it.each(whole)('%s is understood as what it asks for', (name) => {
    const expected = assignments.find(([pattern]) => pattern.test(name))?.[1];
    expect(readPrompt([{ role: 'system', content: prompts[name] }]).assignment).toBe(expected);
  });
});
