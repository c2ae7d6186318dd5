import type { ChatMessage } from '../../core/contracts/index.ts';

/** A number for each text. Forgets the texts that were asked for longest ago when they become too many characters. */
export function createTextMemo({ maxCharacters }: { readonly maxCharacters: number }) {
  const values = new Map<string, number>();
  let characters = 0;
  return {
    get(text: string) {
      const value = values.get(text);
      if (value !== undefined) {
        values.delete(text);
        values.set(text, value);
      }
      return value;
    },
    set(text: string, value: number) {
      if (text.length > maxCharacters || values.has(text)) return;
      values.set(text, value);
      characters += text.length;
      for (const oldest of values.keys()) {
        if (characters <= maxCharacters) return;
        values.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}

/** Holds the skill and the prompts of a step, which are counted again and again. */
const memo = createTextMemo({ maxCharacters: 2_000_000 });

/** What chat formats add to a message, and before the reply. */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_BEFORE_REPLY = 3;

/** What the widest used models take for a picture that fills their view. With the margin of a budget it covers those that take more. */
const TOKENS_PER_IMAGE = 3_200;

/**
 * The number of tokens in the encoding of newer OpenAI models; others differ by some tens of percent. Special tokens
 * count as plain text. Exact for texts with spaces between their words, and never far too low for others.
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
  const counts = await Promise.all(
    messages.map(async ({ content, images = [] }) => (await countTokens(content)) + images.length * TOKENS_PER_IMAGE),
  );
  return counts.reduce((sum, tokens) => sum + tokens + TOKENS_PER_MESSAGE, TOKENS_BEFORE_REPLY);
}

const plainText = { disallowedSpecial: new Set<string>() };

let encoding: Promise<typeof import('gpt-tokenizer/encoding/o200k_base')> | undefined;

/** Two megabytes of ranks, loaded by the first count. */
function loadEncoding() {
  encoding ??= import('gpt-tokenizer/encoding/o200k_base');
  return encoding;
}

/**
 * `text` in slices of at most `maxLength` characters, because a tokenizer takes time that grows with the square of a word.
 * Cuts before a space, where a token begins anyway. A cut in a word adds a token or two.
 */
export function sliceText(text: string, maxLength = 500): string[] {
  const slices: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfSlice(text, start, maxLength);
    slices.push(text.slice(start, end));
    start = end;
  }
  return slices;
}

function endOfSlice(text: string, start: number, maxLength: number): number {
  const most = start + maxLength;
  if (most >= text.length) return text.length;
  const space = text.slice(start, most + 1).lastIndexOf(' '); // not in the whole text, which may have none
  if (space > 0) return start + space;
  const isInsidePair = /[\uD800-\uDBFF]/.test(text[most - 1]!) && /[\uDC00-\uDFFF]/.test(text[most]!);
  return isInsidePair ? most - 1 : most;
}
