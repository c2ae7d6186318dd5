import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEnv } from '../../../src/core/contracts/index.ts';
import { scripted } from '../../../src/models/index.ts';

const schema = z.object({
  id: z.string(),
  question: z.string().trim().min(1),
  answers: z.array(z.string()).default([]),
});
const rolloutOne = async () => ({ hard: 1, soft: 1 });

describe('defineEnv', () => {
  it('gives the items of a split as its schema reads them', async () => {
    const env = defineEnv({ name: 'qa', schema, items: { train: [{ id: 'a', question: ' why? ' }] }, rolloutOne });
    expect(await env.getItems('train')).toEqual([{ id: 'a', question: 'why?', answers: [] }]);
    expect(await env.getItems('val')).toEqual([]);
  });

  it('names a malformed item by environment, place and split', () => {
    const items = {
      val: [
        { id: 'a', question: 'why?' },
        { id: 'b', question: '' },
      ],
    };
    const env = defineEnv({ name: 'qa', schema, items, rolloutOne });
    expect(() => env.getItems('val')).toThrow(
      expect.objectContaining({
        code: 'TASKS_INVALID',
        message: expect.stringMatching(/^qa: item 2 of val: .*question/),
      }),
    );
  });

  it('passes on what is given, and leaves out what is not', async () => {
    const bare = defineEnv({ name: 'qa', schema, items: {}, rolloutOne });
    expect(Object.keys(bare).sort()).toEqual(['getItems', 'name', 'rolloutOne']);
    const full = defineEnv({
      name: 'qa',
      version: '2',
      schema,
      items: {},
      initialSkill: '# S',
      taskTypes: ['qa'],
      prompts: { ranking: 'Rank.' },
      rolloutOne,
    });
    expect(full).toMatchObject({ version: '2', prompts: { ranking: 'Rank.' } });
    expect([await full.getInitialSkill?.(), full.getTaskTypes?.()]).toEqual(['# S', ['qa']]);
  });

  it('lets rolloutOne use the definition it stands in', async () => {
    const definition = {
      name: 'qa',
      schema,
      items: { train: [] },
      bonus: 0.5,
      async rolloutOne() {
        return { hard: 1, soft: this.bonus };
      },
    };
    const { signal } = new AbortController();
    const item = { id: 'a', question: 'q', answers: [] };
    const result = await defineEnv(definition).rolloutOne({
      item,
      skill: '',
      target: scripted('t', () => ''),
      extras: {},
      signal,
    });
    expect(result.soft).toBe(0.5);
  });
});
