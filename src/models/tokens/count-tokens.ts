import type { ChatMessage } from '../../core/contracts/index.ts';

/** A number for each text. Forgets what was longest not asked for when the texts become too many characters. */
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

/**
 * `text` in slices of at most `maxLength` characters. A tokenizer takes time that grows with the square of a word, and
 * fifty thousand equal letters are one word. Cut before a space, where a token begins anyway; in a word only if the
 * slice has no space, which makes a token or two more than there are.
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
  return isInsidePair(text, most) ? most - 1 : most;
}

function isInsidePair(text: string, index: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[index - 1]!) && /[\uDC00-\uDFFF]/.test(text[index]!);
}
