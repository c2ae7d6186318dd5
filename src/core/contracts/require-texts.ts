import { ModelCallError } from './errors.ts';
import type { ChatMessage } from './model.ts';

/** For a model that reads texts alone: an answer without a look at the images would be scored as if it were one. */
export function requireTexts(messages: readonly ChatMessage[], who: string): void {
  if (messages.every(({ images }) => images === undefined)) return;
  const hint = 'Choose a model behind an API that reads images, such as openai:MODEL, anthropic:MODEL or google:MODEL.';
  throw new ModelCallError(`${who} reads texts alone, and was sent an image`, {
    isRetryable: false,
    isFatal: true,
    hint,
  });
}
