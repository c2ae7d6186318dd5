import { skillHash } from '../skill/skill-hash.ts';

/**
 * Text from outside, set apart as data. The tag carries a hash that does not occur in what it holds, so that
 * nothing inside can close the fence and pass for an instruction.
 */
export function fence(kind: string, text: string): string {
  let nonce = toNonce(text);
  while (text.includes(nonce)) nonce = toNonce(`${nonce}${text}`);
  const tag = `${kind}-${nonce}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}

const toNonce = (text: string) => skillHash(text).slice(0, 8);
