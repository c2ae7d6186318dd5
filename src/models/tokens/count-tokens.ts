import type { ChatMessage } from '../../core/contracts/index.ts';
import { sliceText } from './slice-text.ts';
import { createTextMemo } from './text-memo.ts';

/** Texts of two million characters together: the skill and the prompts of a step, which come again and again. */
const memo = createTextMemo({ maxCharacters: 2_000_000 });

/** What chat formats put round a message, and before the reply. */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_BEFORE_REPLY = 3;

/**
 * How many tokens `text` is, in the encoding of newer OpenAI models; others differ by some tens of percent. Special
 * tokens count as the text they are. Never far below the truth, and exact for texts with spaces between their words.
 */
export async function countTokens(text: string): Promise<number> {
  const known = memo.get(text);
  if (known !== undefined) return known;
  const { countTokens: count } = await loadEncoding();
  const tokens = sliceText(text).reduce((sum, slice) => sum + count(slice, plainText), 0);
  memo.set(text, tokens);
  return tokens;
}

export async function countMessages(messages: readonly ChatMessage[]): Promise<number> {
  const counts = await Promise.all(messages.map(({ content }) => countTokens(content)));
  return counts.reduce((sum, tokens) => sum + tokens + TOKENS_PER_MESSAGE, TOKENS_BEFORE_REPLY);
}

const plainText = { disallowedSpecial: new Set<string>() };

let encoding: Promise<typeof import('gpt-tokenizer/encoding/o200k_base')> | undefined;

/** Two megabytes of ranks, loaded by the first count: a process that counts nothing does not pay for them. Asked for only once. */
function loadEncoding() {
  encoding ??= import('gpt-tokenizer/encoding/o200k_base');
  return encoding;
}
