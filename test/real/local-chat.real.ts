import { describe, expect, it } from 'vitest';
import { askForLabel, classifyEnv, LABELS } from '../../examples/classify/classify-env.ts';
import { getModel } from './get-model.ts';
import { startEngine } from './llama-engine.ts';
import { localChat } from './local-chat.ts';

const file = await getModel();
const modelPath = file.missing === undefined ? file.path : '';
const [item, other] = await classifyEnv.getItems('val');

describe.skipIf(file.missing !== undefined)(`the local model${file.missing ? ` (${file.missing})` : ''}`, () => {
  it('answers alike whether or not it had read the start of the prompt before', async () => {
    const engine = await startEngine(modelPath);
    const prompt = 'Labels: money, happy.\n\nMessage: The bill is too high.\nLabel:';
    const fresh = await engine.chancesOf(LABELS, prompt);
    await engine.chancesOf(LABELS, 'Labels: money, happy.\n\nMessage: You made my day.\nLabel:');
    const reused = await engine.chancesOf(LABELS, prompt);
    for (const [index, chance] of reused.entries()) expect(chance / fresh[index]!).toBeCloseTo(1, 1);
  });

  it('refuses a choice that is more than one token', async () => {
    const engine = await startEngine(modelPath);
    await expect(engine.chancesOf(['complaint'], 'Label:')).rejects.toThrow('"complaint" is not one token');
  });

  it('draws each label as often as the model thinks it likely', async () => {
    const chat = localChat({ modelPath, choices: LABELS, temperature: 0.7 });
    const messages = askForLabel('', item!);
    const chances = await chat.chances(messages);
    const counts = new Map<string, number>();
    for (let sampleIndex = 0; sampleIndex < 4000; sampleIndex++) {
      const { text } = await chat.complete({ messages, sampleIndex });
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    for (const [label, chance] of chances) expect((counts.get(label) ?? 0) / 4000).toBeCloseTo(chance, 1);
  });

  it('thinks differently about different messages', async () => {
    const chat = localChat({ modelPath, choices: LABELS, temperature: 0.7 });
    const [first, second] = await Promise.all([item!, other!].map((each) => chat.chances(askForLabel('', each))));
    expect(first).not.toEqual(second);
  });
});
