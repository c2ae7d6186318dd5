import { type ChatModel, type ChatRequest, defineEnv, skillHash } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { z } from 'zod';

/** A world where everything is known: task k is solved if and only if the skill says LEVEL=n with n ≥ k. */
export const levelOf = (text: string) => Number([...text.matchAll(/LEVEL=(\d+)/g)].at(-1)?.[1] ?? 0);

const tasks = (split: string, count: number) => Array.from({ length: count }, (_, k) => ({ id: `${split}-${k}`, k }));

type LevelsOptions = { readonly onRollout?: (id: string, skill: string) => void; readonly size?: number };

/** The target is asked once per task, and answers with the level it reads in the skill. */
export function levelsEnv({ onRollout, size = 9 }: LevelsOptions = {}) {
  return defineEnv({
    name: 'levels',
    schema: z.object({ id: z.string(), k: z.number() }),
    items: { train: tasks('train', size), val: tasks('val', size), test: tasks('test', size) },
    initialSkill: '# Levels\n\nLEVEL=0\n',
    taskTypes: ['low', 'high'],
    async rolloutOne({ item, skill, target }) {
      onRollout?.(item.id, skill);
      const messages = [{ role: 'user' as const, content: `${skill}\n\ntask ${item.id}` }];
      const { text } = await target.complete({ messages });
      const hard = Number(text) >= item.k ? 1 : 0;
      return {
        hard,
        soft: hard,
        taskType: item.k < size / 2 ? 'low' : 'high',
        ...(hard ? {} : { failReason: `needs LEVEL>=${item.k}` }),
        conversation: [...messages, { role: 'assistant', content: text }],
      };
    },
  });
}

export const levelsTarget = () => scripted('levels-target', ({ messages }) => String(levelOf(messages[0]!.content)));

/** Proposes the next level up to two times in three, and nonsense otherwise, by the request alone. */
export function levelsOptimizer(): ChatModel & { readonly requests: readonly ChatRequest[] } {
  return scripted('levels-optimizer', ({ messages }) => {
    const [system, user] = [messages[0]!.content, messages[1]!.content];
    const dice = Number.parseInt(skillHash(user).slice(0, 6), 16);
    if (system.includes('selected_indices')) return JSON.stringify({ reasoning: 'first', selected_indices: [0] });
    const next = levelOf(user) + (dice % 3);
    const edits = [{ op: 'append', content: `LEVEL=${next}` }];
    return JSON.stringify(
      system.includes('support_count') ? { reasoning: '', edits } : { patch: { reasoning: 'up', edits } },
    );
  });
}
