import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChatModel, defineEnv, SkillOptTrainer } from 'skillopt';
import { z } from 'zod';

const steps = Number(process.argv[2]);
const BATCH = 40;
const trajectory = 'a line of what the agent saw and did\n'.repeat(540);

const items = (split: string, count: number) => Array.from({ length: count }, (_, i) => ({ id: `${split}-${i}` }));
const env = defineEnv({
  name: 'long-run',
  schema: z.object({ id: z.string() }),
  items: { train: items('train', BATCH), val: items('val', BATCH), test: items('test', 1) },
  initialSkill: '# Long\n',
  async rolloutOne({ item, skill, target }) {
    const { text } = await target.complete({ messages: [{ role: 'user', content: `${skill.length} ${item.id}` }] });
    return {
      hard: item.id.endsWith('7') ? 1 : 0,
      soft: 0.5,
      conversation: [{ role: 'assistant', content: text + item.id }],
    };
  },
});

/** Not `scripted`, which keeps every request. */
const forgetful = (id: string, reply: () => string): ChatModel => ({
  id,
  async complete() {
    return { text: reply(), usage: { input: 0, cached: 0, output: 0, reasoning: 0 }, finishReason: 'stop' };
  },
});
let edits = 0;
const target = forgetful('long-target', () => trajectory);
const optimizer = forgetful('long-optimizer', () =>
  JSON.stringify({ edits: [{ op: 'append', content: `Rule ${++edits}.` }] }),
);

const folder = await mkdtemp(join(tmpdir(), 'skillopt-memory-'));
const trainer = new SkillOptTrainer({
  env,
  target,
  optimizer,
  config: { numEpochs: steps, batchSize: BATCH, outRoot: join(folder, 'run') },
  observers: [
    {
      onEvent(event) {
        if (event.type !== 'step-end' || (event.step !== 10 && event.step % 50 !== 0)) return;
        globalThis.gc?.();
        const { rss, heapUsed } = process.memoryUsage();
        process.send?.({ step: event.step, rss, heap: heapUsed });
      },
    },
  ],
});
try {
  await trainer.train();
} finally {
  await rm(folder, { recursive: true });
}
