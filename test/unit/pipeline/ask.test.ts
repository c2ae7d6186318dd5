import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ModelCallError } from '../../../src/core/contracts/index.ts';
import { type ScriptedReply, scripted } from '../../../src/models/index.ts';
import { ask } from '../../../src/pipeline/ask/ask.ts';
import { createStageDeps, createStop } from '../../../src/pipeline/index.ts';

const schema = z.object({ edits: z.array(z.string()), supportCount: z.number().optional() });

/** Asks an optimizer that gives `replies` one after the other. */
function askWith(...replies: (ScriptedReply | Error)[]) {
  const optimizer = scripted('optimizer', () => {
    const reply = replies.shift() ?? new Error('asked once too often');
    if (reply instanceof Error) throw reply;
    return reply;
  });
  const deps = createStageDeps({
    target: scripted('target', () => ''),
    optimizer,
    promptOverrides: { ranking: 'Rank.' },
  });
  const answer = ask({ prompt: 'ranking', stage: 'ranking', user: 'Which?', schema }, deps);
  return { answer, requests: optimizer.requests, deps };
}

describe('ask', () => {
  it('sends the prompt and the question, and reads snake_case', async () => {
    const { answer, requests, deps } = askWith('{"edits": ["a"], "support_count": 2}');
    expect(await answer).toEqual({ edits: ['a'], supportCount: 2 });
    expect(requests).toEqual([
      {
        messages: [
          { role: 'system', content: 'Rank.' },
          { role: 'user', content: 'Which?' },
        ],
        stage: 'ranking',
        schema,
        sampleIndex: 0,
        maxOutputTokens: 4096,
        signal: deps.stop.abandon,
      },
    ]);
  });

  it('shows a malformed reply its error once, and takes the better one', async () => {
    const { answer, requests } = askWith('{"edits": "all of them"}', '{"edits": ["a"]}');
    expect(await answer).toEqual({ edits: ['a'] });
    expect(requests).toHaveLength(2);
    expect(requests[0]!.messages).toHaveLength(2);
    expect(requests[1]!.messages.slice(2)).toEqual([
      { role: 'assistant', content: '{"edits": "all of them"}' },
      {
        role: 'user',
        content: expect.stringMatching(/cannot be used:\n.*expected array, received string[\s\S]*at edits/),
      },
    ]);
  });

  it('gives up after the second malformed reply', async () => {
    const { answer, requests } = askWith('I would rather not.', 'No.');
    expect(await answer).toBeUndefined();
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['a trailing comma', '{"edits": ["a",]}'],
    ['a missing bracket', '{"edits": ["a"'],
    ['single quotes', "{'edits': ['a']}"],
    ['a raw newline in a string', '{"edits": ["a"], "note": "x\ny"}'],
    ['a slip inside a fence', 'Sure:\n```json\n{"edits": ["a",]}\n```'],
  ])('mends %s without asking again', async (_, text) => {
    const { answer, requests } = askWith(text);
    expect(await answer).toEqual({ edits: ['a'] });
    expect(requests).toHaveLength(1);
  });

  it.each(['length', 'content-filter'] as const)(
    'never mends a reply cut off by %s: half a patch is another patch',
    async (finishReason) => {
      const { answer, requests } = askWith({ text: '{"edits": ["a", "b', finishReason }, '{"edits": ["a", "b", "c"]}');
      expect(await answer).toEqual({ edits: ['a', 'b', 'c'] });
      expect(requests).toHaveLength(2);
    },
  );

  it('asks for a shorter reply when the first was cut by length', async () => {
    const { answer, requests } = askWith(
      { text: '{"edits": [', finishReason: 'length' },
      { text: '', finishReason: 'length' },
    );
    expect(await answer).toBeUndefined();
    expect(requests[1]!.messages.at(-1)!.content).toContain('cut off by the length limit. Answer again, shorter.');
  });

  it('sends no empty turn back, which providers refuse', async () => {
    const { answer, requests } = askWith(' \n', '{"edits": []}');
    expect(await answer).toEqual({ edits: [] });
    expect(requests[1]!.messages[2]).toEqual({ role: 'assistant', content: '(no text)' });
  });

  it('takes two objects for a malformed reply', async () => {
    const { answer } = askWith('{"edits": ["a"]} {"edits": ["b"]}', '{"edits": ["c"]}');
    expect(await answer).toEqual({ edits: ['c'] });
  });

  it('throws when the model is out of reach', async () => {
    const outage = new ModelCallError('no answer', { status: 503 });
    await expect(askWith(outage).answer).rejects.toBe(outage);
    await expect(askWith('babble', outage).answer).rejects.toBe(outage);
  });

  it('asks nothing once the run stops', async () => {
    const [optimizer, stop] = [scripted('optimizer', () => '{}'), createStop()];
    const deps = createStageDeps({ target: optimizer, optimizer, stop });
    stop.halt(new Error('stopped'));
    await expect(ask({ prompt: 'ranking', stage: 'ranking', user: '', schema }, deps)).rejects.toThrow('stopped');
    expect(optimizer.requests).toEqual([]);
  });
});
