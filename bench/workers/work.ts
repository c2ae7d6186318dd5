import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ChatModel, defineEnv } from 'skillopt';
import { z } from 'zod';

/** What a rollout does: it computes (rounds of a hash), it sleeps (ms), or it asks a model that answers at once with so many bytes. */
export type Work = { readonly does: 'compute' | 'sleep' | 'chat'; readonly amount: number };

export const workEnv = ({ does, amount }: Work, tasks: number) =>
  defineEnv({
    name: 'work',
    version: `${does} ${amount}`,
    schema: z.object({ id: z.string() }),
    items: { train: [], val: [], test: Array.from({ length: tasks }, (_, k) => ({ id: `task-${k}` })) },
    initialSkill: '# Work\n',
    async rolloutOne({ item, skill, target, signal }) {
      if (does === 'compute') compute(amount);
      if (does === 'sleep') await delay(amount, undefined, { signal });
      if (does !== 'chat') return { hard: 1, soft: 1 };
      const { text } = await target.complete({ messages: [{ role: 'user', content: `${skill}\n${item.id}` }], signal });
      return { hard: 1, soft: 1, conversation: [{ role: 'assistant', content: text }] };
    },
  });

export function compute(rounds: number): void {
  let digest = '';
  for (let round = 0; round < rounds; round++) digest = createHash('sha256').update(`${digest}${round}`).digest('hex');
}

/** Answers at once, and keeps no request. It counts its tokens, as providers do: otherwise they would be counted here. */
export const instantModel = (bytes: number): ChatModel => ({
  id: 'instant',
  async complete() {
    const text = 'a line of what was seen and done\n'.repeat(Math.ceil(bytes / 33));
    return { text, usage: { input: 500, cached: 0, output: Math.ceil(bytes / 4), reasoning: 0 }, finishReason: 'stop' };
  },
});

export const fingerprintOf = (work: Work) => ({ project: 'bench', parts: { work: JSON.stringify(work) } });
