import { defineEnv, parseConfig, type RunEvent, type SkillEnv } from 'skillopt';
import { z } from 'zod';

// Checked by `tsc --noEmit`, never run: every line must compile, and every expected error must be one.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(): T | undefined => undefined;

const schema = z.object({ id: z.string(), k: z.coerce.number(), tags: z.array(z.string()).default([]) });
const result = { hard: 1, soft: 1 };

const env = defineEnv({
  name: 'typed',
  schema,
  items: { train: [{ id: 'a', k: '7' }] },
  async rolloutOne({ item, skill, target, signal }) {
    isTrue<Equal<typeof item, { id: string; k: number; tags: string[] }>>();
    isTrue<Equal<typeof skill, string>>();
    isTrue<Equal<typeof signal, AbortSignal>>();
    const { text } = await target.complete({ messages: [{ role: 'user', content: item.tags.join() }], signal });
    // @ts-expect-error the schema knows no such field
    item.answer;
    return { ...result, predictedAnswer: text };
  },
});
isTrue<Equal<typeof env, SkillEnv<{ id: string; k: number; tags: string[] }>>>();

defineEnv({
  name: 'wrong option',
  schema,
  items: {},
  rolloutOne: async () => result,
  // @ts-expect-error it is initialSkill
  initialskill: '# S',
});

defineEnv({
  name: 'wrong item',
  schema,
  // @ts-expect-error tags are texts
  items: { train: [{ id: 'a', k: 1, tags: [1] }] },
  rolloutOne: async () => result,
});

defineEnv({
  name: 'no id',
  // @ts-expect-error every item has an id
  schema: z.object({ question: z.string() }),
  items: {},
  rolloutOne: async () => result,
});

defineEnv({
  name: 'wrong result',
  schema,
  items: {},
  // @ts-expect-error a result has a soft score
  rolloutOne: async () => ({ hard: 1 }),
});

defineEnv({
  name: 'wrong prompt',
  schema,
  items: {},
  rolloutOne: async () => result,
  // @ts-expect-error there is no such prompt
  prompts: { analyst: 'Analyse.' },
});

// @ts-expect-error rolloutOne is missing
defineEnv({ name: 'incomplete', schema, items: {} });

parseConfig({ batchSize: 4, lrScheduler: 'linear' });
// @ts-expect-error it is batchSize
parseConfig({ batchsize: 4 });
// @ts-expect-error there is no such scheduler
parseConfig({ lrScheduler: 'exponential' });
// @ts-expect-error a config that was parsed does not change
parseConfig().unknownKey;

/** A switch over events that forgets one does not compile. */
export function nameOf(event: RunEvent): string {
  switch (event.type) {
    case 'run-start':
    case 'baseline-end':
    case 'step-start':
    case 'stage-end':
    case 'step-end':
    case 'test-end':
      return event.type;
    default:
      // @ts-expect-error run-end was forgotten
      return event satisfies never;
  }
}
