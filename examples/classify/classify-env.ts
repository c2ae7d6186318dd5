// Customer messages, each to be sorted under one of four labels. The skill is a list of labelled examples and hints.
import { readFileSync } from 'node:fs';
import { type ChatMessage, defineEnv } from 'skillopt';
import { z } from 'zod';

export const LABELS = ['money', 'delivery', 'computer', 'happy'] as const;

const Message = z.object({ id: z.string(), text: z.string().min(1), label: z.enum(LABELS) });
export type Message = z.infer<typeof Message>;

/** Laid out so that a small model continues the pattern of the examples with a label. */
export function askForLabel(skill: string, { text }: Message): ChatMessage[] {
  const system = `Labels: ${LABELS.join(', ')}.\n\n${skill.trim()}`.trim();
  return [
    { role: 'system', content: system },
    { role: 'user', content: `Message: ${text}\nLabel:` },
  ];
}

export const classifyEnv = defineEnv({
  name: 'classify',
  schema: Message,
  items: { train: readSplit('train'), val: readSplit('val'), test: readSplit('test') },
  initialSkill: '',
  taskTypes: LABELS,
  async rolloutOne({ item, skill, target, signal }) {
    const messages = askForLabel(skill, item);
    const { text } = await target.complete({ messages, signal, maxOutputTokens: 4 });
    const answer = text.trim().toLowerCase();
    const hard = answer === item.label ? 1 : 0;
    const failReason = hard ? '' : `expected ${item.label}, got ${answer}`;
    return { hard, soft: hard, predictedAnswer: answer, taskType: item.label, failReason };
  },
});

function readSplit(split: string): Message[] {
  const lines = readFileSync(new URL(`${split}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => Message.parse(JSON.parse(line)));
}
