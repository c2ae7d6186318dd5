import { strip } from '../../core/text/python-text.ts';

// An opening tag ends the search for the one before it: models also write about "the <answer> tag".
const ANSWER = /<answer>((?:(?!<answer>).)*?)<\/answer>/gis;

/** What the last `<answer>…</answer>` holds. Without one, the last line that is not empty; without that, nothing. */
export function extractAnswer(reply: string): string {
  const tagged = [...reply.matchAll(ANSWER)].at(-1)?.[1];
  return tagged === undefined ? lastLine(reply) : strip(tagged);
}

function lastLine(text: string): string {
  const lines = text.split('\n').map(strip);
  return lines.findLast((line) => line !== '') ?? '';
}
