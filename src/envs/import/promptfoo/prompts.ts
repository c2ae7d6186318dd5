import { isObject } from '../../../core/text/index.ts';
import { reasonOf } from '../left-out.ts';
import type { Source } from './source.ts';

/** The prompts of a config that are one text. Without any, tests have a variable `prompt`. */
export async function readPrompts(prompts: unknown, source: Source): Promise<string[]> {
  if (prompts === undefined) return ['{{prompt}}'];
  const list = Array.isArray(prompts) ? prompts : [prompts];
  const texts: string[] = [];
  for (const [index, prompt] of list.entries()) {
    const where = `prompts[${index}]`;
    const written = isObject(prompt) ? (prompt.raw ?? prompt.id) : prompt;
    try {
      const text = await source.resolve(written, 'a prompt that is made by code');
      if (typeof text === 'string' && !isChat(text)) texts.push(text);
      else source.leaveOut({ where, what: 'a prompt', why: 'it is a conversation, not one text' });
    } catch (error) {
      source.leaveOut({ where, what: 'a prompt', why: reasonOf(error) });
    }
  }
  return texts;
}

/** Messages in JSON, as some prompts are written. */
const isChat = (text: string) => /^\s*\[[\s\S]*"role"/.test(text);
